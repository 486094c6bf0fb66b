"""The most important memories among some nodes: what a context without a question begins with."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection

from memci.domain.context.candidate import Candidate, Source
from memci.domain.offset import at_offset
from memci.storage.search import Restriction
from memci.storage.search_restrictions import node_filters

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
    """Return the ids of the newest memories that are like this."""
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
