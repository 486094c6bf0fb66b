"""Which messages hold all of some words: what a query may propose to erase (M25)."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection

from memci.message import Message
from memci.storage.messages import COLUMNS, to_message

# A single Chinese character is no term of the index, which holds pairs: it is looked for in texts,
# and in what tools say and are given as JSON's escape.
_CHARACTERS = """
NOT EXISTS (SELECT 1 FROM unnest(%(characters)s::text[]) AS k(word),
                   concat_ws(' ', m.name, m.content, m.tool_calls::text) AS said
             WHERE strpos(said, k.word) = 0
               AND NOT ((m.role = 'tool' OR m.tool_calls IS NOT NULL)
                        AND strpos(lower(said), '\\u' || to_hex(ascii(k.word))) > 0))
"""
_BY_TERMS = f"""
SELECT m.seq
  FROM (SELECT t.seq FROM unnest(%(terms)s::text[]) AS k(term)
         CROSS JOIN LATERAL (SELECT seq FROM message_term
                              WHERE agent_id = %(agent)s AND term = k.term OFFSET 0) t
         GROUP BY t.seq HAVING count(*) = cardinality(%(terms)s::text[])) found
 CROSS JOIN LATERAL (SELECT m.seq FROM message m WHERE m.agent_id = %(agent)s
                        AND m.seq = found.seq AND {_CHARACTERS} OFFSET 0) m
 ORDER BY m.seq DESC LIMIT %(most)s
"""  # noqa: S608 - constants of this module
_BY_CHARACTERS = f"""
SELECT m.seq FROM message m WHERE m.agent_id = %(agent)s AND {_CHARACTERS}
 ORDER BY m.seq DESC LIMIT %(most)s
"""  # noqa: S608 - constants of this module
_NOT_INDEXED = f"""
SELECT {COLUMNS} FROM message m WHERE m.agent_id = %s AND NOT m.indexed
 ORDER BY m.seq DESC LIMIT %s
"""  # noqa: S608 - constants of this package


def worded_messages(
    connection: Connection,
    agent_id: str,
    *,
    terms: Sequence[str],
    characters: Sequence[str],
    most: int,
) -> list[int]:
    """Return the newest messages that hold all of the terms (distinct ones) and characters."""
    if not (terms or characters):
        return []
    values = {
        "agent": agent_id, "terms": list(terms), "characters": list(characters), "most": most,
    }  # fmt: skip
    statement = _BY_TERMS if terms else _BY_CHARACTERS
    return list(connection.exec_driver_sql(statement, values).scalars())


def not_indexed(connection: Connection, agent_id: str, *, most: int) -> list[Message]:
    """Return the newest messages whose terms are not in the index yet."""
    return [to_message(row) for row in connection.exec_driver_sql(_NOT_INDEXED, (agent_id, most))]
