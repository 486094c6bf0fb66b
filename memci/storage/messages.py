"""The message sequence: the complete, append-only store that everything derives from (M2)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row

from memci.domain.message import Message, NewMessage, Remember, Role

# What ``to_message`` reads.
COLUMNS = (
    "seq, id, role, content, said_at, name, session_id, user_id, tool_calls, tool_call_id, metadata"
)

_INSERT = """
INSERT INTO message (agent_id, seq, id, role, content, name, tool_calls, tool_call_id, metadata,
                     said_at, session_id, user_id, remember, memory_state)
SELECT %(agent_id)s, new.seq, new.id, new.role, new.content, new.name, new.tool_calls,
       new.tool_call_id, new.metadata, coalesce(new.said_at, now()), %(session_id)s, %(user_id)s,
       %(remember)s, %(memory_state)s
FROM unnest(%(seqs)s::bigint[], %(ids)s::text[], %(roles)s::text[], %(contents)s::text[],
            %(names)s::text[], %(tool_calls)s::jsonb[], %(tool_call_ids)s::text[],
            %(metadata)s::jsonb[], %(said_at)s::timestamptz[])
     AS new (seq, id, role, content, name, tool_calls, tool_call_id, metadata, said_at)
"""
_STORED = """
SELECT id, seq, role, content, name, tool_calls, tool_call_id
FROM message WHERE agent_id = %s AND id = ANY(%s)
"""


@dataclass(frozen=True, slots=True)
class Stored:
    """What a message says, to tell a repetition from another message under the same id."""

    seq: int
    said: tuple[object, ...]


def said_by(message: NewMessage) -> tuple[object, ...]:
    """Return what makes two messages the same."""
    calls = [dict(call) for call in message.tool_calls] or None
    return (message.role, message.content, message.name, calls, message.tool_call_id)


def find_stored(connection: Connection, agent_id: str, ids: Sequence[str]) -> dict[str, Stored]:
    """Return the messages among ``ids`` that this agent already has."""
    if not ids:
        return {}
    rows = connection.exec_driver_sql(_STORED, (agent_id, list(ids)))
    return {row.id: Stored(row.seq, tuple(row)[2:]) for row in rows}


def insert(
    connection: Connection,
    agent_id: str,
    messages: Sequence[tuple[int, str, NewMessage]],
    *,
    session_id: str | None,
    user_id: str | None,
    remember: Remember,
) -> None:
    """Store new messages, each as (seq, id, message); the caller holds the lane's lock."""
    _seqs, _ids, values = zip(*messages, strict=True)
    connection.exec_driver_sql(
        _INSERT,
        {
            "agent_id": agent_id,
            "session_id": session_id,
            "user_id": user_id,
            "remember": remember,
            "memory_state": "pending" if remember is Remember.NOW else "none",
            "seqs": list(_seqs),
            "ids": list(_ids),
            "roles": [str(each.role) for each in values],
            "contents": [each.content for each in values],
            "names": [each.name for each in values],
            "tool_calls": [_json(list(each.tool_calls)) for each in values],
            "tool_call_ids": [each.tool_call_id for each in values],
            "metadata": [_json(dict(each.metadata)) for each in values],
            "said_at": [each.said_at for each in values],
        },
    )


def read_range(
    connection: Connection, agent_id: str, first_seq: int, last_seq: int
) -> list[Message]:
    """Return the messages with ``first_seq <= seq <= last_seq`` that are still stored."""
    rows = connection.exec_driver_sql(
        f"SELECT {COLUMNS} FROM message"  # noqa: S608 - a constant of this module
        " WHERE agent_id = %s AND seq BETWEEN %s AND %s ORDER BY seq",
        (agent_id, first_seq, last_seq),
    )
    return [to_message(row) for row in rows]


def to_message(row: Row[Any]) -> Message:
    """Turn a row with this module's columns into a message."""
    return Message(
        seq=row.seq,
        id=row.id,
        role=Role(row.role),
        content=row.content,
        said_at=row.said_at,
        name=row.name,
        session_id=row.session_id,
        user_id=row.user_id,
        tool_calls=tuple(row.tool_calls or ()),
        tool_call_id=row.tool_call_id,
        metadata=row.metadata or {},
    )


def _json(value: list[Any] | dict[str, Any]) -> str | None:
    return json.dumps(value, ensure_ascii=False) if value else None
