"""The versions of a memory: what it took the place of, and what took its place (R5, R6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection

from memci.storage.reading.nodes import with_said_at

# In both directions; more than so many memories in one line are not shown.
_LINE = """
WITH RECURSIVE line AS (
    SELECT %(node)s::bigint AS id
    UNION
    SELECT step.id FROM line CROSS JOIN LATERAL (
        SELECT replaced_by AS id FROM node_version WHERE agent_id = %(agent)s AND node_id = line.id
         UNION ALL
        SELECT node_id FROM node_version WHERE agent_id = %(agent)s AND replaced_by = line.id
    ) step),
shown AS (SELECT id FROM line LIMIT 500)
SELECT shown.id AS node_id, coalesce(v.content, n.content) AS content,
       coalesce(v.phrase, n.phrase) AS phrase, coalesce(v.said_at, n.said_at) AS said_at,
       CASE WHEN v.node_id IS NULL THEN n.said_offset ELSE v.said_offset END AS said_offset,
       v.reason, v.replaced_by, v.until, n.id IS NOT NULL AS living,
       ARRAY(SELECT m.id FROM message m
              WHERE m.agent_id = %(agent)s AND m.seq = ANY(coalesce(v.message_seqs, n.message_seqs))
              ORDER BY m.seq) AS message_ids
  FROM shown
  LEFT JOIN node n ON n.agent_id = %(agent)s AND n.id = shown.id
  LEFT JOIN LATERAL (
       SELECT * FROM node_version o WHERE o.agent_id = %(agent)s AND o.node_id = shown.id
        ORDER BY o.reason, o.replaced_at DESC, o.replaced_by DESC LIMIT 1) v ON true
 WHERE %(as_of)s::timestamptz IS NULL OR coalesce(v.said_at, n.said_at) <= %(as_of)s
 ORDER BY coalesce(v.said_at, n.said_at) NULLS FIRST, shown.id
"""
_EVER = "SELECT EXISTS (SELECT 1 FROM trail WHERE agent_id = %s AND node_id = %s)"


def versions_of(
    connection: Connection, agent_id: str, node_id: int, as_of: datetime | None
) -> Sequence[Mapping[str, Any]]:
    """Return the versions before and after a memory and itself, the oldest first.

    Of what was said until ``as_of``, if given.
    """
    values = {"agent": agent_id, "node": node_id, "as_of": as_of}
    rows = connection.exec_driver_sql(_LINE, values).mappings()
    return [with_said_at(row) for row in rows]


def ever_was(connection: Connection, agent_id: str, node_id: int) -> bool:
    """Tell whether there is, or was, such a node."""
    return bool(connection.exec_driver_sql(_EVER, (agent_id, node_id)).scalar())
