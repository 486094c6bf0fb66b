"""What memory once had and when it lost it: messages and trails tell, since they stay (M23)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection

from memci.storage.reading.recall import Visibility, keyword_columns

# Those made into memories, and those whose memories a rebuilt network has left out (M24), which
# only trails tell: they are looked into when there is such a message at all.
_MADE = """
m.agent_id = %(agent)s {sight} AND (m.memory_state = 'made'
    OR m.memory_state = 'none' AND m.remember = 'never' AND m.seq IN (
       SELECT taken::bigint FROM trail t
        CROSS JOIN LATERAL jsonb_array_elements_text(t.details->'messages') AS of(taken)
        WHERE t.agent_id = %(agent)s AND t.event = 'created'))
"""
# Of another session, none that is a short-term memory there (R5).
_IN_REACH_OF_SESSION = """
AND NOT EXISTS (SELECT 1 FROM node h
                 WHERE h.agent_id = %(agent)s AND h.tier = 'short'
                   AND h.session_id IS DISTINCT FROM %(session)s AND m.seq = ANY(h.message_seqs))
"""
# In order, so that it is this agent's rows that are gone through, not the first that come.
_ANY = "(SELECT m.seq FROM message m WHERE {made} ORDER BY m.seq DESC LIMIT 1) IS NOT NULL"
_BY_TERMS = """
EXISTS (SELECT 1
  FROM (SELECT k.keyword, t.seq
          FROM unnest(%(keywords)s::int[], %(terms)s::text[], %(needed)s::int[])
               AS k(keyword, term, needed)
         CROSS JOIN LATERAL (SELECT seq FROM message_term
                              WHERE agent_id = %(agent)s AND term = k.term OFFSET 0) t
         GROUP BY k.keyword, t.seq HAVING count(*) = max(k.needed)) found
 CROSS JOIN LATERAL (SELECT 1 FROM message m WHERE m.seq = found.seq AND {made} OFFSET 0) made)
"""
_BY_CHARACTER = """
(SELECT m.seq FROM message m
  WHERE {made} AND EXISTS (SELECT 1 FROM unnest(%(characters)s::text[]) AS k(word)
                            WHERE strpos(m.content, k.word) > 0)
  ORDER BY m.seq DESC LIMIT 1) IS NOT NULL
"""
_SEQS_BY_TERMS = """
SELECT found.seq
  FROM (SELECT k.keyword, t.seq
          FROM unnest(%(keywords)s::int[], %(terms)s::text[], %(needed)s::int[])
               AS k(keyword, term, needed)
         CROSS JOIN LATERAL (SELECT seq FROM message_term
                              WHERE agent_id = %(agent)s AND term = k.term OFFSET 0) t
         GROUP BY k.keyword, t.seq HAVING count(*) = max(k.needed)) found
 CROSS JOIN LATERAL (SELECT 1 FROM message m WHERE m.seq = found.seq AND {made} OFFSET 0) made
"""
_SEQS_BY_CHARACTER = """
SELECT m.seq FROM message m
  WHERE {made} AND EXISTS (SELECT 1 FROM unnest(%(characters)s::text[]) AS k(word)
                            WHERE strpos(m.content, k.word) > 0)
"""
# The memories that were made of the latest of these messages, latest first.
_WHO_KNEW = """
WITH told AS ({seqs} ORDER BY 1 DESC LIMIT %(messages)s)
SELECT DISTINCT t.node_id FROM trail t
 CROSS JOIN LATERAL jsonb_array_elements_text(t.details->'messages') AS of(seq)
 WHERE t.agent_id = %(agent)s AND t.event = 'created' AND t.details->>'kind' IS NULL
   AND of.seq::bigint IN (SELECT seq FROM told)
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
    sight: Visibility,
) -> bool:
    """Tell whether a message in sight that became a memory holds any keyword.

    Each is given as its terms, all of which have to stand in one message; ``characters`` stand in
    no index. With neither, any such message will do.
    """
    values = _values(agent_id, keywords, characters, sight)
    parts = [
        *([_BY_TERMS] if values["terms"] else []),
        *([_BY_CHARACTER] if characters else []),
    ] or [_ANY]
    statement = "SELECT " + " OR ".join(parts).format(made=_MADE.format(sight=_condition(sight)))
    return bool(connection.exec_driver_sql(statement, values).scalar())


def who_knew(
    connection: Connection,
    agent_id: str,
    keywords: Iterable[Collection[str]],
    characters: Sequence[str],
    sight: Visibility,
) -> list[int]:
    """Return memories, living or not, made of messages in sight that hold a keyword.

    The latest first; of many messages the latest are looked at.
    """
    values = _values(agent_id, keywords, characters, sight)
    parts = [
        *([_SEQS_BY_TERMS] if values["terms"] else []),
        *([_SEQS_BY_CHARACTER] if characters else []),
    ]
    if not parts:
        return []
    seqs = " UNION ".join(parts).format(made=_MADE.format(sight=_condition(sight)))
    found = connection.exec_driver_sql(
        _WHO_KNEW.format(seqs=seqs), {**values, "messages": _MOST_MESSAGES}
    )
    return list(found.scalars())


def _values(
    agent_id: str, keywords: Iterable[Collection[str]], characters: Sequence[str], sight: Visibility
) -> dict[str, Any]:
    numbers, terms, needed = keyword_columns(keywords)
    return {
        **sight.values,
        "agent": agent_id,
        "keywords": numbers,
        "terms": terms,
        "needed": needed,
        "characters": list(characters),
    }


def forgotten_at(
    connection: Connection, agent_id: str, nodes: Sequence[int]
) -> dict[int, datetime]:
    """Return when each of these nodes was forgotten, as far as its trail tells."""
    if not nodes:
        return {}
    rows = connection.exec_driver_sql(_FORGOTTEN_AT, (agent_id, list(nodes))).all()
    return {node_id: at for node_id, at in rows}  # noqa: C416 - dict() refuses rows


def _condition(sight: Visibility) -> str:
    conditions = []
    if sight.session_id is not None or sight.user_id is not None:
        conditions.append(_IN_REACH_OF_SESSION)
    if sight.user_id is not None:
        conditions.append("AND m.user_id = %(user)s")
    if sight.as_of is not None:
        conditions.append("AND m.said_at <= %(as_of)s")
    return " ".join(conditions)
