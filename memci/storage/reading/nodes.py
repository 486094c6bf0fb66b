"""Nodes, links, focus points and trails, read for lists."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection
from sqlalchemy.engine import RowMapping

# Importance is the sum of a node's own links whose target lives (M11).
_NODE = """
SELECT n.id, n.kind, n.type, n.content, n.phrase, n.keywords, n.original_length,
       length(n.content) AS length, n.worth, n.scan_count, n.last_pass, n.session_id, n.user_id,
       n.said_at, n.tier, n.expires_at, n.created_at, own.links, own.importance,
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
    *,
    kind: str | None,
    type_: str | None,
    after: int,
    limit: int,
) -> list[RowMapping]:
    """Return nodes after an id, ascending."""
    conditions = ["AND n.id > %(after)s"]
    if kind is not None:
        conditions.append("AND n.kind = %(kind)s")
    if type_ is not None:
        conditions.append("AND n.type = %(type)s")
    statement = _NODE.format_map({"conditions": " ".join(conditions)})
    values = {"agent": agent_id, "kind": kind, "type": type_, "after": after, "limit": limit}
    return list(connection.exec_driver_sql(statement, values).mappings())


def read_node(connection: Connection, agent_id: str, node_id: int) -> RowMapping | None:
    """Return one living node."""
    statement = _NODE.format_map({"conditions": "AND n.id = %(id)s"})
    values = {"agent": agent_id, "id": node_id, "limit": 1}
    return connection.exec_driver_sql(statement, values).mappings().first()


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
