"""Reads nodes, links, focus and trails; important, filtered and superseded memories (R5, R6)."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row
from sqlalchemy.engine import RowMapping

from memci.domain.memory.changed_facts import EndedParts
from memci.domain.search.candidate import Candidate, Source
from memci.domain.search.supersession import Ended
from memci.language.times.calendar import at_offset
from memci.message import Role, readable_text, shown_text
from memci.storage.network.links import IMPORTANCE
from memci.storage.reading.messages import NEWEST
from memci.storage.search.find import Restriction
from memci.storage.search.sources import message_filters, node_filters

_NODE = f"""
SELECT n.id, n.kind, n.type, n.content, n.phrase, n.keywords, n.original_length,
       length(n.content) AS length, n.worth, n.scan_count, n.last_pass, n.session_id, n.user_id,
       n.said_at, n.said_offset, n.tier, n.expires_at, n.promoted_at, n.superseded_by,
       n.superseded_at, n.created_at, n.pinned, {IMPORTANCE.format(node="n")} AS importance,
       (SELECT count(*) FROM link l WHERE l.agent_id = n.agent_id AND l.source = n.id) AS links,
       EXISTS (SELECT 1 FROM focus f WHERE f.agent_id = n.agent_id AND f.node_id = n.id) AS focus,
       ARRAY(SELECT m.id FROM message m
              WHERE m.agent_id = n.agent_id AND m.seq = ANY(n.message_seqs) ORDER BY m.seq)
           AS message_ids
  FROM node n WHERE n.agent_id = %(agent)s {{conditions}}
 ORDER BY n.id LIMIT %(limit)s
"""  # noqa: S608 - a constant of another module
_CONDITIONS = {
    "id": "AND n.id = %(id)s",
    "kind": "AND n.kind = %(kind)s",
    # Entities have neither of their own.
    "type": "AND n.kind = 'memory' AND n.type = %(type)s",
    "tier": "AND n.kind = 'memory' AND n.tier = %(tier)s",
    "pinned": "AND n.pinned = %(pinned)s",
    "session_id": "AND n.session_id = %(session_id)s",
    "user_id": "AND n.user_id = %(user_id)s",
    "since": "AND n.said_at >= %(since)s",
    "until": "AND n.said_at < %(until)s",
    "words": """AND NOT EXISTS (SELECT FROM unnest(%(words)s::text[]) AS each(word)
                                 WHERE strpos(lower(n.content), word) = 0)""",
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
    """Return nodes after an id, ascending; ``asked`` by names of ``_CONDITIONS``; None for any."""
    conditions = [part for name, part in _CONDITIONS.items() if asked.get(name) is not None]
    statement = _NODE.format_map({"conditions": " ".join(["AND n.id > %(after)s", *conditions])})
    values = {**asked, "agent": agent_id, "after": after, "limit": limit}
    return [
        with_local_time(row) for row in connection.exec_driver_sql(statement, values).mappings()
    ]


def read_node(connection: Connection, agent_id: str, node_id: int) -> dict[str, Any] | None:
    """Return one living node."""
    found = list_nodes(connection, agent_id, {"id": node_id}, after=-1, limit=1)
    return found[0] if found else None


def with_local_time(row: RowMapping) -> dict[str, Any]:
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


def list_trail(
    connection: Connection, agent_id: str, node_id: int, *, after: int, limit: int
) -> Sequence[RowMapping]:
    """Return the trail of a node, the oldest event first; the node itself may be removed."""
    return connection.exec_driver_sql(_TRAIL, (agent_id, node_id, after, limit)).mappings().all()


_IMPORTANT = """
SELECT m.id, m.content, m.message_seqs, coalesce(m.said_at, m.created_at), m.session_id,
       m.said_offset
  FROM node m
 WHERE m.agent_id = %(agent)s AND m.id = ANY(%(nodes)s) AND m.kind = 'memory'
"""
_NEWEST = """
SELECT m.id FROM node m WHERE m.agent_id = %(agent)s AND m.kind = 'memory' {filters}
 ORDER BY m.id DESC LIMIT %(limit)s
"""
_BEST = f"ORDER BY {IMPORTANCE.format(node='m')} DESC, m.id DESC LIMIT %(limit)s"


def newest_memories(
    connection: Connection, agent_id: str, restriction: Restriction, *, limit: int
) -> list[int]:
    """Return the ids of the newest memories within a restriction."""
    asked = restriction.values()
    statement = _NEWEST.format(filters=node_filters(asked))
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


_MEMORIES = """
SELECT m.id, m.content, m.said_at, m.said_offset, m.superseded_by,
       ARRAY(SELECT o.id FROM message o
              WHERE o.agent_id = m.agent_id AND o.seq = ANY(m.message_seqs) ORDER BY o.seq)
           AS message_ids
  FROM node m
 WHERE m.agent_id = %(agent)s AND m.kind = 'memory' {filters} AND m.id < %(after)s
 ORDER BY m.id DESC LIMIT %(limit)s
"""


def filtered_memories(
    connection: Connection,
    agent_id: str,
    restriction: Restriction,
    *,
    after: int | None,
    limit: int,
) -> list[Row[Any]]:
    """Return living memories within a restriction, by descending id, from ``after`` on."""
    asked = restriction.values()
    statement = _MEMORIES.format(filters=node_filters(asked))
    values = {**asked, "agent": agent_id, "after": after or NEWEST, "limit": limit}
    return list(connection.exec_driver_sql(statement, values))


# A version remains after its memory, as messages do.
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
       ARRAY(SELECT part FROM ended_fact f CROSS JOIN unnest(f.parts) AS part
              WHERE f.agent_id = %(agent)s AND f.node_id = e.node_id) AS parts,
       ARRAY(SELECT told_by FROM ended_fact f WHERE f.agent_id = %(agent)s
                AND (f.node_id = e.node_id
                     OR f.replaced_by IN (SELECT id FROM newer WHERE old = e.node_id))) AS told_by
  FROM ended e ORDER BY e.node_id
"""
# A forgotten memory's messages are known from its trail.
_MESSAGES_OF_NODES = """
SELECT each.id AS node_id, m.seq, m.role, m.content, m.said_at, m.said_offset, m.name,
       m.session_id, m.tool_calls, m.withheld
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
    """Return which of these memories, and of the memories of these messages, are superseded.

    With ``as_of``: were superseded at that time.
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
            frozenset(row.parts),
            tuple(row.now),
            tuple(row.between),
            frozenset(row.told_by),
        )
        for row in connection.exec_driver_sql(_ENDED, values)
    ]


def messages_of(
    connection: Connection, agent_id: str, nodes: Collection[int], restriction: Restriction
) -> dict[int, list[Candidate]]:
    """Return the messages of memories, living or forgotten, by memory and in order."""
    asked = restriction.values()
    statement = _MESSAGES_OF_NODES.format(filters=message_filters(asked))
    found: defaultdict[int, list[Candidate]] = defaultdict(list)
    values = {**asked, "agent": agent_id, "nodes": list(nodes)}
    for row in connection.exec_driver_sql(statement, values):
        at = at_offset(row.said_at, row.said_offset)
        text = readable_text(row.role, row.content, row.tool_calls or ())
        text = shown_text(text, row.withheld or ())
        if row.withheld and not any(map(str.isalnum, text)):
            continue
        found[row.node_id].append(
            Candidate(
                Source.CHAT, row.seq, text, (row.seq,), at, row.session_id, Role(row.role),
                row.name,
            )
        )  # fmt: skip
    return found


_PARTLY = """
SELECT f.seqs, f.parts, f.until, n.said_offset FROM ended_fact f
  LEFT JOIN node n ON n.agent_id = f.agent_id AND n.id = f.replaced_by
 WHERE f.agent_id = %(agent)s AND f.seqs && %(seqs)s::bigint[] AND f.until <= %(now)s
 ORDER BY f.until
"""


def ended_parts(
    connection: Connection, agent_id: str, seqs: Collection[int], as_of: datetime | None
) -> list[EndedParts]:
    """Return what holds no more of the memories of these messages, the first ended first.

    With ``as_of``: what did not hold at that time.
    """
    values = {"agent": agent_id, "seqs": list(seqs), "now": as_of or "infinity"}
    return [
        EndedParts(frozenset(row.seqs), tuple(row.parts), at_offset(row.until, row.said_offset))
        for row in connection.exec_driver_sql(_PARTLY, values)
    ]


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
    return [with_local_time(row) for row in rows]


def ever_was(connection: Connection, agent_id: str, node_id: int) -> bool:
    """Return True if the node exists or existed."""
    return bool(connection.exec_driver_sql(_EVER, (agent_id, node_id)).scalar())
