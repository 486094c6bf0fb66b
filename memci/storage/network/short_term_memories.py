"""Short-term memories: similar pairs, merges, ends of terms (R5).

Upkeep sees lanes but no nodes, so the lanes hold counts and times of what is due.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from psycopg.types.json import Jsonb
from sqlalchemy import Connection

from memci.domain.memory.consolidation import Merge, ShortMemory, joined_links
from memci.domain.memory.node import (
    DueMemory,
    Link,
    NodeEvent,
    NodeType,
    Promotion,
    Source,
    VersionReason,
)
from memci.language.detection import Language
from memci.language.times.calendar import at_offset
from memci.storage.network.links import IMPORTANCE, add_links
from memci.storage.network.node_history import append_history, keep_versions
from memci.storage.network.nodes import delete_nodes, json_row

_NEXT_IDS = """
UPDATE lane SET last_node_id = last_node_id + %s WHERE agent_id = %s RETURNING last_node_id
"""
_LINKS = """
SELECT source, target, relation, strength, hint FROM link
 WHERE agent_id = %(agent)s AND source = ANY(%(nodes)s)
 UNION
SELECT source, target, relation, strength, hint FROM link
 WHERE agent_id = %(agent)s AND target = ANY(%(nodes)s)
"""
# Memories whose text stays keep their rows, and with them their slots (M19), under new ids; they
# count as made during the running pass, and wait for the next (M18). Rows are passed as JSON: they
# contain lists, which arrays of arrays cannot.
_MERGE = """
UPDATE node SET id = whole.id, keywords = whole.keywords,
                original_length = whole.original_length, worth = whole.worth,
                message_seqs = whole.seqs, said_at = whole.said_at,
                said_offset = whole.said_offset,
                expires_at = whole.expires_at, scan_count = whole.scan_count,
                last_pass = %(pass)s, compared = true, attempts = 0, retry_at = NULL,
                created_at = now()
  FROM jsonb_to_recordset(%(wholes)s) AS whole(
       id bigint, teller bigint, keywords text[], original_length integer, worth float8,
       seqs bigint[], said_at timestamptz, said_offset smallint, expires_at timestamptz,
       scan_count bigint)
 WHERE node.agent_id = %(agent)s AND node.id = whole.teller
"""
_MOVE = """
UPDATE {table} SET node_id = merged.new
  FROM unnest(%(tellers)s::bigint[], %(wholes_ids)s::bigint[]) AS merged(old, new)
 WHERE {table}.agent_id = %(agent)s AND {table}.node_id = merged.old
"""
_DELETE_LINKS_TO = "DELETE FROM link WHERE agent_id = %(agent)s AND target = ANY(%(nodes)s)"
# A memory that one of them superseded is superseded by the merged one.
_SUCCEED = """
UPDATE node SET superseded_by = merged.new
  FROM unnest(%(nodes)s::bigint[], %(news)s::bigint[]) AS merged(old, new)
 WHERE node.agent_id = %(agent)s AND node.superseded_by = merged.old
   AND node.id IN (SELECT node_id FROM node_version
                    WHERE agent_id = %(agent)s AND replaced_by = ANY(%(nodes)s))
"""


def links_at(connection: Connection, agent_id: str, nodes: Collection[int]) -> list[Link]:
    """Return all links from and to some nodes."""
    rows = connection.exec_driver_sql(_LINKS, {"agent": agent_id, "nodes": list(nodes)})
    return [Link(*row) for row in rows]


def new_node_ids(connection: Connection, agent_id: str, count: int) -> range:
    """Return unused node ids (M1); the lane must be locked."""
    last = int(connection.exec_driver_sql(_NEXT_IDS, (count, agent_id)).scalar_one())
    return range(last - count + 1, last + 1)


def write_merges(
    connection: Connection,
    agent_id: str,
    merges: Sequence[Merge],
    links: Sequence[Link],
    pass_number: int,
    job: str,
) -> None:
    """Replace each group of memories by one; no memory is in two groups. The lane must be locked.

    ``links``: all links of the merged memories; every link at one of them becomes a link at the new
    one.
    """
    if not merges:
        return
    merged_into = {node: each.node.id for each in merges for node in each.group}
    values = {
        "agent": agent_id,
        "nodes": list(merged_into),
        "news": list(merged_into.values()),
        "tellers": [each.text_of for each in merges],
        "wholes_ids": [each.node.id for each in merges],
        "wholes": Jsonb([json_row(each.node, teller=each.text_of) for each in merges]),
        "pass": pass_number,
    }
    keep_versions(connection, agent_id, merged_into, VersionReason.MERGED)
    for statement in (_MERGE, _MOVE.format(table="node_vector"), _MOVE.format(table="node_term")):
        connection.exec_driver_sql(statement, values)
    delete_nodes(connection, agent_id, merged_into)
    for statement in (_DELETE_LINKS_TO, _SUCCEED):
        connection.exec_driver_sql(statement, values)
    merged_links = [each for each in links if merged_into.keys() & {each.source, each.target}]
    add_links(connection, agent_id, joined_links(merged_links, merged_into))
    merged = {node: {"into": new} for node, new in merged_into.items()}
    append_history(connection, agent_id, NodeEvent.MERGED, pass_number, merged)
    made = {each.node.id: {"job": job, **each.details()} for each in merges}
    append_history(connection, agent_id, NodeEvent.CREATED, pass_number, made)


# Memories that were not compared with any, the oldest first.
_YOUNG = """
SELECT id FROM node WHERE agent_id = %(agent)s AND tier = 'short' AND kind = 'memory'
   AND NOT compared ORDER BY id LIMIT %(most)s
"""
# For a model that finds all texts alike, for example in a language that it does not know.
_MOST_PAIRS = 100_000
# Each pair once. Memories of different sessions, users or days are never compared.
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
   AND n.superseded_by IS NULL AND NOT n.pinned
"""
_COMPARED = "UPDATE node SET compared = true WHERE agent_id = %s AND id = ANY(%s)"
# The last message of each session with short-term memories, and where it was ended.
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
SELECT n.id, {IMPORTANCE.format(node="n")} AS importance, n.worth,
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
# The messages of each memory: in a rebuilt network it has another id.
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
    """When short terms end."""

    now: datetime
    silence: timedelta  # ends a session
    over: bool = False  # all short terms end, since tiers are switched off


def young_memories(connection: Connection, agent_id: str, most: int) -> list[int]:
    """Return short-term memories that have not been compared with others, ascending."""
    values = {"agent": agent_id, "most": most}
    return list(connection.exec_driver_sql(_YOUNG, values).scalars())


def alike_pairs(
    connection: Connection, agent_id: str, young: Collection[int], least: float
) -> list[tuple[int, int]]:
    """Return pairs of short-term memories of a session and day with at least this cosine.

    The most similar come first; pairs beyond about a second of work are left out. One of each pair
    is in ``young``; the other is, too, or was compared before.
    """
    if not young:
        return []
    values = {"agent": agent_id, "young": list(young), "least": least, "most": _MOST_PAIRS}
    return [(one, other) for one, other in connection.exec_driver_sql(_ALIKE, values)]


def short_memories(
    connection: Connection, agent_id: str, nodes: Collection[int]
) -> dict[int, ShortMemory]:
    """Return the nodes that are short-term memories and not superseded, by id."""
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
    """Mark memories as compared with all others."""
    if nodes:
        connection.exec_driver_sql(_COMPARED, (agent_id, list(nodes)))


def due_memories(connection: Connection, agent_id: str, term: Term) -> list[DueMemory]:
    """Return the short-term memories whose session has ended or whose time is over."""
    values = {
        "agent": agent_id,
        "now": term.now,
        "silence": term.silence,
        "all": term.over,
    }
    return [DueMemory(*row) for row in connection.exec_driver_sql(_DUE, values)]


def made_of(
    connection: Connection, agent_id: str, nodes: Collection[int] | None = None
) -> dict[int, Source]:
    """Return the sources of short-term memories, ascending; of all, or of ``nodes``."""
    values = {"agent": agent_id, "nodes": None if nodes is None else list(nodes)}
    rows = connection.exec_driver_sql(_MADE_OF, values)
    return {row.id: (tuple(row.message_seqs), tuple(row.span or ())) for row in rows}


def next_end(connection: Connection, agent_id: str, silence: timedelta) -> datetime | None:
    """Return when the next short term ends; None if there is no short-term memory."""
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
    """Make short-term memories long-term ones, and store the reason for each, if any."""
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
    append_history(connection, agent_id, NodeEvent.PROMOTED, pass_number, reasons)
    ordinary: dict[int, dict[str, str]] = {node: {} for node, why in judged.items() if why is None}
    append_history(connection, agent_id, NodeEvent.SETTLED, pass_number, ordinary)


# Unchanged if an earlier end is stored: then no index is written.
_NOTE = """
UPDATE lane SET new_memories = new_memories + %(memories)s,
                expire_at = CASE WHEN %(end)s::timestamptz IS NULL THEN expire_at ELSE
                    least(expire_at, %(end)s, now() + %(silence)s) END
WHERE agent_id = %(agent)s RETURNING new_memories
"""
_COUNTED = "UPDATE lane SET new_memories = %s WHERE agent_id = %s"
_ENDS = "UPDATE lane SET expire_at = %s WHERE agent_id = %s"


def note_new(
    connection: Connection,
    agent_id: str,
    memories: int,
    expire_at: datetime | None,
    *,
    silence: timedelta,
) -> int:
    """Add to the count of new memories; return the count.

    The earliest end of their short terms is ``expire_at`` (None: there is none), or when their
    session has been silent for ``silence``.
    """
    values = {"agent": agent_id, "memories": memories, "end": expire_at, "silence": silence}
    return int(connection.exec_driver_sql(_NOTE, values).scalar_one())


def count_new(connection: Connection, agent_id: str, memories: int) -> None:
    """Store how many memories have not been compared with others."""
    connection.exec_driver_sql(_COUNTED, (memories, agent_id))


def note_end(connection: Connection, agent_id: str, expire_at: datetime | None) -> None:
    """Store when the next short term ends; None if none is left."""
    connection.exec_driver_sql(_ENDS, (expire_at, agent_id))
