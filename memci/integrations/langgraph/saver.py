"""``MemciSaver``: checkpoints of LangGraph, stored by memci."""

import base64
import random
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint import base as checkpoints
from langgraph.checkpoint.base import ChannelVersions, Checkpoint, CheckpointMetadata
from langgraph.checkpoint.serde.base import SerializerProtocol

from memci.client import Agent, AsyncAgent
from memci.client.requests import Flow, path_of_name
from memci.integrations.client import FlowRunner, awaited, blocking
from memci.schemas.frameworks import CheckpointList, CheckpointOut, CheckpointStored, ThreadAnswer

_PAGE_SIZE = 20


class MemciSaver(checkpoints.BaseCheckpointSaver[str]):
    """Threads of one agent: their checkpoints, and the writes of tasks after them.

    LangGraph's serializer (``serde``) writes states; to memci they are bytes. A value of a channel
    is stored once, however many checkpoints have it.

    Given an ``AsyncAgent``, it can only be awaited. Raises the errors of ``memci.errors``.
    """

    def __init__(
        self, agent: Agent | AsyncAgent, *, serde: SerializerProtocol | None = None
    ) -> None:
        super().__init__(serde=serde)
        self._runner = FlowRunner(agent)

    def _get(self, config: RunnableConfig) -> Flow[checkpoints.CheckpointTuple | None]:
        """Return the checkpoint that a config names, or the latest of its thread."""
        answer = yield from self._search(
            {
                "thread": _thread(config),
                "namespace": _namespace(config),
                "id": checkpoints.get_checkpoint_id(config),
                "limit": 1,
            }
        )
        return self._tuple(answer.checkpoints[0]) if answer.checkpoints else None

    get_tuple = blocking(_get)
    aget_tuple = awaited(_get)

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,  # noqa: A002 - as LangGraph names it
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[checkpoints.CheckpointTuple]:
        """Yield checkpoints of a thread, or of all, the latest first."""
        pages = _Pages(config, filter, before, limit)
        while pages.next:
            yield from map(self._tuple, pages.read(self._runner.run(self._search(pages.next))))

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,  # noqa: A002 - as LangGraph names it
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[checkpoints.CheckpointTuple]:
        """Yield checkpoints of a thread, or of all, the latest first."""
        pages = _Pages(config, filter, before, limit)
        while pages.next:
            for each in pages.read(await self._runner.arun(self._search(pages.next))):
                yield self._tuple(each)

    def _put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> Flow[RunnableConfig]:
        """Store a checkpoint, and return the config that names it."""
        values = checkpoint["channel_values"]
        versions = checkpoint["channel_versions"]
        body = {
            "namespace": _namespace(config),
            "id": checkpoint["id"],
            "parent": checkpoints.get_checkpoint_id(config),
            "checkpoint": self._dump({**checkpoint, "channel_values": {}}),
            "versions": {name: str(version) for name, version in versions.items()},
            "values": [
                {"channel": name, "version": str(version), **self._dump(values[name])}
                for name, version in new_versions.items()
                if name in values
            ],
            "metadata": checkpoints.get_serializable_checkpoint_metadata(config, metadata),
        }
        thread = _thread(config)
        yield from self._runner.send(
            f"/threads/{path_of_name(thread)}/checkpoints", CheckpointStored, body
        )
        return _config(thread, _namespace(config), checkpoint["id"])

    put = blocking(_put)
    aput = awaited(_put)

    def _put_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> Flow[None]:
        """Store what a task wrote after a checkpoint."""
        body = {
            "namespace": _namespace(config),
            "checkpoint_id": config["configurable"]["checkpoint_id"],
            "task_id": task_id,
            "path": task_path,
            "writes": [
                {
                    "place": checkpoints.WRITES_IDX_MAP.get(channel, at),
                    "channel": channel,
                    **self._dump(value),
                }
                for at, (channel, value) in enumerate(writes)
            ],
        }
        path = f"/threads/{path_of_name(_thread(config))}/writes"
        yield from self._runner.send(path, CheckpointStored, body)

    put_writes = blocking(_put_writes)
    aput_writes = awaited(_put_writes)

    def _delete_thread(self, thread_id: str) -> Flow[None]:
        """Remove a thread with all its checkpoints."""
        return self._remove({"threads": [thread_id], "keep_latest": False})

    delete_thread = blocking(_delete_thread)
    adelete_thread = awaited(_delete_thread)

    def _delete_for_runs(self, run_ids: Sequence[str]) -> Flow[None]:
        """Remove the checkpoints of some runs; raises ``ConflictError`` for delta channels."""
        if run_ids:
            yield from self._remove({"run_ids": run_ids})

    delete_for_runs = blocking(_delete_for_runs)
    adelete_for_runs = awaited(_delete_for_runs)

    def _copy_thread(self, source_thread_id: str, target_thread_id: str) -> Flow[None]:
        """Store a thread under another name, too."""
        path = f"/threads/{path_of_name(source_thread_id)}/copy"
        yield from self._runner.send(path, ThreadAnswer, {"to": target_thread_id})

    copy_thread = blocking(_copy_thread)
    acopy_thread = awaited(_copy_thread)

    def _prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> Flow[None]:
        """Remove earlier checkpoints of threads (``keep_latest``), or all of them (``delete``).

        Raises ``ConflictError`` where delta channels need the earlier ones.
        """
        if strategy not in {"keep_latest", "delete"}:
            raise ValueError(f"unknown strategy {strategy!r}: expected keep_latest or delete")
        if thread_ids:
            keep_latest = strategy == "keep_latest"
            yield from self._remove({"threads": thread_ids, "keep_latest": keep_latest})

    prune = blocking(_prune)
    aprune = awaited(_prune)

    def get_next_version(self, current: str | None, channel: None) -> str:
        """Return a version above the current one, and unlike that of any other branch."""
        del channel
        number = 0 if current is None else int(str(current).partition(".")[0])
        return f"{number + 1:032}.{random.random():.16f}"

    def _search(self, body: Mapping[str, Any]) -> Flow[CheckpointList]:
        return self._runner.send("/checkpoints/search", CheckpointList, body)

    def _remove(self, body: Mapping[str, Any]) -> Flow[None]:
        yield from self._runner.send("/checkpoints/prune", ThreadAnswer, body)

    def _tuple(self, stored: CheckpointOut) -> checkpoints.CheckpointTuple:
        checkpoint: Checkpoint = self._load(stored.checkpoint.kind, stored.checkpoint.body)
        checkpoint["channel_values"] = {
            each.channel: self._load(each.kind, each.body) for each in stored.values
        }
        metadata: Any = dict(stored.metadata)
        parent = None
        if stored.parent is not None:
            parent = _config(stored.thread, stored.namespace, stored.parent)
        return checkpoints.CheckpointTuple(
            config=_config(stored.thread, stored.namespace, stored.id),
            checkpoint=checkpoint,
            metadata=metadata,
            parent_config=parent,
            pending_writes=[
                (each.task_id, each.channel, self._load(each.kind, each.body))
                for each in stored.writes
            ],
        )

    def _dump(self, value: Any) -> dict[str, str]:
        kind, body = self.serde.dumps_typed(value)
        return {"kind": kind, "body": base64.b64encode(body).decode()}

    def _load(self, kind: str, body: str) -> Any:
        return self.serde.loads_typed((kind, base64.b64decode(body)))


class _Pages:
    """A list in pages; ``next`` is the request of the next page, empty at the end."""

    def __init__(
        self,
        config: RunnableConfig | None,
        condition: Mapping[str, Any] | None,
        before: RunnableConfig | None,
        limit: int | None,
    ) -> None:
        self._left = limit
        configurable = config["configurable"] if config else {}
        thread = configurable.get("thread_id")
        self._search = {
            "thread": None if thread is None else str(thread),
            "namespace": configurable.get("checkpoint_ns"),
            "id": configurable.get("checkpoint_id"),
            "before": checkpoints.get_checkpoint_id(before) if before else None,
            "filter": dict(condition) if condition else None,
        }
        self.next: dict[str, Any] = self._after(None)

    def read(self, page: CheckpointList) -> Sequence[CheckpointOut]:
        """Return the checkpoints of a page, and prepare the next request."""
        if self._left is not None:
            self._left -= len(page.checkpoints)
        last = page.checkpoints[-1] if page.more and page.checkpoints else None
        self.next = {} if last is None else self._after(last)
        return page.checkpoints

    def _after(self, last: CheckpointOut | None) -> dict[str, Any]:
        size = _PAGE_SIZE if self._left is None else min(_PAGE_SIZE, self._left)
        if size <= 0:
            return {}
        after = last and last.model_dump(include={"thread", "namespace", "id"})
        return {**self._search, "after": after, "limit": size}


def _thread(config: RunnableConfig) -> str:
    return str(config["configurable"]["thread_id"])


def _namespace(config: RunnableConfig) -> str:
    return str(config["configurable"].get("checkpoint_ns") or "")


def _config(thread: str, namespace: str, checkpoint_id: str) -> RunnableConfig:
    return {
        "configurable": {
            "thread_id": thread,
            "checkpoint_ns": namespace,
            "checkpoint_id": checkpoint_id,
        }
    }
