"""Checkpoints of threads, stored for agent frameworks as they wrote them."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Row

_PUT = """
INSERT INTO checkpoint (agent_id, thread, namespace, id, parent, kind, body, versions, metadata)
VALUES (%(agent)s, %(thread)s, %(namespace)s, %(id)s, %(parent)s, %(kind)s, %(body)s,
        %(versions)s, %(metadata)s)
ON CONFLICT (agent_id, thread, namespace, id) DO UPDATE
SET parent = excluded.parent, kind = excluded.kind, body = excluded.body,
    versions = excluded.versions, metadata = excluded.metadata
"""
_PUT_VALUE = """
INSERT INTO checkpoint_value (agent_id, thread, namespace, channel, version, kind, body)
VALUES (%s, %s, %s, %s, %s, %s, %s) ON CONFLICT DO NOTHING
"""
# A repeated task keeps its first writes; its outcome may change.
_PUT_WRITE = """
INSERT INTO checkpoint_write AS held (agent_id, thread, namespace, checkpoint_id, task_id, place,
                                      channel, kind, body, path)
VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s)
ON CONFLICT (agent_id, thread, namespace, checkpoint_id, task_id, place) DO UPDATE
SET channel = excluded.channel, kind = excluded.kind, body = excluded.body, path = excluded.path
WHERE held.place < 0
"""
_FIND = """
SELECT thread, namespace, id, parent, kind, body, versions, metadata FROM checkpoint
WHERE agent_id = %(agent)s {conditions}
ORDER BY id COLLATE "C" DESC, thread, namespace LIMIT %(limit)s
"""
# In pieces, so that the planner sees only the conditions that are used.
_CONDITIONS = {
    "thread": "thread = %(thread)s",
    "namespace": "namespace = %(namespace)s",
    "id": "id = %(id)s",
    "before": 'id COLLATE "C" < %(before)s',
    # A missing value is null, as in the framework.
    "filter": """NOT EXISTS (SELECT FROM jsonb_each(%(filter)s::jsonb) AS asked
        WHERE coalesce(metadata->asked.key, 'null') <> asked.value)""",
    "after_id": """(id COLLATE "C" < %(after_id)s OR id = %(after_id)s
        AND (thread, namespace) > (%(after_thread)s, %(after_namespace)s))""",
}
_VALUES = """
SELECT channel, kind, body FROM checkpoint_value
WHERE agent_id = %(agent)s AND thread = %(thread)s AND namespace = %(namespace)s
  AND (channel, version) IN (SELECT key, value FROM jsonb_each_text(%(versions)s::jsonb))
ORDER BY channel
"""
_WRITES = """
SELECT task_id, channel, kind, body FROM checkpoint_write
WHERE agent_id = %(agent)s AND thread = %(thread)s AND namespace = %(namespace)s
  AND checkpoint_id = %(id)s
ORDER BY path COLLATE "C", task_id COLLATE "C", place
"""
_COPY = """
INSERT INTO {table} (agent_id, thread, {columns})
SELECT agent_id, %(target)s, {columns} FROM {table}
WHERE agent_id = %(agent)s AND thread = %(thread)s
"""
_COLUMNS = {
    "checkpoint": "namespace, id, parent, kind, body, versions, metadata",
    "checkpoint_value": "namespace, channel, version, kind, body",
    "checkpoint_write": "namespace, checkpoint_id, task_id, place, channel, kind, body, path",
}
_DELETE = "DELETE FROM {table} WHERE agent_id = %(agent)s AND thread = %(thread)s"
_OF_RUNS = """
DELETE FROM checkpoint WHERE agent_id = %(agent)s AND metadata->>'run_id' = ANY(%(runs)s)
RETURNING thread
"""
_BUT_LATEST = """
DELETE FROM checkpoint AS old WHERE agent_id = %(agent)s AND thread = ANY(%(threads)s)
  AND EXISTS (SELECT FROM checkpoint AS later WHERE later.agent_id = old.agent_id
    AND later.thread = old.thread AND later.namespace = old.namespace
    AND later.id COLLATE "C" > old.id COLLATE "C")
RETURNING thread
"""
# A delta channel is composed of the writes of all earlier checkpoints.
_DELTAS = """
SELECT EXISTS (SELECT FROM checkpoint WHERE agent_id = %(agent)s
    AND metadata ? 'counters_since_delta_snapshot'
    AND thread IN (SELECT thread FROM checkpoint WHERE agent_id = %(agent)s
        AND (thread = ANY(%(threads)s) OR metadata->>'run_id' = ANY(%(runs)s))))
"""
_SWEEP_WRITES = """
DELETE FROM checkpoint_write AS w WHERE agent_id = %(agent)s AND thread = ANY(%(threads)s)
  AND NOT EXISTS (SELECT FROM checkpoint AS c WHERE c.agent_id = w.agent_id
    AND c.thread = w.thread AND c.namespace = w.namespace AND c.id = w.checkpoint_id)
"""
_SWEEP_VALUES = """
DELETE FROM checkpoint_value AS v WHERE agent_id = %(agent)s AND thread = ANY(%(threads)s)
  AND NOT EXISTS (SELECT FROM checkpoint AS c WHERE c.agent_id = v.agent_id
    AND c.thread = v.thread AND c.namespace = v.namespace
    AND c.versions->>v.channel = v.version)
"""


def put_checkpoint(
    connection: Connection,
    agent_id: str,
    fields: Mapping[str, Any],
    values: Sequence[tuple[str, str, str, bytes]],
) -> None:
    """Store a checkpoint and channel values: (channel, version, kind, body)."""
    as_json = {name: json.dumps(fields[name]) for name in ("versions", "metadata")}
    connection.exec_driver_sql(_PUT, {**fields, **as_json, "agent": agent_id})
    place = (agent_id, fields["thread"], fields["namespace"])
    for value in values:
        connection.exec_driver_sql(_PUT_VALUE, (*place, *value))


def put_writes(
    connection: Connection,
    agent_id: str,
    place: tuple[str, str, str, str],
    writes: Sequence[tuple[int, str, str, bytes]],
    path: str,
) -> None:
    """Store the writes of a task: (place, channel, kind, body).

    ``place`` is (thread, namespace, checkpoint, task).
    """
    for write in writes:
        connection.exec_driver_sql(_PUT_WRITE, (agent_id, *place, *write, path))


def find_checkpoints(
    connection: Connection, agent_id: str, asked: Mapping[str, Any], limit: int
) -> list[Row[Any]]:
    """Return the latest checkpoints that meet the conditions in ``asked`` (see ``_CONDITIONS``)."""
    values = {"agent": agent_id, "limit": limit, **asked}
    if values.get("filter") is not None:
        values["filter"] = json.dumps(values["filter"])
    conditions = [
        f"AND {condition}"
        for name, condition in _CONDITIONS.items()
        if values.get(name) is not None
    ]
    statement = _FIND.format(conditions=" ".join(conditions))
    return list(connection.exec_driver_sql(statement, values))


def values_of(connection: Connection, agent_id: str, row: Row[Any]) -> list[Row[Any]]:
    """Return the channel values of a checkpoint."""
    values = {**_checkpoint_values(agent_id, row), "versions": json.dumps(row.versions)}
    return list(connection.exec_driver_sql(_VALUES, values))


def writes_of(connection: Connection, agent_id: str, row: Row[Any]) -> list[Row[Any]]:
    """Return the writes after a checkpoint, in the order in which tasks take effect."""
    return list(connection.exec_driver_sql(_WRITES, _checkpoint_values(agent_id, row)))


def has_thread(connection: Connection, agent_id: str, thread: str) -> bool:
    """Return True if a thread has a checkpoint."""
    query = "SELECT FROM checkpoint WHERE agent_id = %s AND thread = %s LIMIT 1"
    return connection.exec_driver_sql(query, (agent_id, thread)).first() is not None


def copy_thread(connection: Connection, agent_id: str, thread: str, target: str) -> int:
    """Replace the thread ``target`` by a copy of ``thread``; return its number of checkpoints."""
    delete_thread(connection, agent_id, target)
    values = {"agent": agent_id, "thread": thread, "target": target}
    counts = [
        connection.exec_driver_sql(_COPY.format(table=table, columns=columns), values).rowcount
        for table, columns in _COLUMNS.items()
    ]
    return counts[0]


def delete_thread(connection: Connection, agent_id: str, thread: str) -> int:
    """Delete a thread; return how many checkpoints it had."""
    values = {"agent": agent_id, "thread": thread}
    counts = [
        connection.exec_driver_sql(_DELETE.format(table=table), values).rowcount
        for table in _COLUMNS
    ]
    return counts[0]


def has_deltas(
    connection: Connection, agent_id: str, threads: Sequence[str], runs: Sequence[str]
) -> bool:
    """Return True if some of these depend on their earlier checkpoints."""
    values = {"agent": agent_id, "threads": list(threads), "runs": list(runs)}
    return bool(connection.exec_driver_sql(_DELTAS, values).scalar_one())


def delete_runs(connection: Connection, agent_id: str, runs: Sequence[str]) -> int:
    """Delete the checkpoints of some runs and their unused values; return how many."""
    values = {"agent": agent_id, "runs": list(runs)}
    return _delete(connection, _OF_RUNS, values)


def delete_but_latest(connection: Connection, agent_id: str, threads: Sequence[str]) -> int:
    """Delete all checkpoints but the latest of each namespace of some threads."""
    return _delete(connection, _BUT_LATEST, {"agent": agent_id, "threads": list(threads)})


def _delete(connection: Connection, statement: str, values: dict[str, Any]) -> int:
    threads = list(connection.exec_driver_sql(statement, values).scalars())
    swept = {**values, "threads": sorted(set(threads))}
    for sweep in (_SWEEP_WRITES, _SWEEP_VALUES):
        connection.exec_driver_sql(sweep, swept)
    return len(threads)


def _checkpoint_values(agent_id: str, row: Row[Any]) -> dict[str, Any]:
    return {"agent": agent_id, "thread": row.thread, "namespace": row.namespace, "id": row.id}
