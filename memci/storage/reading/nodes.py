"""Reads nodes, links, focus and histories for lists; the most important memories; filters."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row
from sqlalchemy.engine import RowMapping

from memci.domain.search.candidate import Candidate, Source
from memci.language.times.calendar import at_offset
from memci.message import Message
from memci.storage.messages import COLUMNS, to_message
from memci.storage.reading.messages import of_user
from memci.storage.reading.recall import Visibility
from memci.storage.search.find import Restriction
from memci.storage.search.sources import node_filters

# Importance is the sum of a node's own links whose target lives (M11).
_NODE = """
SELECT n.id, n.kind, n.type, n.content, n.phrase, n.keywords, n.original_length,
       length(n.content) AS length, n.worth, n.scan_count, n.last_pass, n.session_id, n.user_id,
       n.said_at, n.said_offset, n.tier, n.expires_at, n.promoted_at, n.superseded_by,
       n.superseded_at, n.created_at, own.links, own.importance,
       EXISTS (SELECT 1 FROM focus f WHERE f.agent_id = n.agent_id AND f.node_id = n.id) AS focus,
       ARRAY(SELECT m.id FROM message m
              WHERE m.agent_id = n.agent_id AND m.seq = ANY(n.message_seqs) ORDER BY m.seq)
           AS message_ids
  FROM node n CROSS JOIN LATERAL (
       SELECT count(*) AS links,
              coalesce(sum(l.strength) FILTER (WHERE EXISTS (
                  SELECT 1 FROM node t WHERE t.agent_id = l.agent_id AND t.id = l.target)),
                  0::float8) AS importance
         FROM link l WHERE l.agent_id = n.agent_id AND l.source = n.id) own
 WHERE n.agent_id = %(agent)s {conditions}
 ORDER BY n.id LIMIT %(limit)s
"""
_WANTED = {
    "kind": "AND n.kind = %(kind)s",
    "type": "AND n.type = %(type)s",
    "tier": "AND n.tier = %(tier)s",
    "as_of": """AND n.said_at <= %(as_of)s
                AND coalesce(n.superseded_at > %(as_of)s, true)""",
}
_LINKS = """
SELECT l.source, l.target, l.relation, l.strength, l.hint,
       NOT EXISTS (SELECT 1 FROM node t WHERE t.agent_id = l.agent_id AND t.id = l.target)
           AS dangling
  FROM link l
 WHERE l.agent_id = %(agent)s AND (l.source, l.target) > (%(source)s, %(target)s) {conditions}
 ORDER BY l.source, l.target LIMIT %(limit)s
"""
_FOCUS = """
SELECT f.node_id, n.content AS name FROM focus f
  JOIN node n ON n.agent_id = f.agent_id AND n.id = f.node_id
 WHERE f.agent_id = %s ORDER BY f.mentioned DESC
"""
_TRAIL = """
SELECT t.id, t.event, t.pass_number, t.details, t.at FROM trail t
 WHERE t.agent_id = %s AND t.node_id = %s AND t.id > %s ORDER BY t.id LIMIT %s
"""


def list_nodes(
    connection: Connection,
    agent_id: str,
    asked: Mapping[str, object],
    *,
    after: int,
    limit: int,
) -> list[dict[str, Any]]:
    """Return nodes after an id, ascending; ``asked``: kind, type, tier, as_of, None for any."""
    wanted = [_WANTED[name] for name, value in asked.items() if value is not None]
    statement = _NODE.format_map({"conditions": " ".join(["AND n.id > %(after)s", *wanted])})
    values = {**asked, "agent": agent_id, "after": after, "limit": limit}
    return [with_said_at(row) for row in connection.exec_driver_sql(statement, values).mappings()]


def read_node(connection: Connection, agent_id: str, node_id: int) -> dict[str, Any] | None:
    """Return one living node."""
    statement = _NODE.format_map({"conditions": "AND n.id = %(id)s"})
    values = {"agent": agent_id, "id": node_id, "limit": 1}
    row = connection.exec_driver_sql(statement, values).mappings().first()
    return None if row is None else with_said_at(row)


def with_said_at(row: RowMapping) -> dict[str, Any]:
    """Return a row with ``said_at`` in the zone of ``said_offset``, which is removed."""
    fields = dict(row)
    offset = fields.pop("said_offset")
    at: datetime | None = fields["said_at"]
    return {**fields, "said_at": at and at_offset(at, offset)}


def list_links(
    connection: Connection,
    agent_id: str,
    *,
    node_id: int | None,
    after: tuple[int, int],
    limit: int,
) -> list[RowMapping]:
    """Return links after one (source, target), ascending; those of one node, both ways, or all."""
    at_node = "" if node_id is None else "AND (l.source = %(node)s OR l.target = %(node)s)"
    source, target = after
    values = {
        "agent": agent_id,
        "node": node_id,
        "source": source,
        "target": target,
        "limit": limit,
    }
    statement = _LINKS.format_map({"conditions": at_node})
    return list(connection.exec_driver_sql(statement, values).mappings())


def list_focus(connection: Connection, agent_id: str) -> Sequence[RowMapping]:
    """Return the focus points, the latest mention first."""
    return connection.exec_driver_sql(_FOCUS, (agent_id,)).mappings().all()


def list_trail(
    connection: Connection, agent_id: str, node_id: int, *, after: int, limit: int
) -> Sequence[RowMapping]:
    """Return the trail of a node, the oldest event first; the node itself may be gone."""
    return connection.exec_driver_sql(_TRAIL, (agent_id, node_id, after, limit)).mappings().all()


_IMPORTANT = """
SELECT m.id, m.content, m.message_seqs, coalesce(m.said_at, m.created_at), m.session_id,
       m.said_offset
  FROM node m LEFT JOIN LATERAL (
       SELECT sum(l.strength) AS importance FROM link l
        WHERE l.agent_id = m.agent_id AND l.source = m.id AND EXISTS (
              SELECT 1 FROM node t WHERE t.agent_id = l.agent_id AND t.id = l.target)) own ON true
 WHERE m.agent_id = %(agent)s AND m.id = ANY(%(nodes)s) AND m.kind = 'memory'
"""
_NEWEST = "SELECT m.id FROM node m WHERE m.agent_id = %(agent)s AND m.kind = 'memory'"
_LATEST = "ORDER BY m.id DESC LIMIT %(limit)s"
_BEST = "ORDER BY coalesce(own.importance, 0) DESC, m.id DESC LIMIT %(limit)s"


def newest_memories(
    connection: Connection, agent_id: str, restriction: Restriction, *, limit: int
) -> list[int]:
    """Return the ids of the newest memories within a restriction."""
    asked = restriction.values()
    statement = " ".join([_NEWEST, node_filters(asked), _LATEST])
    values = {**asked, "agent": agent_id, "limit": limit}
    return list(connection.exec_driver_sql(statement, values).scalars())


def important_memories(
    connection: Connection,
    agent_id: str,
    node_ids: Sequence[int],
    restriction: Restriction,
    *,
    limit: int,
) -> list[Candidate]:
    """Return the memories among these nodes by importance (M11), greatest first."""
    if not node_ids:
        return []
    asked = restriction.values()
    statement = " ".join([_IMPORTANT, node_filters(asked), _BEST])
    values = {
        **asked,
        "agent": agent_id,
        "nodes": list(node_ids),
        "limit": limit,
    }
    return [
        Candidate(Source.MEMORY, row[0], row[1], tuple(row[2]), at_offset(row[3], row[5]), row[4])
        for row in connection.exec_driver_sql(statement, values)
    ]


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
    connection: Connection,
    agent_id: str,
    visibility: Visibility,
    asked: Mapping[str, Any],
    limit: int,
) -> list[Row[Any]]:
    """Return visible living memories that meet all given criteria, by descending id.

    ``asked``: type, in_session, since, until, after, name, role, metadata; None for any.
    """
    statement = _MEMORIES.format_map(
        {"seen": visibility.condition, "conditions": _conditions(_OF_MEMORIES, asked)}
    )
    values = {**_values(asked), **visibility.values, "agent": agent_id, "limit": limit}
    return list(connection.exec_driver_sql(statement, values))


def filtered_messages(
    connection: Connection,
    agent_id: str,
    visibility: Visibility,
    asked: Mapping[str, Any],
    limit: int,
) -> list[Message]:
    """Return visible messages that meet all given criteria, by descending seq; they have no type.

    ``asked`` as above. With a user, only messages of that user.
    """
    whose = "" if visibility.user_id is None else f"AND {of_user(visibility.session_id)}"
    statement = _MESSAGES.format_map(
        {"columns": COLUMNS, "conditions": f"{_conditions(_OF_MESSAGES, asked)} {whose}"}
    )
    user_values = {"session": visibility.session_id, "with_user": visibility.user_id}
    values = {**_values(asked), **user_values, "agent": agent_id, "limit": limit}
    return [to_message(row) for row in connection.exec_driver_sql(statement, values)]


def _conditions(known: Mapping[str, str], asked: Mapping[str, Any]) -> str:
    return " ".join(f"AND {known[name]}" for name, value in asked.items() if value is not None)


def _values(asked: Mapping[str, Any]) -> dict[str, Any]:
    metadata = asked.get("metadata")
    return {**asked, "metadata": None if metadata is None else json.dumps(metadata)}
