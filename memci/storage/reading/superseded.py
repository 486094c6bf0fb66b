"""Reads which memories no longer hold, and what replaced them (R5, R6)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection

from memci.domain.search.candidate import Candidate, Source
from memci.domain.search.supersession import About, Ended
from memci.language.times.calendar import at_offset
from memci.message import Message, Role
from memci.storage.reading.nodes import with_said_at
from memci.storage.search.find import Restriction
from memci.storage.search.sources import message_filters

# A version outlives its memory, as messages do.
_ENDED = """
WITH RECURSIVE ended AS MATERIALIZED (
    SELECT v.node_id, min(v.until) AS until, min(v.message_seqs) AS seqs,
           (array_agg(CASE WHEN s.id IS NULL THEN v.said_offset ELSE s.said_offset END
                      ORDER BY v.until, v.replaced_by))[1] AS until_offset
      FROM node_version v
      LEFT JOIN node s ON s.agent_id = v.agent_id AND s.id = v.replaced_by
     WHERE v.agent_id = %(agent)s AND v.reason = 'superseded' AND v.until <= %(now)s
       AND (v.node_id = ANY(%(nodes)s::bigint[]) OR v.message_seqs && %(seqs)s::bigint[])
     GROUP BY v.node_id),
line AS (
    SELECT node_id AS old, node_id AS id FROM ended
     UNION
    SELECT line.old, step.id FROM line CROSS JOIN LATERAL (
        SELECT v.replaced_by AS id FROM node_version v
         WHERE v.agent_id = %(agent)s AND v.node_id = line.id
           AND (v.reason = 'merged' OR v.until <= %(now)s) OFFSET 0) step),
newer AS MATERIALIZED (
    SELECT line.old, line.id, EXISTS (
               SELECT 1 FROM node_version v
                WHERE v.agent_id = %(agent)s AND v.node_id = line.id
                  AND (v.reason = 'merged' OR v.until <= %(now)s)) AS replaced
      FROM line WHERE line.id <> line.old)
SELECT e.node_id, e.until, e.until_offset, e.seqs,
       ARRAY(SELECT id FROM newer WHERE old = e.node_id AND NOT replaced ORDER BY id DESC) AS now,
       ARRAY(SELECT id FROM newer WHERE old = e.node_id AND replaced ORDER BY id DESC) AS between,
       (SELECT jsonb_agg(jsonb_build_array(c.seq, c.subject, c.attribute)) FROM claim c
         WHERE c.agent_id = %(agent)s AND c.node_id = e.node_id) AS claims,
       (SELECT jsonb_agg(jsonb_build_array(c.seq, c.subject, c.attribute)) FROM claim c
         WHERE c.agent_id = %(agent)s
           AND c.node_id IN (SELECT id FROM newer WHERE old = e.node_id)) AS said
  FROM ended e ORDER BY e.node_id
"""
# A forgotten memory's messages are known from its trail.
_MESSAGES = """
SELECT each.id AS node_id, m.seq, m.role, m.content, m.said_at, m.said_offset, m.name,
       m.session_id, m.tool_calls
  FROM unnest(%(nodes)s::bigint[]) AS each(id)
 CROSS JOIN LATERAL (SELECT coalesce(
     (SELECT n.message_seqs FROM node n WHERE n.agent_id = %(agent)s AND n.id = each.id),
     (SELECT ARRAY(SELECT jsonb_array_elements_text(t.details->'messages')::bigint) FROM trail t
       WHERE t.agent_id = %(agent)s AND t.node_id = each.id AND t.event = 'created'
       LIMIT 1)) AS seqs OFFSET 0) its
 CROSS JOIN LATERAL (SELECT * FROM message m
      WHERE m.agent_id = %(agent)s AND m.seq = ANY(its.seqs) {filters} OFFSET 0) m
 ORDER BY each.id, m.seq
"""


def ended_memories(
    connection: Connection,
    agent_id: str,
    nodes: Collection[int],
    seqs: Collection[int],
    as_of: datetime | None,
) -> list[Ended]:
    """Return which of these memories, and of the memories of these messages, no longer hold.

    With ``as_of``: no longer held then.
    """
    values = {
        "agent": agent_id,
        "nodes": list(nodes),
        "seqs": list(seqs),
        "now": as_of or "infinity",
    }
    return [
        Ended(
            row.node_id,
            at_offset(row.until, row.until_offset),
            frozenset(row.seqs),
            _by_seq(row.claims),
            tuple(row.now),
            tuple(row.between),
            _by_seq(row.said),
        )
        for row in connection.exec_driver_sql(_ENDED, values)
    ]


def messages_of(
    connection: Connection, agent_id: str, nodes: Collection[int], restriction: Restriction
) -> dict[int, list[Candidate]]:
    """Return the messages of memories, living or forgotten, by memory and in order."""
    asked = restriction.values()
    statement = _MESSAGES.format(filters=message_filters(asked))
    found: defaultdict[int, list[Candidate]] = defaultdict(list)
    values = {**asked, "agent": agent_id, "nodes": list(nodes)}
    for row in connection.exec_driver_sql(statement, values):
        at = at_offset(row.said_at, row.said_offset)
        said = Message(row.seq, "", Role(row.role), row.content, at,
                       tool_calls=row.tool_calls or ())  # fmt: skip
        found[row.node_id].append(
            Candidate(
                Source.CHAT, row.seq, said.text, (row.seq,), at, row.session_id,
                said.role, row.name,
            )
        )  # fmt: skip
    return found


def _by_seq(claims: Sequence[tuple[int, str, str]] | None) -> dict[int, frozenset[About]]:
    by_seq: defaultdict[int, set[About]] = defaultdict(set)
    for seq, subject, attribute in claims or ():
        by_seq[seq].add((subject, attribute))
    return {seq: frozenset(about) for seq, about in by_seq.items()}


# In both directions; at most 500 memories in one line.
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
    """Return a memory and its versions before and after it, the oldest first.

    Only those said until ``as_of``, if given.
    """
    values = {"agent": agent_id, "node": node_id, "as_of": as_of}
    rows = connection.exec_driver_sql(_LINE, values).mappings()
    return [with_said_at(row) for row in rows]


def ever_was(connection: Connection, agent_id: str, node_id: int) -> bool:
    """Return True if there is, or was, such a node."""
    return bool(connection.exec_driver_sql(_EVER, (agent_id, node_id)).scalar())
