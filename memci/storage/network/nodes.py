"""Adds, finds and forgets nodes; finds a slot for each new node (M19)."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from psycopg.types.json import Jsonb
from pydantic_core import to_jsonable_python
from sqlalchemy import Connection

from memci.domain.memory.compression_scan import Forgetting
from memci.domain.memory.consolidation import ShortMemory
from memci.domain.memory.creation import NewNode, draw, least_important
from memci.domain.memory.node import NodeEvent, importance
from memci.language.times.calendar import offset_of
from memci.storage.messages import in_session
from memci.storage.network.links import supports_of
from memci.storage.network.node_history import append_history

# Rows are passed as JSON if they contain lists of different lengths, which arrays cannot.
# A new node counts as scanned by the running pass: it waits for the next one (M18).
_ADD = """
INSERT INTO node (agent_id, id, slot, kind, type, content, original_length, phrase, keywords,
                  language, entity_key, worth, message_seqs, session_id, user_id, said_at,
                  said_offset, tier, expires_at, pinned, last_pass)
SELECT %(agent)s, id, slot, kind, type, content, char_length(content), phrase, keywords,
       language, entity_key, worth, seqs, session_id, user_id, said_at,
       said_offset, tier, expires_at, pinned, %(pass)s
FROM jsonb_to_recordset(%(nodes)s) AS new(
    id bigint, slot bigint, kind text, type text, content text, phrase text, keywords text[],
    language text, entity_key text, worth float8, seqs bigint[], session_id text,
    user_id text, said_at timestamptz, said_offset smallint, tier text, expires_at timestamptz,
    pinned boolean)
"""
_ENTITIES = "SELECT entity_key, id FROM node WHERE agent_id = %s AND entity_key = ANY(%s)"
_PHRASES = "SELECT id, phrase FROM node WHERE agent_id = %s AND id = ANY(%s)"
_BEGINNINGS = """
SELECT id, left(content, %(most)s)
       || CASE WHEN length(content) > %(most)s THEN '…' ELSE '' END AS text
  FROM node WHERE agent_id = %(agent)s AND id = ANY(%(nodes)s)
"""
# By the last message, since merged and restored memories have new ids. Two statements, since "IS
# NOT DISTINCT FROM" would use no index.
_LAST_OF_SESSION = """
SELECT n.id FROM node n
 WHERE n.agent_id = %(agent)s AND n.session_id {session} AND n.kind = 'memory'
 ORDER BY n.message_seqs[cardinality(n.message_seqs)] DESC, n.id DESC LIMIT 1
"""
_LAST_OF_SESSIONS = f"""
SELECT asked.session_id, last.id
  FROM unnest(%(sessions)s::text[]) AS asked(session_id)
 CROSS JOIN LATERAL ({_LAST_OF_SESSION.format(session="= asked.session_id")}) AS last
 UNION ALL
SELECT NULL, last.id
  FROM (SELECT WHERE %(without)s) AS asked
 CROSS JOIN LATERAL ({_LAST_OF_SESSION.format(session="IS NULL")}) AS last
"""  # noqa: S608 - a constant of this module
# The order of memories: the last message, the first one that is not only quoted, and the start in
# that one.
_BEFORE = """
SELECT n.id FROM node n
 CROSS JOIN LATERAL (
     SELECT min(t.first) AS first, min(t.start) AS start FROM (
         SELECT coalesce((o.details->'span'->>0)::bigint, 0) AS start,
                (SELECT min(seq) FROM unnest(n.message_seqs) AS each(seq)
                  WHERE NOT coalesce(o.details->'quoted' @> to_jsonb(seq), false)) AS first
           FROM trail o
          WHERE o.agent_id = n.agent_id AND o.node_id = n.id AND o.event = 'created') t
     OFFSET 0) made
 WHERE n.agent_id = %(agent)s AND n.session_id {session} AND n.kind = 'memory'
   AND n.message_seqs[cardinality(n.message_seqs)] <= %(seq)s
   AND (n.message_seqs[cardinality(n.message_seqs)] < %(seq)s
        OR (made.first, made.start) < (%(seq)s, %(start)s))
 ORDER BY n.message_seqs[cardinality(n.message_seqs)] DESC, made.first DESC, made.start DESC,
          n.id DESC LIMIT 1
"""
_HIGHEST_SLOT = "SELECT coalesce(max(slot), 0) FROM node WHERE agent_id = %s"
_FREE_SLOTS = """
SELECT free FROM generate_series(1, %(capacity)s) AS free
WHERE NOT EXISTS (SELECT 1 FROM node WHERE agent_id = %(agent)s AND slot = free)
ORDER BY free
LIMIT greatest(least(%(wanted)s, %(capacity)s
                     - (SELECT count(*) FROM node WHERE agent_id = %(agent)s)), 0)
"""
_CANDIDATES = """
SELECT id FROM node WHERE agent_id = %(agent)s AND id <> ALL(%(kept)s) AND NOT pinned
AND NOT EXISTS (SELECT 1 FROM focus WHERE agent_id = %(agent)s AND node_id = node.id)
ORDER BY id
"""
_DELETE = "DELETE FROM node WHERE agent_id = %s AND id = ANY(%s) RETURNING id, slot, tier"
_DELETE_WITH_IT = (
    "DELETE FROM link WHERE agent_id = %s AND source = ANY(%s)",
    "DELETE FROM node_vector WHERE agent_id = %s AND node_id = ANY(%s)",
    "DELETE FROM node_term WHERE agent_id = %s AND node_id = ANY(%s)",
)


def add_nodes(
    connection: Connection,
    agent_id: str,
    nodes: Sequence[NewNode],
    slots: Sequence[int],
    pass_number: int,
) -> None:
    """Write new nodes into slots; raises the last node id of the lane, which must be locked."""
    if not nodes:
        return
    rows = [json_row(node, slot=slot) for node, slot in zip(nodes, slots, strict=True)]
    connection.exec_driver_sql(_ADD, {"agent": agent_id, "pass": pass_number, "nodes": Jsonb(rows)})
    connection.exec_driver_sql(
        "UPDATE lane SET last_node_id = %s WHERE agent_id = %s",
        (max(node.id for node in nodes), agent_id),
    )


def entity_nodes(connection: Connection, agent_id: str, keys: Collection[str]) -> dict[str, int]:
    """Return the living nodes of entities, by key."""
    rows = connection.exec_driver_sql(_ENTITIES, (agent_id, list(keys)))
    return {row.entity_key: row.id for row in rows}


def phrases_of(connection: Connection, agent_id: str, nodes: Collection[int]) -> dict[int, str]:
    """Return the phrases of living nodes."""
    rows = connection.exec_driver_sql(_PHRASES, (agent_id, list(nodes)))
    return {row.id: row.phrase for row in rows}


def beginnings_of(
    connection: Connection, agent_id: str, nodes: Collection[int], characters: int
) -> dict[int, str]:
    """Return the first characters of the texts of living nodes; cut ones end with "…"."""
    values = {"most": characters, "agent": agent_id, "nodes": list(nodes)}
    rows = connection.exec_driver_sql(_BEGINNINGS, values)
    return {row.id: row.text for row in rows}


def last_memories(
    connection: Connection, agent_id: str, sessions: Collection[str | None]
) -> dict[str | None, int]:
    """Return the living memory of each session that contains its latest message (M7).

    The key None stands for messages without a session.
    """
    values = {
        "agent": agent_id,
        "sessions": [each for each in sessions if each is not None],
        "without": None in sessions,
    }
    rows = connection.exec_driver_sql(_LAST_OF_SESSIONS, values).all()
    return {session: node for session, node in rows}  # noqa: C416 - dict() refuses rows


def memory_before(
    connection: Connection, agent_id: str, session_id: str | None, seq: int, start: int
) -> int | None:
    """Return the living memory of a session right before a place in it (M7).

    The place is a message and a number of its characters, blanks not counted.
    """
    statement = in_session(_BEFORE, session_id)
    values = {"agent": agent_id, "session": session_id, "seq": seq, "start": start}
    return connection.exec_driver_sql(statement, values).scalar()


def free_slots(connection: Connection, agent_id: str, wanted: int, capacity: int) -> list[int]:
    """Return at most ``wanted`` free slots; ``capacity`` 0 is unbounded (M19).

    Slots above the highest one are taken first: a search for gaps reads the whole network.
    """
    highest: int = connection.exec_driver_sql(_HIGHEST_SLOT, (agent_id,)).scalar_one()
    if not capacity or highest + wanted <= capacity:
        return list(range(highest + 1, highest + wanted + 1))
    values = {"agent": agent_id, "wanted": wanted, "capacity": capacity}
    return list(connection.exec_driver_sql(_FREE_SLOTS, values).scalars())


def eviction_candidates(connection: Connection, agent_id: str, kept: Collection[int]) -> list[int]:
    """Return the nodes that may give up their slot: no focus points, no pinned ones (M19).

    None of ``kept``. Ordered by id, so that the same draws evict the same nodes when a network is
    rebuilt.
    """
    values = {"agent": agent_id, "kept": list(kept)}
    return list(connection.exec_driver_sql(_CANDIDATES, values).scalars())


def delete_nodes(
    connection: Connection, agent_id: str, nodes: Collection[int]
) -> list[tuple[int, int, str]]:
    """Delete nodes with their own links; return the id, slot and tier of each."""
    rows = connection.exec_driver_sql(_DELETE, (agent_id, list(nodes)))
    deleted = [(node, slot, tier) for node, slot, tier in rows]
    for statement in _DELETE_WITH_IT:
        connection.exec_driver_sql(statement, (agent_id, list(nodes)))
    return deleted


def forget_nodes(
    connection: Connection, agent_id: str, reasons: Mapping[int, Forgetting], pass_number: int
) -> list[int]:
    """Delete nodes with their own links, and return their slots (M14).

    Links to them stay and dangle.
    """
    if not reasons:
        return []
    forgotten = delete_nodes(connection, agent_id, reasons)
    # Links to it need the tier: not every reader may see a short-term memory.
    details = {node: {"reason": reasons[node], "tier": tier} for node, _, tier in forgotten}
    append_history(connection, agent_id, NodeEvent.FORGOTTEN, pass_number, details)
    return [slot for _, slot, _ in forgotten]


def json_row(node: NewNode | ShortMemory, **further: int) -> dict[str, Any]:
    """Return a node as JSON values, by column, with some further ones."""
    offset = offset_of(node.said_at) if node.said_at else None
    return {**to_jsonable_python(node), "said_offset": offset, **further}


@dataclass(frozen=True, slots=True)
class SlotNeed:
    """A request for slots."""

    wanted: int
    capacity: int  # of the network; 0: unbounded
    kept: Collection[int] = ()  # nodes that never give up their slots
    spared: Collection[int] = ()  # nodes that give up their slots only if no others are left


@dataclass(frozen=True, slots=True)
class TakenSlots:
    """Slots for new nodes."""

    slots: list[int]
    of_spared: bool = False  # some were of spared nodes


def take_slots(
    connection: Connection, agent_id: str, need: SlotNeed, pass_number: int, random: Random
) -> TakenSlots:
    """Return slots for as many new nodes as needed, or as possible.

    Nodes are evicted if no slot is free, but never focus points and kept nodes. A network above a
    capacity that was lowered shrinks by forgetting alone.
    """
    slots = free_slots(connection, agent_id, need.wanted, need.capacity)
    missing = need.wanted - len(slots)
    if not missing:
        return TakenSlots(slots)
    candidates = eviction_candidates(connection, agent_id, need.kept)
    spared = [node for node in candidates if node in need.spared]
    others = [node for node in candidates if node not in need.spared]
    victims = _draw_victims(connection, agent_id, others, missing, random)
    of_spared = _draw_victims(connection, agent_id, spared, missing - len(victims), random)
    reasons = dict.fromkeys(victims | of_spared, Forgetting.SLOT_TAKEN)
    slots += forget_nodes(connection, agent_id, reasons, pass_number)
    return TakenSlots(slots, bool(of_spared))


def _draw_victims(
    connection: Connection, agent_id: str, candidates: list[int], count: int, random: Random
) -> set[int]:
    """Return ``count`` of the candidates, or all: each the least important of a random sample."""
    victims: set[int] = set()
    while candidates and len(victims) < count:
        lots = [draw(candidates, random) for _ in range(count - len(victims))]
        drawn = {node for lot in lots for node in lot}
        supports = supports_of(connection, agent_id, drawn)
        importances = {node: importance(supports.get(node, {}).values()) for node in drawn}
        victims |= least_important(lots, importances)
        candidates = [node for node in candidates if node not in victims]
    return victims
