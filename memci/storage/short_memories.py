"""Short-term memories: which lie near each other, and which have come to the end of their term."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Connection

from memci.domain.language import Language
from memci.domain.memory.consolidation import ShortMemory
from memci.domain.memory.node import NodeType
from memci.domain.memory.tier import Judged, Promotion, Source
from memci.domain.offset import at_offset
from memci.storage.trail import TrailEvent, append_trail

# Those not yet compared with any, the oldest first.
_YOUNG = """
SELECT id FROM node WHERE agent_id = %(agent)s AND tier = 'short' AND kind = 'memory'
   AND NOT compared ORDER BY id LIMIT %(most)s
"""
# Where a model finds all texts alike, as one does in a language that it does not know.
_MOST_PAIRS = 100_000
# Each pair once. What two memories of different sessions, users or days say is never compared.
_ALIKE = """
WITH near AS MATERIALIZED (
    SELECT n.id, n.id = ANY(%(young)s) AS young, v.embedding, v.model,
           coalesce(n.session_id, '') AS session_id, coalesce(n.user_id, '') AS user_id,
           (n.said_at AT TIME ZONE 'UTC'
            + coalesce(n.said_offset, 0) * interval '1 minute')::date AS day
      FROM node n JOIN node_vector v ON v.agent_id = n.agent_id AND v.node_id = n.id
     WHERE n.agent_id = %(agent)s AND n.tier = 'short' AND n.kind = 'memory'
       AND n.superseded_by IS NULL AND (n.compared OR n.id = ANY(%(young)s)))
SELECT one.id, other.id FROM near one
  JOIN near other USING (session_id, user_id, day, model)
 WHERE one.young AND one.id <> other.id AND (NOT other.young OR one.id < other.id)
   AND one.embedding <=> other.embedding <= 1 - %(least)s::float8
 ORDER BY one.embedding <=> other.embedding, one.id, other.id LIMIT %(most)s
"""
_READ = """
SELECT n.id, n.content, n.phrase, n.keywords, n.language, n.type, n.original_length, n.worth,
       n.message_seqs, n.session_id, n.user_id, n.said_at, n.said_offset, n.expires_at,
       n.scan_count,
       ARRAY(SELECT DISTINCT m.role FROM message m
              WHERE m.agent_id = n.agent_id AND m.seq = ANY(n.message_seqs)) AS roles,
       ARRAY(SELECT DISTINCT m.name FROM message m
              WHERE m.agent_id = n.agent_id AND m.seq = ANY(n.message_seqs)) AS names
  FROM node n WHERE n.agent_id = %s AND n.id = ANY(%s) AND n.tier = 'short' AND n.kind = 'memory'
   AND n.superseded_by IS NULL
"""
_COMPARED = "UPDATE node SET compared = true WHERE agent_id = %s AND id = ANY(%s)"
# The last message of each session that short-term memories are of, and where somebody ended it.
_SESSIONS = """
sessions AS MATERIALIZED (
    SELECT of.session_id, e.seq AS ended,
           (SELECT m.received_at FROM message m
             WHERE m.agent_id = %(agent)s AND m.session_id = of.session_id
             ORDER BY m.seq DESC LIMIT 1) + %(silence)s AS silent_at
      FROM (SELECT DISTINCT session_id FROM node
             WHERE agent_id = %(agent)s AND tier = 'short' AND session_id IS NOT NULL) of
      LEFT JOIN session_end e ON e.agent_id = %(agent)s AND e.session_id = of.session_id)
"""
_DUE = f"""
WITH {_SESSIONS}
SELECT n.id, n.worth,
       coalesce((SELECT sum(l.strength) FROM link l
                  WHERE l.agent_id = n.agent_id AND l.source = n.id AND EXISTS (
                        SELECT 1 FROM node t WHERE t.agent_id = l.agent_id AND t.id = l.target)
                ), 0::float8) AS importance,
       EXISTS (SELECT 1 FROM trail t WHERE t.agent_id = n.agent_id AND t.node_id = n.id
                  AND t.event = 'used') AS used
  FROM node n LEFT JOIN sessions s USING (session_id)
 WHERE n.agent_id = %(agent)s AND n.tier = 'short'
   AND (%(all)s OR n.expires_at IS NULL OR n.expires_at <= %(now)s OR s.silent_at <= %(now)s
        OR s.ended >= (SELECT max(seq) FROM unnest(n.message_seqs) AS seq))
 ORDER BY n.id
"""  # noqa: S608 - constants of this module
_NEXT = f"""
WITH {_SESSIONS}
SELECT min(least(n.expires_at, s.silent_at)) FROM node n LEFT JOIN sessions s USING (session_id)
 WHERE n.agent_id = %(agent)s AND n.tier = 'short'
"""  # noqa: S608 - constants of this module
# What each was made of: in a network that is rebuilt it has another id.
_MADE_OF = """
SELECT n.id, n.message_seqs, t.details->'span' AS span
  FROM node n
  LEFT JOIN trail t ON t.agent_id = n.agent_id AND t.node_id = n.id AND t.event = 'created'
 WHERE n.agent_id = %(agent)s AND n.tier = 'short' AND n.kind = 'memory'
   AND (%(nodes)s::bigint[] IS NULL OR n.id = ANY(%(nodes)s))
 ORDER BY n.id
"""
_SETTLE = """
UPDATE node SET tier = 'long', expires_at = NULL,
                promoted_at = CASE WHEN id = ANY(%(promoted)s) THEN %(now)s::timestamptz END
WHERE agent_id = %(agent)s AND id = ANY(%(nodes)s)
"""


@dataclass(frozen=True, slots=True)
class Term:
    """When short terms end: now, and for how long a session may be silent before.

    ``over``: all of them, since there are no tiers any more.
    """

    now: datetime
    silence: timedelta
    over: bool = False


def young_memories(connection: Connection, agent_id: str, most: int) -> list[int]:
    """Return short-term memories that were not compared with others yet, ascending."""
    values = {"agent": agent_id, "most": most}
    return list(connection.exec_driver_sql(_YOUNG, values).scalars())


def alike_pairs(
    connection: Connection, agent_id: str, young: Collection[int], least: float
) -> list[tuple[int, int]]:
    """Return pairs of short-term memories of a session and day with at least this cosine.

    The nearest come first, and more than can be compared in a second are left out. One of each is
    among ``young``; the other too, or it was compared before.
    """
    if not young:
        return []
    values = {"agent": agent_id, "young": list(young), "least": least, "most": _MOST_PAIRS}
    return [(one, other) for one, other in connection.exec_driver_sql(_ALIKE, values)]


def short_memories(
    connection: Connection, agent_id: str, nodes: Collection[int]
) -> dict[int, ShortMemory]:
    """Return those of these nodes that are short-term memories and hold, by id."""
    if not nodes:
        return {}
    rows = connection.exec_driver_sql(_READ, (agent_id, list(nodes)))
    return {
        row.id: ShortMemory(
            id=row.id,
            content=row.content,
            phrase=row.phrase,
            keywords=tuple(row.keywords),
            language=Language(row.language),
            type=NodeType(row.type),
            original_length=row.original_length,
            worth=row.worth,
            seqs=tuple(row.message_seqs),
            session_id=row.session_id,
            user_id=row.user_id,
            said_at=row.said_at and at_offset(row.said_at, row.said_offset),
            expires_at=row.expires_at,
            scan_count=row.scan_count,
            speakers=frozenset((role, name) for role in row.roles for name in row.names),
        )
        for row in rows
    }


def mark_compared(connection: Connection, agent_id: str, nodes: Collection[int]) -> None:
    """Note that these were compared with all that were there."""
    if nodes:
        connection.exec_driver_sql(_COMPARED, (agent_id, list(nodes)))


def due_memories(connection: Connection, agent_id: str, term: Term) -> list[Judged]:
    """Return the short-term memories whose session has ended or whose time is over."""
    values = {
        "agent": agent_id,
        "now": term.now,
        "silence": term.silence,
        "all": term.over,
    }
    return [
        Judged(row.id, row.importance, row.worth, row.used)
        for row in connection.exec_driver_sql(_DUE, values)
    ]


def made_of(
    connection: Connection, agent_id: str, nodes: Collection[int] | None = None
) -> dict[int, Source]:
    """Return what short-term memories were made of, ascending; all, or those of ``nodes``."""
    values = {"agent": agent_id, "nodes": None if nodes is None else list(nodes)}
    rows = connection.exec_driver_sql(_MADE_OF, values)
    return {row.id: (tuple(row.message_seqs), tuple(row.span or ())) for row in rows}


def next_end(connection: Connection, agent_id: str, silence: timedelta) -> datetime | None:
    """Return when the next short term ends; None: there is no short-term memory."""
    values = {"agent": agent_id, "silence": silence}
    found: datetime | None = connection.exec_driver_sql(_NEXT, values).scalar()
    return found


def settle(
    connection: Connection,
    agent_id: str,
    judged: Mapping[int, Promotion | None],
    term: Term,
    pass_number: int,
) -> None:
    """Make short-term memories long-term ones, and note what spoke for each, if anything did."""
    if not judged:
        return
    promoted = {node: why for node, why in judged.items() if why is not None}
    values = {
        "agent": agent_id,
        "nodes": list(judged),
        "promoted": list(promoted),
        "now": term.now,
    }
    connection.exec_driver_sql(_SETTLE, values)
    reasons = {node: {"reason": why} for node, why in promoted.items()}
    append_trail(connection, agent_id, TrailEvent.PROMOTED, pass_number, reasons)
    ordinary: dict[int, dict[str, str]] = {node: {} for node, why in judged.items() if why is None}
    append_trail(connection, agent_id, TrailEvent.SETTLED, pass_number, ordinary)
