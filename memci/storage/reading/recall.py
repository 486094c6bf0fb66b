"""What recall asks of the network: focus, links of a layer, matches, and what was forgotten."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection

from memci.domain.language import Language
from memci.domain.memory.node import NodeKind
from memci.domain.memory.recall import Forgotten, Step
from memci.domain.offset import at_offset
from memci.storage.reading.sight import EVERYTHING, Sight
from memci.storage.reading.terms import keyword_columns
from memci.storage.vectors import Vectors, to_text

_FOCUS = "SELECT node_id FROM focus WHERE agent_id = %s ORDER BY mentioned DESC"
# Both ways: a link leads from its target back to its source as well (M20).
_STEPS = """
SELECT l.source, l.target, l.relation, l.strength, l.hint, n.kind
  FROM link l LEFT JOIN node n ON n.agent_id = l.agent_id AND n.id = l.target
 WHERE l.agent_id = %(agent)s AND l.source = ANY(%(frontier)s)
   AND (%(relations)s::text[] IS NULL OR l.relation = ANY(%(relations)s))
   AND CASE WHEN n.id IS NULL THEN {gone} ELSE n.kind = 'entity' OR ({seen}) END
 UNION ALL
SELECT l.target, l.source, l.relation, l.strength, l.hint, n.kind
  FROM link l JOIN node n ON n.agent_id = l.agent_id AND n.id = l.source
 WHERE l.agent_id = %(agent)s AND l.target = ANY(%(frontier)s)
   AND (%(relations)s::text[] IS NULL OR l.relation = ANY(%(relations)s))
   AND (n.kind = 'entity' OR ({seen}))
"""
# A keyword is there when all its terms are.
_BY_TERMS = """
SELECT DISTINCT found.node_id
  FROM (SELECT k.keyword, t.node_id
          FROM unnest(%(keywords)s::int[], %(terms)s::text[], %(needed)s::int[])
               AS k(keyword, term, needed)
         CROSS JOIN LATERAL (SELECT node_id FROM node_term
                              WHERE agent_id = %(agent)s AND term = k.term OFFSET 0) t
         GROUP BY k.keyword, t.node_id HAVING count(*) = max(k.needed)) found
"""
# One Chinese character is no term of the index, which holds pairs: look into the texts.
_BY_CHARACTER = """
SELECT id FROM node WHERE agent_id = %s AND kind = 'memory'
   AND EXISTS (SELECT 1 FROM unnest(%s::text[]) AS k(word) WHERE strpos(content, k.word) > 0)
"""
# The vectors are read once, and each distance is taken once: a cast in the join would be repeated.
_BY_COSINE = """
WITH asked AS MATERIALIZED (
    SELECT vector::halfvec AS vector FROM unnest(%(vectors)s::text[]) AS k(vector)),
near AS MATERIALIZED (
    SELECT v.node_id, v.embedding <=> asked.vector AS distance
      FROM node_vector v CROSS JOIN asked WHERE v.agent_id = %(agent)s AND v.model = %(model)s)
SELECT node_id, 1 - min(distance) FROM near
 WHERE distance <= 1 - %(least)s::float8 GROUP BY node_id
"""
_ALL_DANGLING = """
SELECT l.target, l.relation, l.strength, l.hint FROM link l
 WHERE l.agent_id = %(agent)s
   AND (%(relations)s::text[] IS NULL OR l.relation = ANY(%(relations)s))
   AND NOT EXISTS (SELECT 1 FROM node n WHERE n.agent_id = l.agent_id AND n.id = l.target)
   AND {gone}
 ORDER BY l.strength DESC, l.source
"""
_MEMORIES = """
SELECT n.id, n.content, n.phrase, n.type, n.language, n.message_seqs, n.said_at,
       coalesce((SELECT sum(l.strength) FROM link l
                  WHERE l.agent_id = n.agent_id AND l.source = n.id AND EXISTS (
                        SELECT 1 FROM node t WHERE t.agent_id = l.agent_id AND t.id = l.target)
                ), 0::float8),
       n.superseded_by, n.superseded_at, n.said_offset,
       CASE WHEN s.id IS NULL THEN n.said_offset ELSE s.said_offset END
  FROM node n LEFT JOIN node s ON s.agent_id = n.agent_id AND s.id = n.superseded_by
 WHERE n.agent_id = %s AND n.id = ANY(%s)
"""
# Restorable: a memory that was not erased, and the messages that it was created from are stored.
_RESTORABLE = """
SELECT t.node_id FROM trail t
 WHERE t.agent_id = %(agent)s AND t.node_id = ANY(%(nodes)s) AND t.event = 'created'
   AND jsonb_array_length(t.details->'messages') > 0
   AND t.details->>'kind' IS DISTINCT FROM 'entity'
   AND NOT EXISTS (SELECT 1 FROM trail e WHERE e.agent_id = t.agent_id AND e.node_id = t.node_id
                                           AND e.event IN ('erased', 'merged'))
   AND NOT EXISTS (
       SELECT 1 FROM jsonb_array_elements_text(t.details->'messages') AS origin(message)
        WHERE NOT EXISTS (SELECT 1 FROM message m
                           WHERE m.agent_id = %(agent)s AND m.seq = origin.message::bigint))
"""


_KINDS = {kind.value: kind for kind in NodeKind}


@dataclass(frozen=True, slots=True)
class Memory:
    """A memory node's text and what belongs to it; ``importance`` by M11."""

    node_id: int
    content: str
    phrase: str
    type: str
    language: Language
    seqs: tuple[int, ...]
    said_at: datetime | None
    importance: float
    superseded_by: int | None = None
    superseded_at: datetime | None = None


def focus_points(connection: Connection, agent_id: str) -> list[int]:
    """Return the focus list, the latest mention first."""
    return [row[0] for row in connection.exec_driver_sql(_FOCUS, (agent_id,))]


def steps_from(
    connection: Connection,
    agent_id: str,
    frontier: Sequence[int],
    relations: Sequence[str],
    sight: Sight = EVERYTHING,
) -> Iterable[Step]:
    """Return all links at these nodes, both ways; of some ``relations`` only, if given.

    None of them leads to a memory that is out of ``sight``, or was when it was forgotten.
    """
    if not frontier:
        return ()
    values = {
        **sight.values,
        "agent": agent_id,
        "frontier": list(frontier),
        "relations": list(relations) or None,
    }
    statement = _STEPS.format(seen=sight.condition, gone=sight.gone_condition)
    rows = connection.exec_driver_sql(statement, values).all()
    return [
        Step(origin, neighbour, relation, strength, hint, _KINDS.get(kind))
        for origin, neighbour, relation, strength, hint, kind in rows
    ]


def nodes_by_terms(
    connection: Connection, agent_id: str, keywords: Iterable[Collection[str]]
) -> set[int]:
    """Return nodes that hold any keyword, each given as its terms, with all of them."""
    numbers, terms, needed = keyword_columns(keywords)
    if not terms:
        return set()
    values = {"agent": agent_id, "keywords": numbers, "terms": terms, "needed": needed}
    return {row[0] for row in connection.exec_driver_sql(_BY_TERMS, values).all()}


def nodes_by_character(
    connection: Connection, agent_id: str, characters: Sequence[str]
) -> set[int]:
    """Return memories whose text holds any of these characters."""
    if not characters:
        return set()
    rows = connection.exec_driver_sql(_BY_CHARACTER, (agent_id, list(characters)))
    return {row[0] for row in rows}


def nodes_by_cosine(
    connection: Connection, agent_id: str, vectors: Vectors, *, model: str, least: float
) -> dict[int, float]:
    """Return nodes at least this similar to any of the vectors, with their best cosine."""
    if not len(vectors):
        return {}
    values = {"agent": agent_id, "vectors": to_text(vectors), "model": model, "least": least}
    rows = connection.exec_driver_sql(_BY_COSINE, values).all()
    return {node_id: cosine for node_id, cosine in rows}  # noqa: C416 - dict() refuses rows


def dangling_links(
    connection: Connection, agent_id: str, relations: Sequence[str], sight: Sight = EVERYTHING
) -> list[Forgotten]:
    """Return what any link still says of nodes that are gone and were in ``sight``.

    Their layers are not known (0).
    """
    values = {**sight.values, "agent": agent_id, "relations": list(relations) or None}
    statement = _ALL_DANGLING.format(gone=sight.gone_condition)
    rows = connection.exec_driver_sql(statement, values)
    strongest: dict[int, Forgotten] = {}
    for target, relation, strength, hint in rows:
        strongest.setdefault(target, Forgotten(target, relation, hint, 0, strength))
    return list(strongest.values())


def memories(connection: Connection, agent_id: str, node_ids: Sequence[int]) -> dict[int, Memory]:
    """Return these memories by id."""
    if not node_ids:
        return {}
    rows = connection.exec_driver_sql(_MEMORIES, (agent_id, list(node_ids)))
    return {
        row[0]: Memory(
            node_id=row[0],
            content=row[1],
            phrase=row[2],
            type=row[3],
            language=Language(row[4]),
            seqs=tuple(row[5]),
            said_at=row[6] and at_offset(row[6], row[10]),
            importance=row[7],
            superseded_by=row[8],
            superseded_at=row[9] and at_offset(row[9], row[11]),
        )
        for row in rows
    }


def restorable(connection: Connection, agent_id: str, node_ids: Sequence[int]) -> set[int]:
    """Return those of these forgotten nodes that can be made anew (M24)."""
    if not node_ids:
        return set()
    values = {"agent": agent_id, "nodes": list(node_ids)}
    return {row[0] for row in connection.exec_driver_sql(_RESTORABLE, values)}
