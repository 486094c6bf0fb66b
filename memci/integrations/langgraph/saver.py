"""``MemciSaver``: checkpoints of LangGraph, stored by memci."""

from __future__ import annotations

import base64
import random
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    get_checkpoint_id,
    get_serializable_checkpoint_metadata,
)
from langgraph.checkpoint.serde.base import SerializerProtocol

from memci.client import Agent, AsyncAgent
from memci.client.exchange import Flow
from memci.client.verbs.agent_requests import Asking
from memci.integrations.langgraph.client import Way
from memci.schemas.frameworks import CheckpointKept, CheckpointList, CheckpointOut, ThreadAnswer

# A kind, and bytes: as LangGraph's serializer has them.
Typed = tuple[str, bytes]


class SaverVerbs(Asking):
    """Stores and reads checkpoints, as bytes."""

    def put(self, thread: str, fields: Mapping[str, Any]) -> Flow[CheckpointKept]:
        """Store a checkpoint."""
        return self._post(f"{_named(thread)}/checkpoints", CheckpointKept, fields)

    def put_writes(self, thread: str, fields: Mapping[str, Any]) -> Flow[CheckpointKept]:
        """Store what a task wrote."""
        return self._post(f"{_named(thread)}/writes", CheckpointKept, fields)

    def find(self, fields: Mapping[str, Any]) -> Flow[CheckpointList]:
        """List checkpoints, the latest first."""
        return self._post("/checkpoints/search", CheckpointList, fields)

    def copy(self, thread: str, to: str) -> Flow[ThreadAnswer]:
        """Store a thread under another name, too."""
        return self._post(f"{_named(thread)}/copy", ThreadAnswer, {"to": to})

    def prune(
        self,
        *,
        threads: Sequence[str] = (),
        run_ids: Sequence[str] = (),
        keep_latest: bool = True,
    ) -> Flow[None]:
        """Remove checkpoints of threads, or of runs; nothing, where none is named."""
        if threads or run_ids:
            body = {"threads": threads, "run_ids": run_ids, "keep_latest": keep_latest}
            yield from self._post("/checkpoints/prune", ThreadAnswer, body)


def packed(typed: Typed) -> dict[str, str]:
    """Return typed bytes as JSON has them."""
    kind, body = typed
    return {"kind": kind, "body": base64.b64encode(body).decode()}


def unpacked(kind: str, body: str) -> Typed:
    """Return typed bytes again."""
    return kind, base64.b64decode(body)


def _named(thread: str) -> str:
    # Slashes as they are; dots not: "..", as a part of a path, would be resolved on the way.
    return f"/threads/{quote(thread, safe='/').replace('.', '%2E')}"


# Checkpoints in one answer.
_PAGE = 20


class MemciSaver(BaseCheckpointSaver[str]):
    """Threads of one agent: their checkpoints, and what tasks have written after them.

    States are written by LangGraph's serializer (``serde``), and are bytes to memci. Of a channel
    a value is stored once, however many checkpoints have it.

    Given an ``AsyncAgent``, it can only be awaited. Raises the errors of ``memci.errors``.
    """

    def __init__(
        self, agent: Agent | AsyncAgent, *, serde: SerializerProtocol | None = None
    ) -> None:
        """Take whose threads they are; asks nothing yet."""
        super().__init__(serde=serde)
        self._way = Way(agent)

    @property
    def _verbs(self) -> SaverVerbs:
        return self._way.verbs(SaverVerbs)

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Return the checkpoint that a config names, or the latest of its thread."""
        return self._first(self._way.run(self._verbs.find(_wanted(config))))

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Return the checkpoint that a config names, or the latest of its thread."""
        return self._first(await self._way.arun(self._verbs.find(_wanted(config))))

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,  # noqa: A002 - as LangGraph names it
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        """Yield checkpoints of a thread, or of all, the latest first."""
        pages = _Pages(config, filter, before, limit)
        while pages.wanted:
            yield from map(self._tuple, pages.take(self._way.run(self._verbs.find(pages.wanted))))

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,  # noqa: A002 - as LangGraph names it
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        """Yield checkpoints of a thread, or of all, the latest first."""
        pages = _Pages(config, filter, before, limit)
        while pages.wanted:
            for each in pages.take(await self._way.arun(self._verbs.find(pages.wanted))):
                yield self._tuple(each)

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Store a checkpoint, and return the config that names it."""
        fields = self._fields(config, checkpoint, metadata, new_versions)
        self._way.run(self._verbs.put(_thread(config), fields))
        return _config(_thread(config), _namespace(config), checkpoint["id"])

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Store a checkpoint, and return the config that names it."""
        fields = self._fields(config, checkpoint, metadata, new_versions)
        await self._way.arun(self._verbs.put(_thread(config), fields))
        return _config(_thread(config), _namespace(config), checkpoint["id"])

    def put_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        """Store what a task wrote after a checkpoint."""
        fields = self._writes(config, writes, task_id, task_path)
        self._way.run(self._verbs.put_writes(_thread(config), fields))

    async def aput_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        """Store what a task wrote after a checkpoint."""
        fields = self._writes(config, writes, task_id, task_path)
        await self._way.arun(self._verbs.put_writes(_thread(config), fields))

    def delete_thread(self, thread_id: str) -> None:
        """Remove a thread with all its checkpoints."""
        self._way.run(self._verbs.prune(threads=[thread_id], keep_latest=False))

    async def adelete_thread(self, thread_id: str) -> None:
        """Remove a thread with all its checkpoints."""
        await self._way.arun(self._verbs.prune(threads=[thread_id], keep_latest=False))

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Remove the checkpoints of some runs; raises ``ConflictError`` for delta channels."""
        self._way.run(self._verbs.prune(run_ids=run_ids))

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Remove the checkpoints of some runs; raises ``ConflictError`` for delta channels."""
        await self._way.arun(self._verbs.prune(run_ids=run_ids))

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Store a thread under another name, too."""
        self._way.run(self._verbs.copy(source_thread_id, target_thread_id))

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Store a thread under another name, too."""
        await self._way.arun(self._verbs.copy(source_thread_id, target_thread_id))

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Remove earlier checkpoints of threads (``keep_latest``), or all of them (``delete``).

        Raises ``ConflictError`` where delta channels need the earlier ones.
        """
        keep = _keeps_latest(strategy)
        self._way.run(self._verbs.prune(threads=thread_ids, keep_latest=keep))

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Do as ``prune``."""
        keep = _keeps_latest(strategy)
        await self._way.arun(self._verbs.prune(threads=thread_ids, keep_latest=keep))

    def get_next_version(self, current: str | None, channel: None) -> str:
        """Return a version above the current one, and unlike that of any other branch."""
        del channel
        number = 0 if current is None else int(str(current).partition(".")[0])
        return f"{number + 1:032}.{random.random():.16f}"

    def _first(self, found: CheckpointList) -> CheckpointTuple | None:
        return self._tuple(found.checkpoints[0]) if found.checkpoints else None

    def _tuple(self, found: CheckpointOut) -> CheckpointTuple:
        load = self.serde.loads_typed
        checkpoint: Checkpoint = load(unpacked(found.checkpoint.kind, found.checkpoint.body))
        checkpoint["channel_values"] = {
            each.channel: load(unpacked(each.kind, each.body)) for each in found.values
        }
        parent = None
        if found.parent is not None:
            parent = _config(found.thread, found.namespace, found.parent)
        return CheckpointTuple(
            config=_config(found.thread, found.namespace, found.id),
            checkpoint=checkpoint,
            metadata=_metadata(found.metadata),
            parent_config=parent,
            pending_writes=[
                (each.task_id, each.channel, load(unpacked(each.kind, each.body)))
                for each in found.writes
            ],
        )

    def _fields(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> dict[str, Any]:
        held = checkpoint["channel_values"]
        dump = self.serde.dumps_typed
        return {
            "namespace": _namespace(config),
            "id": checkpoint["id"],
            "parent": get_checkpoint_id(config),
            "checkpoint": packed(dump({**checkpoint, "channel_values": {}})),
            "versions": {
                name: str(version) for name, version in checkpoint["channel_versions"].items()
            },
            "values": [
                {"channel": name, "version": str(version), **packed(dump(held[name]))}
                for name, version in new_versions.items()
                if name in held
            ],
            "metadata": get_serializable_checkpoint_metadata(config, metadata),
        }

    def _writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str,
    ) -> dict[str, Any]:
        return {
            "namespace": _namespace(config),
            "checkpoint_id": config["configurable"]["checkpoint_id"],
            "task_id": task_id,
            "path": task_path,
            "writes": [
                {
                    "place": WRITES_IDX_MAP.get(channel, at),
                    "channel": channel,
                    **packed(self.serde.dumps_typed(value)),
                }
                for at, (channel, value) in enumerate(writes)
            ],
        }


class _Pages:
    """A list that comes page by page; ``wanted`` is what the next one is asked by, if any."""

    def __init__(
        self,
        config: RunnableConfig | None,
        condition: Mapping[str, Any] | None,
        before: RunnableConfig | None,
        limit: int | None,
    ) -> None:
        self._left = limit
        named = config["configurable"] if config else {}
        self._asked = {
            "thread": _text(named.get("thread_id")),
            "namespace": named.get("checkpoint_ns"),
            "id": named.get("checkpoint_id"),
            "before": get_checkpoint_id(before) if before else None,
            "filter": dict(condition) if condition else None,
        }
        self.wanted: dict[str, Any] = self._next(None)

    def take(self, page: CheckpointList) -> Sequence[CheckpointOut]:
        found = page.checkpoints
        if self._left is not None:
            self._left -= len(found)
        self.wanted = self._next(found[-1]) if page.more and found else {}
        return found

    def _next(self, last: CheckpointOut | None) -> dict[str, Any]:
        size = _PAGE if self._left is None else min(_PAGE, self._left)
        if size <= 0:
            return {}
        after = None
        if last is not None:
            after = {"thread": last.thread, "namespace": last.namespace, "id": last.id}
        return {**self._asked, "after": after, "limit": size}


def _wanted(config: RunnableConfig) -> dict[str, Any]:
    return {
        "thread": _thread(config),
        "namespace": _namespace(config),
        "id": get_checkpoint_id(config),
        "limit": 1,
    }


def _metadata(stored: Mapping[str, Any]) -> CheckpointMetadata:
    metadata: Any = dict(stored)
    told: CheckpointMetadata = metadata
    return told


def _keeps_latest(strategy: str) -> bool:
    if strategy not in {"keep_latest", "delete"}:
        raise ValueError(f"unknown strategy {strategy!r}: expected keep_latest or delete")
    return strategy == "keep_latest"


def _thread(config: RunnableConfig) -> str:
    return str(config["configurable"]["thread_id"])


def _text(value: object) -> str | None:
    return None if value is None else str(value)


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
