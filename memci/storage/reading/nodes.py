"""Nodes, links, focus points and trails, read for lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection
from sqlalchemy.engine import RowMapping

from memci.domain.offset import at_offset

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
    """Return a row whose ``said_at`` is at its ``said_offset``, which is not among it then."""
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
    """Return links after one (source, target), ascending; those at one node, both ways, or all."""
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
    """Return what happened to a node, the oldest first; the node itself may be gone."""
    return connection.exec_driver_sql(_TRAIL, (agent_id, node_id, after, limit)).mappings().all()
