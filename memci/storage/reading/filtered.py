"""Memories and messages by what they are like, without a query, the newest first (R20)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, Row

from memci.domain.message import Message
from memci.storage.messages import COLUMNS, to_message
from memci.storage.reading.sight import Sight
from memci.storage.reading.whose import of_user

# In pieces, so that the planner sees only what is asked.
_MEMORIES = """
SELECT n.id, n.content, n.said_at, n.said_offset, n.superseded_by,
       ARRAY(SELECT m.id FROM message m
              WHERE m.agent_id = n.agent_id AND m.seq = ANY(n.message_seqs) ORDER BY m.seq)
           AS message_ids
  FROM node n
 WHERE n.agent_id = %(agent)s AND n.kind = 'memory' AND {seen} {conditions}
 ORDER BY n.id DESC LIMIT %(limit)s
"""
_OF_MEMORIES = {
    "type": "n.type = %(type)s",
    "in_session": "n.session_id = %(in_session)s",
    "since": "n.said_at >= %(since)s",
    "until": "n.said_at < %(until)s",
    "after": "n.id < %(after)s",
    "name": """EXISTS (SELECT FROM message m WHERE m.agent_id = n.agent_id
                          AND m.seq = ANY(n.message_seqs) AND m.name = %(name)s)""",
    "role": """EXISTS (SELECT FROM message m WHERE m.agent_id = n.agent_id
                          AND m.seq = ANY(n.message_seqs) AND m.role = %(role)s)""",
    "metadata": """EXISTS (SELECT FROM message m WHERE m.agent_id = n.agent_id
                              AND m.seq = ANY(n.message_seqs)
                              AND m.metadata @> %(metadata)s::jsonb)""",
}
_MESSAGES = """
SELECT {columns} FROM message m WHERE m.agent_id = %(agent)s {conditions}
 ORDER BY m.seq DESC LIMIT %(limit)s
"""
_OF_MESSAGES = {
    "in_session": "m.session_id = %(in_session)s",
    "since": "m.said_at >= %(since)s",
    "until": "m.said_at < %(until)s",
    "after": "m.seq < %(after)s",
    "name": "m.name = %(name)s",
    "role": "m.role = %(role)s",
    "metadata": "m.metadata @> %(metadata)s::jsonb",
}


def filtered_memories(
    connection: Connection, agent_id: str, sight: Sight, asked: Mapping[str, Any], limit: int
) -> list[Row[Any]]:
    """Return living memories in sight that meet all criteria given, by falling numbers.

    ``asked``: type, in_session, since, until, after, name, role, metadata; None for any.
    """
    statement = _MEMORIES.format_map(
        {"seen": sight.condition, "conditions": _conditions(_OF_MEMORIES, asked)}
    )
    values = {**_values(asked), **sight.values, "agent": agent_id, "limit": limit}
    return list(connection.exec_driver_sql(statement, values))


def filtered_messages(
    connection: Connection, agent_id: str, sight: Sight, asked: Mapping[str, Any], limit: int
) -> list[Message]:
    """Return messages in sight that meet all criteria given, by falling seqs; they have no type.

    ``asked`` as above; of the user in sight, if any, as ``whose`` tells it.
    """
    whose = "" if sight.user_id is None else f"AND {of_user(sight.session_id)}"
    statement = _MESSAGES.format_map(
        {"columns": COLUMNS, "conditions": f"{_conditions(_OF_MESSAGES, asked)} {whose}"}
    )
    of_sight = {"session": sight.session_id, "with_user": sight.user_id}
    values = {**_values(asked), **of_sight, "agent": agent_id, "limit": limit}
    return [to_message(row) for row in connection.exec_driver_sql(statement, values)]


def _conditions(known: Mapping[str, str], asked: Mapping[str, Any]) -> str:
    return " ".join(f"AND {known[name]}" for name, value in asked.items() if value is not None)


def _values(asked: Mapping[str, Any]) -> dict[str, Any]:
    metadata = asked.get("metadata")
    return {**asked, "metadata": None if metadata is None else json.dumps(metadata)}
