"""Reads for recall: focus, links, matches, visibility, forgotten memories (M20, M23, R5, R6)."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection

from memci.domain.memory.node import NodeKind
from memci.domain.memory.recall import Forgotten, Step
from memci.language.detection import Language
from memci.language.times.calendar import at_offset
from memci.storage.network.links import IMPORTANCE
from memci.storage.search.find import Restriction
from memci.storage.search.sources import message_filters, node_filters
from memci.storage.search.vectors import Vectors, to_text

_SEEN = "SELECT m.id FROM node m WHERE m.agent_id = %(agent)s AND m.id = ANY(%(nodes)s) "
# The forgotten node of a dangling link ``l``. Its session and user are those of its last message,
# since no trail keeps them. Without a known tier it counts as short-term. Once any of its messages
# is erased, there are no links to it.
_WAS = """
SELECT coalesce((SELECT f.details->>'tier' FROM trail f
                  WHERE f.agent_id = %(agent)s AND f.node_id = l.target AND f.event = 'forgotten'
                  LIMIT 1), 'short') AS tier, m.session_id, m.user_id, m.said_at
  FROM (SELECT (t.details->'messages'->>-1)::bigint AS seq FROM trail t
         WHERE t.agent_id = %(agent)s AND t.node_id = l.target AND t.event = 'created'
        OFFSET 0) c
 CROSS JOIN LATERAL (SELECT session_id, user_id, said_at FROM message
                      WHERE agent_id = %(agent)s AND seq = c.seq OFFSET 0) m
"""
# Looked up link by link: as a join it may be planned to read the whole trail for each.
_GONE = "AND EXISTS (SELECT 1 FROM ({was}) m WHERE true {filters} OFFSET 0)"
EVERYTHING = Restriction()


def seen(
    connection: Connection, agent_id: str, nodes: Collection[int], restriction: Restriction
) -> set[int]:
    """Return the nodes that are visible."""
    asked = restriction.values()
    if not asked or not nodes:
        return set(nodes)
    values = {**asked, "agent": agent_id, "nodes": list(nodes)}
    return set(connection.exec_driver_sql(_SEEN + node_filters(asked), values).scalars())


def _if_gone(asked: Mapping[str, object]) -> str:
    """Return the condition that the forgotten target of a link ``l`` was visible.

    A forgotten entity is visible to readers who may see the message that first named it.
    """
    return _GONE.format(was=_WAS, filters=node_filters(asked)) if asked else ""


# Both ways: a link leads from its target back to its source as well (M20).
_STEPS = """
SELECT l.source, l.target, l.relation, l.strength, l.hint, m.kind
  FROM link l LEFT JOIN node m ON m.agent_id = l.agent_id AND m.id = l.target
 WHERE l.agent_id = %(agent)s AND l.source = ANY(%(frontier)s)
   AND (%(relations)s::text[] IS NULL OR l.relation = ANY(%(relations)s))
   AND CASE WHEN m.id IS NULL THEN true {forgotten} ELSE m.kind = 'entity' OR true {seen} END
 UNION ALL
SELECT l.target, l.source, l.relation, l.strength, l.hint, m.kind
  FROM link l JOIN node m ON m.agent_id = l.agent_id AND m.id = l.source
 WHERE l.agent_id = %(agent)s AND l.target = ANY(%(frontier)s)
   AND (%(relations)s::text[] IS NULL OR l.relation = ANY(%(relations)s))
   AND (m.kind = 'entity' OR true {seen})
"""
# A keyword is present if all its terms are.
_WITH_KEYWORD = """
  FROM (SELECT k.keyword, t.{key}
          FROM unnest(%(keywords)s::int[], %(terms)s::text[], %(needed)s::int[])
               AS k(keyword, term, needed)
         CROSS JOIN LATERAL (SELECT {key} FROM {postings}
                              WHERE agent_id = %(agent)s AND term = k.term OFFSET 0) t
         GROUP BY k.keyword, t.{key} HAVING count(*) = max(k.needed)) found
"""
_BY_TERMS = "SELECT DISTINCT found.node_id " + _WITH_KEYWORD.format(
    key="node_id", postings="node_term"
)
# A single Chinese character is not in the index, which has pairs: the texts are searched.
_BY_CHARACTER = """
SELECT id FROM node WHERE agent_id = %(agent)s AND kind = 'memory'
   AND EXISTS (SELECT 1 FROM unnest(%(characters)s::text[]) AS k(word)
                WHERE strpos(content, k.word) > 0)
"""
# The vectors are read once, and each distance is taken once: a cast in the join would be repeated.
_BY_COSINE = """
WITH asked AS MATERIALIZED (
    SELECT vector::halfvec AS vector, language
      FROM unnest(%(vectors)s::text[], %(languages)s::text[]) AS k(vector, language)),
near AS MATERIALIZED (
    SELECT v.node_id, asked.language, v.embedding <=> asked.vector AS distance
      FROM node_vector v CROSS JOIN asked WHERE v.agent_id = %(agent)s AND v.model = %(model)s)
SELECT node_id, 1 - min(distance)
  FROM near JOIN node n ON n.agent_id = %(agent)s AND n.id = near.node_id
 WHERE distance <= 1 - CASE WHEN n.language = near.language THEN %(least)s::float8
                            ELSE %(across)s::float8 END
 GROUP BY node_id
"""
_ALL_DANGLING = """
SELECT l.target, l.relation, l.strength, l.hint FROM link l
 WHERE l.agent_id = %(agent)s
   AND (%(relations)s::text[] IS NULL OR l.relation = ANY(%(relations)s))
   AND NOT EXISTS (SELECT 1 FROM node n WHERE n.agent_id = l.agent_id AND n.id = l.target)
   {forgotten}
 ORDER BY l.strength DESC, l.source
"""
_MEMORIES = f"""
SELECT n.id, n.content, n.phrase, n.type, n.language, n.message_seqs, n.said_at,
       {IMPORTANCE.format(node="n")},
       n.superseded_by, n.superseded_at, n.said_offset,
       CASE WHEN s.id IS NULL THEN n.said_offset ELSE s.said_offset END
  FROM node n LEFT JOIN node s ON s.agent_id = n.agent_id AND s.id = n.superseded_by
 WHERE n.agent_id = %s AND n.id = ANY(%s)
"""  # noqa: S608 - a constant of another module
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
    """A memory node's text and properties; ``importance`` by M11."""

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


def steps_from(
    connection: Connection,
    agent_id: str,
    frontier: Sequence[int],
    relations: Sequence[str],
    restriction: Restriction = EVERYTHING,
) -> Iterable[Step]:
    """Return all links of these nodes, both ways; only of some ``relations``, if given.

    Links to memories that are not visible, or were not when they were forgotten, are left out.
    """
    if not frontier:
        return ()
    asked = restriction.values()
    values = {
        **asked,
        "agent": agent_id,
        "frontier": list(frontier),
        "relations": list(relations) or None,
    }
    statement = _STEPS.format(seen=node_filters(asked), forgotten=_if_gone(asked))
    rows = connection.exec_driver_sql(statement, values).all()
    return [
        Step(origin, neighbour, relation, strength, hint, _KINDS.get(kind))
        for origin, neighbour, relation, strength, hint, kind in rows
    ]


def nodes_by_words(
    connection: Connection,
    agent_id: str,
    keywords: Iterable[Collection[str]],
    characters: Sequence[str],
) -> set[int]:
    """Return nodes that contain all terms of any keyword, or any of these characters."""
    values = _keyword_values(agent_id, keywords, characters)
    parts = [_BY_TERMS] * bool(values["terms"]) + [_BY_CHARACTER] * bool(characters)
    if not parts:
        return set()
    return set(connection.exec_driver_sql(" UNION ".join(parts), values).scalars())


def nodes_by_cosine(
    connection: Connection,
    agent_id: str,
    vectors: Vectors,
    languages: Sequence[Language],
    model: str,
    least: tuple[float, float],
) -> dict[int, float]:
    """Return nodes similar to any of the vectors, with their best cosine.

    ``languages``: of each vector's text. ``least``: the cosine of a match in the same language, and
    across languages.
    """
    if not len(vectors):
        return {}
    same, across = least
    values = {
        "agent": agent_id,
        "vectors": to_text(vectors),
        "languages": list(languages),
        "model": model,
        "least": same,
        "across": across,
    }
    rows = connection.exec_driver_sql(_BY_COSINE, values).all()
    return {node_id: cosine for node_id, cosine in rows}  # noqa: C416 - dict() refuses rows


def dangling_links(
    connection: Connection,
    agent_id: str,
    relations: Sequence[str],
    restriction: Restriction = EVERYTHING,
) -> list[Forgotten]:
    """Return forgotten nodes that were visible, as their links describe them; in layer 0."""
    asked = restriction.values()
    values = {**asked, "agent": agent_id, "relations": list(relations) or None}
    statement = _ALL_DANGLING.format(forgotten=_if_gone(asked))
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
    """Return the forgotten nodes that can be restored (M24)."""
    if not node_ids:
        return set()
    values = {"agent": agent_id, "nodes": list(node_ids)}
    return {row[0] for row in connection.exec_driver_sql(_RESTORABLE, values)}


# Messages of memories, and those whose memories a rebuilt network has left out (M24), which only
# trails name: trails are read only if there is such a message. A message with a corrected or
# deleted part does not count: that was no knowledge.
_MADE = """
m.agent_id = %(agent)s {visibility} AND m.withheld IS NULL AND (m.memory_state = 'made'
    OR m.memory_state = 'none' AND m.remember = 'never' AND m.seq IN (
       SELECT taken::bigint FROM trail t
        CROSS JOIN LATERAL jsonb_array_elements_text(t.details->'messages') AS of(taken)
        WHERE t.agent_id = %(agent)s AND t.event = 'created'))
"""
# Without short-term memories of other sessions (R5).
_IN_REACH_OF_SESSION = """
AND NOT EXISTS (SELECT 1 FROM node h
                 WHERE h.agent_id = %(agent)s AND h.tier = 'short'
                   AND h.session_id IS DISTINCT FROM %(tier)s AND m.seq = ANY(h.message_seqs))
"""
_SEQS_BY_TERMS = f"""
SELECT found.seq {_WITH_KEYWORD.format(key="seq", postings="message_term")}
 CROSS JOIN LATERAL (SELECT 1 FROM message m WHERE m.seq = found.seq AND {{made}} OFFSET 0) made
"""  # noqa: S608 - constants of this module
_SEQS_BY_CHARACTER = """
SELECT m.seq FROM message m
  WHERE {made} AND EXISTS (SELECT 1 FROM unnest(%(characters)s::text[]) AS k(word)
                            WHERE strpos(m.content, k.word) > 0)
"""
# Ordered, so that this agent's rows are read instead of the first ones of the table.
_ANY = "({} ORDER BY m.seq DESC LIMIT 1) IS NOT NULL"
_MADE_ANY = _ANY.format("SELECT m.seq FROM message m WHERE {made}")
_MADE_BY_TERMS = f"EXISTS ({_SEQS_BY_TERMS})"
_MADE_BY_CHARACTER = _ANY.format(_SEQS_BY_CHARACTER)
# The memories of the latest of these messages, latest first.
_WHO_KNEW = """
WITH found AS ({seqs} ORDER BY 1 DESC LIMIT %(messages)s)
SELECT DISTINCT t.node_id FROM trail t
 CROSS JOIN LATERAL jsonb_array_elements_text(t.details->'messages') AS of(seq)
 WHERE t.agent_id = %(agent)s AND t.event = 'created' AND t.details->>'kind' IS NULL
   AND of.seq::bigint IN (SELECT seq FROM found)
 ORDER BY 1 DESC LIMIT %(messages)s
"""
_MOST_MESSAGES = 50
_FORGOTTEN_AT = """
SELECT node_id, max(at) FROM trail
 WHERE agent_id = %s AND node_id = ANY(%s) AND event = 'forgotten' GROUP BY node_id
"""


def was_known(
    connection: Connection,
    agent_id: str,
    keywords: Iterable[Collection[str]],
    characters: Sequence[str],
    restriction: Restriction,
) -> bool:
    """Return True if a visible message that became a memory contains all terms of a keyword.

    One of the ``characters``, which are in no index, counts as well. Without keywords and
    characters any such message counts.
    """
    values = _keyword_values(agent_id, keywords, characters, restriction)
    parts = [_MADE_BY_TERMS] * bool(values["terms"]) + [_MADE_BY_CHARACTER] * bool(characters)
    statement = "SELECT " + " OR ".join(parts or [_MADE_ANY]).format(made=_made(restriction))
    return bool(connection.exec_driver_sql(statement, values).scalar())


def nodes_with_keyword(
    connection: Connection,
    agent_id: str,
    keywords: Iterable[Collection[str]],
    characters: Sequence[str],
    restriction: Restriction,
) -> list[int]:
    """Return memories, living or not, of visible messages that contain a keyword; latest first.

    Of many messages only the latest are searched.
    """
    values = _keyword_values(agent_id, keywords, characters, restriction)
    parts = [_SEQS_BY_TERMS] * bool(values["terms"]) + [_SEQS_BY_CHARACTER] * bool(characters)
    if not parts:
        return []
    seqs = " UNION ".join(parts).format(made=_made(restriction))
    found = connection.exec_driver_sql(
        _WHO_KNEW.format(seqs=seqs), {**values, "messages": _MOST_MESSAGES}
    )
    return list(found.scalars())


def _keyword_values(
    agent_id: str,
    keywords: Iterable[Collection[str]],
    characters: Sequence[str],
    restriction: Restriction = EVERYTHING,
) -> dict[str, Any]:
    """Return the values of a search for keywords, each with its number and all its terms."""
    spread = [
        (number, term, len(set(terms)))
        for number, terms in enumerate(keywords)
        for term in sorted(set(terms))
    ]
    return {
        **restriction.values(),
        "agent": agent_id,
        "keywords": [number for number, _, _ in spread],
        "terms": [term for _, term, _ in spread],
        "needed": [needed for _, _, needed in spread],
        "characters": list(characters),
    }


def forgotten_at(
    connection: Connection, agent_id: str, nodes: Sequence[int]
) -> dict[int, datetime]:
    """Return when nodes were forgotten, for those whose trail says so."""
    if not nodes:
        return {}
    rows = connection.exec_driver_sql(_FORGOTTEN_AT, (agent_id, list(nodes))).all()
    return {node_id: at for node_id, at in rows}  # noqa: C416 - dict() refuses rows


def _made(restriction: Restriction) -> str:
    """Return the condition that a visible message became a memory."""
    asked = restriction.values()
    reach = _IN_REACH_OF_SESSION if "tier" in asked else ""
    return _MADE.format(visibility=f"{reach} {message_filters(asked)}")
