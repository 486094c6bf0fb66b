"""Stores and removes items and checkpoints of agent frameworks."""

from collections.abc import Iterator
from contextlib import contextmanager

from memci.broker.wakeup import Wakeups
from memci.errors import ConflictError, NotFoundError
from memci.language.redaction import Redactor, kinds_of
from memci.queue.job_requests import request_indexing
from memci.schemas import frameworks as shapes
from memci.storage.agents import check_there, is_there, redaction_of
from memci.storage.frameworks import checkpoints as stored
from memci.storage.frameworks.items import put_item, remove_expired, remove_item
from memci.storage.key_usage import Charge, charge
from memci.storage.pages.tree import begin_agent, lock_lane
from memci.storage.session import Connection, Database


def put_items(
    database: Database,
    wakeups: Wakeups,
    agent_id: str,
    request: shapes.ItemsIn,
    *,
    redact: str,
    paying: Charge | None = None,
) -> shapes.ItemsAnswer:
    """Store and remove items, all or none; raises ``NotFoundError`` while the agent is erased.

    ``redact``: what placeholders replace in values and texts of agents without a setting of it.
    """
    latest = {(each.namespace, each.key): each for each in request.items}
    stored_items = [each for each in latest.values() if each.value is not None]
    woken, removed = False, 0
    with database.agent_transaction(agent_id) as connection:
        if stored_items:
            _begin(connection, agent_id, paying)
        else:
            lock_lane(connection, agent_id)
        if stored_items or is_there(connection, agent_id):
            has_text = any(each.text for each in stored_items)
            woken = has_text and request_indexing(connection, agent_id)
            remove_expired(connection, agent_id)
            kinds = kinds_of(redaction_of(connection, agent_id, redact))
            for place, each in latest.items():
                if each.value is None:
                    removed += remove_item(connection, agent_id, place)
                else:
                    redactor, ttl = Redactor(kinds), each.ttl_minutes
                    value = redactor.value(each.value)
                    text = redactor.text(each.text) if each.text and each.text.strip() else None
                    put_item(connection, agent_id, place, value, text=text, ttl_minutes=ttl)
    if woken:
        wakeups.wake_lane(agent_id)
    return shapes.ItemsAnswer(stored=len(stored_items), removed=removed)


def put_checkpoint(
    database: Database,
    agent_id: str,
    thread: str,
    request: shapes.CheckpointIn,
    *,
    paying: Charge | None = None,
) -> shapes.CheckpointStored:
    """Store a checkpoint; raises ``NotFoundError`` while the agent is being erased."""
    values = [(each.channel, each.version, each.kind, each.body) for each in request.values]
    fields = {"thread": thread, **dict(request), **dict(request.checkpoint)}
    with _storing(database, agent_id, paying) as connection:
        stored.put_checkpoint(connection, agent_id, fields, values)
    return shapes.CheckpointStored(id=request.id)


def put_writes(
    database: Database,
    agent_id: str,
    thread: str,
    request: shapes.WritesIn,
    *,
    paying: Charge | None = None,
) -> shapes.CheckpointStored:
    """Store the writes of a task after a checkpoint."""
    place = (thread, request.namespace, request.checkpoint_id, request.task_id)
    writes = [(each.place, each.channel, each.kind, each.body) for each in request.writes]
    with _storing(database, agent_id, paying) as connection:
        stored.put_writes(connection, agent_id, place, writes, request.path)
    return shapes.CheckpointStored(id=request.checkpoint_id)


def copy_thread(database: Database, agent_id: str, thread: str, to: str) -> shapes.ThreadAnswer:
    """Copy a thread to another name; raises ``NotFoundError`` if there is no such thread."""
    if thread == to:
        raise ConflictError("a thread cannot be copied onto itself: name another one")
    with _storing(database, agent_id, None) as connection:
        if not stored.has_thread(connection, agent_id, thread):
            raise NotFoundError(
                f"there is no thread {thread}: look for it by POST …/checkpoints/search"
            )
        return shapes.ThreadAnswer(checkpoints=stored.copy_thread(connection, agent_id, thread, to))


def prune_checkpoints(
    database: Database, agent_id: str, request: shapes.CheckpointPrune
) -> shapes.ThreadAnswer:
    """Remove the checkpoints of some runs or threads, or all but the latest of some threads.

    Raises ``ConflictError`` if a thread could not be read any more afterwards. Removes nothing of
    an unknown agent.
    """
    with database.agent_transaction(agent_id) as connection:
        # A checkpoint that is stored meanwhile may need values that no other checkpoint needs.
        lock_lane(connection, agent_id)
        if request.threads and not request.keep_latest:
            threads = dict.fromkeys(request.threads)
            deleted = sum(stored.delete_thread(connection, agent_id, each) for each in threads)
            return shapes.ThreadAnswer(checkpoints=deleted)
        if stored.has_deltas(connection, agent_id, request.threads, request.run_ids):
            raise ConflictError(
                "a thread among these has delta channels, which are read from its earlier "
                "checkpoints: delete the whole thread, or leave it"
            )
        if request.threads:
            deleted = stored.delete_but_latest(connection, agent_id, request.threads)
        else:
            deleted = stored.delete_runs(connection, agent_id, request.run_ids)
        return shapes.ThreadAnswer(checkpoints=deleted)


@contextmanager
def _storing(database: Database, agent_id: str, paying: Charge | None) -> Iterator[Connection]:
    """Open a transaction on an agent, which is created if necessary and not erased meanwhile."""
    with database.agent_transaction(agent_id) as connection:
        _begin(connection, agent_id, paying)
        yield connection


def _begin(connection: Connection, agent_id: str, paying: Charge | None) -> None:
    charge(connection, paying, agent_id)  # before the lane is locked
    begin_agent(connection, agent_id)
    lock_lane(connection, agent_id)
    check_there(connection, agent_id)
