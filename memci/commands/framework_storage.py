"""Keeps and removes the items and checkpoints of agent frameworks (docs/frameworks.md)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from memci.broker.wakeup import Wakeups
from memci.errors import ConflictError, NotFoundError
from memci.queue.job_requests import request_indexing
from memci.schemas.frameworks import (
    CheckpointIn,
    CheckpointKept,
    CheckpointPrune,
    ItemIn,
    ItemsAnswer,
    ItemsIn,
    ThreadAnswer,
    WritesIn,
)
from memci.storage import checkpoints as stored
from memci.storage.agents import check_there, is_there
from memci.storage.items import put_item, remove_expired, remove_item
from memci.storage.pages.tree import begin_agent, lock_lane
from memci.storage.session import Connection, Database


def run(database: Database, tokens: Wakeups, agent_id: str, request: ItemsIn) -> ItemsAnswer:
    """Keep some items and take others away, all or none.

    A first item makes an agent. Raises ``NotFoundError`` while the agent is being erased.
    """
    latest = {(each.namespace, each.key): each for each in request.items}
    kept = [each for each in latest.values() if each.value is not None]
    woken, removed = False, 0
    with database.agent_transaction(agent_id) as connection:
        if _enter(connection, agent_id, begins=bool(kept)):
            woken = any(each.text for each in kept) and request_indexing(connection, agent_id)
            remove_expired(connection, agent_id)
            for place, each in latest.items():
                if each.value is None:
                    removed += remove_item(connection, agent_id, place)
                else:
                    _put(connection, agent_id, each)
    if woken:
        tokens.wake_lane(agent_id)
    return ItemsAnswer(stored=len(kept), removed=removed)


def _enter(connection: Connection, agent_id: str, *, begins: bool) -> bool:
    """Let nobody erase the agent meanwhile; False where there is none, and none begins."""
    if not begins:
        lock_lane(connection, agent_id)
        return is_there(connection, agent_id)
    begin_agent(connection, agent_id)
    lock_lane(connection, agent_id)
    check_there(connection, agent_id)
    return True


def _put(connection: Connection, agent_id: str, item: ItemIn) -> None:
    put_item(
        connection,
        agent_id,
        (item.namespace, item.key),
        item.value or {},
        text=item.text if item.text and item.text.strip() else None,
        ttl_minutes=item.ttl_minutes,
    )


def put(database: Database, agent_id: str, thread: str, request: CheckpointIn) -> CheckpointKept:
    """Store a checkpoint; a first one makes an agent.

    Raises ``NotFoundError`` while the agent is being erased, as all that store something here do.
    """
    values = [(each.channel, each.version, each.kind, each.body) for each in request.values]
    fields = {
        "thread": thread,
        "namespace": request.namespace,
        "id": request.id,
        "parent": request.parent,
        "kind": request.checkpoint.kind,
        "body": request.checkpoint.body,
        "versions": request.versions,
        "metadata": request.metadata,
    }
    with _entered(database, agent_id) as connection:
        stored.put_checkpoint(connection, agent_id, fields, values)
    return CheckpointKept(id=request.id)


def put_writes(database: Database, agent_id: str, thread: str, request: WritesIn) -> CheckpointKept:
    """Store what a task has written after a checkpoint."""
    place = (thread, request.namespace, request.checkpoint_id, request.task_id)
    writes = [(each.place, each.channel, each.kind, each.body) for each in request.writes]
    with _entered(database, agent_id) as connection:
        stored.put_writes(connection, agent_id, place, writes, request.path)
    return CheckpointKept(id=request.checkpoint_id)


def copy(database: Database, agent_id: str, thread: str, to: str) -> ThreadAnswer:
    """Store a thread under another name, too; raises ``NotFoundError`` where there is none."""
    if thread == to:
        raise ConflictError("a thread cannot be copied onto itself: name another one")
    with _entered(database, agent_id) as connection:
        if not stored.has_thread(connection, agent_id, thread):
            raise NotFoundError(
                f"there is no thread {thread}: look for it by POST …/checkpoints/search"
            )
        return ThreadAnswer(checkpoints=stored.copy_thread(connection, agent_id, thread, to))


def prune(database: Database, agent_id: str, request: CheckpointPrune) -> ThreadAnswer:
    """Remove checkpoints of some runs, or of some threads all, or all but the latest.

    Raises ``ConflictError`` where a thread could not be read any more afterwards. Of an agent that
    is not there nothing is removed.
    """
    with database.agent_transaction(agent_id) as connection:
        # What is put meanwhile may refer to values that nothing has needed until then.
        lock_lane(connection, agent_id)
        if request.threads and not request.keep_latest:
            threads = dict.fromkeys(request.threads)
            gone = sum(stored.delete_thread(connection, agent_id, each) for each in threads)
            return ThreadAnswer(checkpoints=gone)
        if stored.has_deltas(connection, agent_id, request.threads, request.run_ids):
            raise ConflictError(
                "a thread among these has delta channels, which are read from its earlier "
                "checkpoints: delete the whole thread, or leave it"
            )
        if request.threads:
            gone = stored.delete_but_latest(connection, agent_id, request.threads)
        else:
            gone = stored.delete_runs(connection, agent_id, request.run_ids)
        return ThreadAnswer(checkpoints=gone)


@contextmanager
def _entered(database: Database, agent_id: str) -> Iterator[Connection]:
    """Open a transaction on an agent that is there from now on, and not erased meanwhile."""
    with database.agent_transaction(agent_id) as connection:
        begin_agent(connection, agent_id)
        lock_lane(connection, agent_id)
        check_there(connection, agent_id)
        yield connection
