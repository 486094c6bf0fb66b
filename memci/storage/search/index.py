"""Writes vectors, terms and positions that make messages and memories searchable (R11b).

Entity nodes are in neither index: they are found by name, as focus points and by links.
"""

from collections import Counter
from collections.abc import Collection, Container, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sqlalchemy import Connection

from memci.domain.search.bm25 import first_after, position_at, session_at
from memci.domain.search.passages import Passage
from memci.storage.messages import in_session
from memci.storage.search.vectors import Vectors, from_arrays, to_text
from memci.storage.session import tuples

_SESSIONS = """
SELECT seq, session_id FROM message WHERE agent_id = %s AND seq = ANY(%s) ORDER BY seq
"""
# By the index of sessions: the latest indexed messages are nearly first.
_LAST_OF_SESSION = """
SELECT position FROM message
 WHERE agent_id = %(agent)s AND session_id {session} AND position IS NOT NULL
 ORDER BY seq DESC LIMIT 1
"""
_LAST_BEFORE = """
SELECT max(position) FROM message WHERE agent_id = %s AND position < %s
"""
_LAST = "SELECT max(position) FROM message WHERE agent_id = %s"


def next_positions(connection: Connection, agent_id: str, seqs: Sequence[int]) -> dict[int, int]:
    """Return new positions, at the end of each session, for the messages that are stored."""
    rows = connection.exec_driver_sql(_SESSIONS, (agent_id, list(seqs))).all()
    new: dict[str | None, int] = {}
    positions: dict[int, int] = {}
    begun = 0
    for seq, session_id in rows:
        if session_id not in new:
            last = _last_of(connection, agent_id, session_id)
            if last is None:
                latest = connection.exec_driver_sql(_LAST, (agent_id,)).scalar()
                sessions = 0 if latest is None else session_at(latest) + 1
                new[session_id] = position_at(sessions + begun, 0)
                begun += 1
            else:
                new[session_id] = last + 1
        positions[seq] = new[session_id]
        new[session_id] += 1
    return positions


def _last_of(connection: Connection, agent_id: str, session_id: str | None) -> int | None:
    """Return the greatest position in a session; None if it has none yet."""
    statement = in_session(_LAST_OF_SESSION, session_id)
    values = {"agent": agent_id, "session": session_id}
    any_of_it: int | None = connection.exec_driver_sql(statement, values).scalar()
    if any_of_it is None:
        return None
    end = first_after(session_at(any_of_it))
    return int(connection.exec_driver_sql(_LAST_BEFORE, (agent_id, end)).scalar_one())


_ADD_MESSAGE_VECTORS = """
INSERT INTO message_vector (agent_id, seq, embedding, model)
SELECT %s, seq, embedding::halfvec, %s FROM unnest(%s::bigint[], %s::text[]) AS new(seq, embedding)
"""
_ADD_TOKENS = """
INSERT INTO message_tokens (agent_id, seq, bits, model)
SELECT %s, seq, bits, %s FROM unnest(%s::bigint[], %s::bytea[]) AS new(seq, bits)
ON CONFLICT (agent_id, seq) DO UPDATE SET bits = excluded.bits, model = excluded.model
"""
_ADD_PASSAGES = """
INSERT INTO message_passage (agent_id, seq, start, stop, embedding, model)
SELECT %s, seq, start, stop, embedding::halfvec, %s
FROM unnest(%s::bigint[], %s::integer[], %s::integer[], %s::text[])
     AS new(seq, start, stop, embedding)
ON CONFLICT (agent_id, seq, start) DO UPDATE
SET stop = excluded.stop, embedding = excluded.embedding, model = excluded.model
"""
_ADD_NODE_VECTORS = """
INSERT INTO node_vector (agent_id, node_id, embedding, model)
SELECT agent_id, id, new.embedding::halfvec, %s
FROM unnest(%s::bigint[], %s::text[]) AS new(id, embedding) JOIN node USING (id)
WHERE agent_id = %s
ON CONFLICT (agent_id, node_id) DO UPDATE
SET embedding = excluded.embedding, model = excluded.model
"""
_ADD_MESSAGE_TERMS = """
INSERT INTO message_term (agent_id, term, seq, tf, length, position)
SELECT %s, * FROM unnest(%s::text[], %s::bigint[], %s::integer[], %s::integer[], %s::bigint[])
"""
_ADD_NODE_TERMS = """
INSERT INTO node_term (agent_id, term, node_id, tf, length)
SELECT agent_id, term, id, tf, length
FROM unnest(%s::text[], %s::bigint[], %s::integer[], %s::integer[]) AS new(term, id, tf, length)
JOIN node USING (id)
WHERE agent_id = %s
"""
_MARK = """
UPDATE message SET indexed = true, position = new.position
FROM unnest(%s::bigint[], %s::bigint[]) AS new(seq, position)
WHERE message.agent_id = %s AND message.seq = new.seq
"""
_COUNT = """
UPDATE lane SET indexed_messages = indexed_messages + %s, indexed_terms = indexed_terms + %s
WHERE agent_id = %s
"""
_COMPARE = """
WITH found AS MATERIALIZED (
    SELECT seq, embedding FROM message_vector
     WHERE agent_id = %(agent)s AND seq = ANY(%(seqs)s) AND model = %(model)s),
center AS MATERIALIZED (
    SELECT avg(embedding) AS embedding FROM found WHERE seq = ANY(%(central)s)),
passage AS MATERIALIZED (
    SELECT DISTINCT ON (p.seq) p.seq, p.start, p.stop
      FROM message_passage p JOIN found USING (seq)
     WHERE p.agent_id = %(agent)s AND p.seq = ANY(%(best)s) AND p.model = %(model)s
       AND p.embedding <#> %(vector)s::halfvec < found.embedding <#> %(vector)s::halfvec
     ORDER BY p.seq, p.embedding <#> %(vector)s::halfvec)
SELECT found.seq, coalesce(-(found.embedding <#> center.embedding), 0) AS typical,
       t.bits, p.start, p.stop
  FROM found CROSS JOIN center
  LEFT JOIN message_tokens t ON t.agent_id = %(agent)s AND t.seq = found.seq
                            AND t.seq = ANY(%(best)s) AND t.model = %(model)s
  LEFT JOIN passage p ON p.seq = found.seq
"""
# One exact search per vector, over this agent's rows alone: filtering an approximate index by agent
# would lose most of the nearest. Materialized, or each vector is read again for each row.
_NEAREST = """
WITH query AS MATERIALIZED (
    SELECT place, embedding::halfvec AS embedding
    FROM unnest(%(vectors)s::text[]) WITH ORDINALITY AS given(embedding, place)
)
SELECT query.place, found.node_id, found.cosine FROM query, LATERAL (
    SELECT node_id, -(node_vector.embedding <#> query.embedding) AS cosine
    FROM node_vector WHERE agent_id = %(agent)s AND model = %(model)s
    ORDER BY node_vector.embedding <#> query.embedding, node_id LIMIT %(limit)s
) AS found
"""
# More vectors hardly change their mean.
_CENTRAL = 100
# Vectors in one statement, which must not exceed the statement time-out.
_AT_ONCE = 32


@dataclass(frozen=True, slots=True)
class EmbeddedPassages:
    """Passages of messages, by seq, and their vectors, row by row (E6)."""

    places: Sequence[tuple[int, Passage]]
    vectors: Vectors

    def of(self, seqs: Container[int]) -> "EmbeddedPassages":
        """Return those of some messages."""
        rows = [row for row, (seq, _) in enumerate(self.places) if seq in seqs]
        return EmbeddedPassages([self.places[row] for row in rows], self.vectors[rows])


@dataclass(frozen=True, slots=True)
class Embedded:
    """Vectors of messages (by seq) or nodes (by id), and the model that made them."""

    keys: Sequence[int]
    vectors: Vectors
    model: str
    tokens: Sequence[bytes] = ()  # bits of the messages' tokens (E8); none if the model gives none
    passages: EmbeddedPassages | None = None  # of the messages


def index_messages(
    connection: Connection,
    agent_id: str,
    seqs: Sequence[int],
    embedded: Embedded,
    terms: Mapping[int, Counter[str]],
) -> None:
    """Let search find messages by vectors and postings: they leave the raw tail (R10b).

    Those of ``seqs`` that are neither ``embedded`` nor in ``terms`` have no text. The terms are
    counted on the lane.
    """
    positions = next_positions(connection, agent_id, seqs)
    if embedded.keys:
        rows = (list(embedded.keys), to_text(embedded.vectors))
        connection.exec_driver_sql(_ADD_MESSAGE_VECTORS, (agent_id, embedded.model, *rows))
        write_parts(connection, agent_id, embedded)
    columns = posting_columns(terms)
    placed = [positions[seq] for seq in columns[1]]
    connection.exec_driver_sql(_ADD_MESSAGE_TERMS, (agent_id, *columns, placed))
    lengths = [each.total() for each in terms.values() if each]
    connection.exec_driver_sql(_COUNT, (len(lengths), sum(lengths), agent_id))
    connection.exec_driver_sql(_MARK, (list(positions), list(positions.values()), agent_id))


def write_parts(connection: Connection, agent_id: str, embedded: Embedded) -> None:
    """Write the bits of the messages' tokens and their passages."""
    passages = embedded.passages
    if passages is not None and passages.places:
        seqs, places = zip(*passages.places, strict=True)
        starts, stops = zip(*places, strict=True)
        columns = (list(seqs), list(starts), list(stops), to_text(passages.vectors))
        connection.exec_driver_sql(_ADD_PASSAGES, (agent_id, embedded.model, *columns))
    found = [(k, bits) for k, bits in zip(embedded.keys, embedded.tokens, strict=False) if bits]
    if found:
        keys, bits = zip(*found, strict=True)
        values = (agent_id, embedded.model, list(keys), list(bits))
        connection.exec_driver_sql(_ADD_TOKENS, values)


def index_nodes(
    connection: Connection, agent_id: str, embedded: Embedded, terms: Mapping[int, Counter[str]]
) -> None:
    """Write vectors and postings of the nodes that live, replacing earlier ones."""
    if not embedded.keys:
        return
    rows = (list(embedded.keys), to_text(embedded.vectors))
    connection.exec_driver_sql(_ADD_NODE_VECTORS, (embedded.model, *rows, agent_id))
    connection.exec_driver_sql(
        "DELETE FROM node_term WHERE agent_id = %s AND node_id = ANY(%s)", (agent_id, list(terms))
    )
    connection.exec_driver_sql(_ADD_NODE_TERMS, (*posting_columns(terms), agent_id))


def message_vectors(
    connection: Connection, agent_id: str, seqs: Sequence[int], model: str
) -> tuple[list[int], Vectors]:
    """Return the messages with a vector of this model, and those vectors."""
    found = connection.exec_driver_sql(
        "SELECT seq, embedding::real[] FROM message_vector"
        " WHERE agent_id = %s AND seq = ANY(%s) AND model = %s ORDER BY seq",
        (agent_id, list(seqs), model),
    ).all()
    return [row[0] for row in found], from_arrays([row[1] for row in found] or [[]])[: len(found)]


def token_bits(
    connection: Connection, agent_id: str, seqs: Collection[int], model: str
) -> dict[int, bytes]:
    """Return the bits of the tokens of messages that have some of this model, by seq (E8)."""
    found = connection.exec_driver_sql(
        "SELECT seq, bits FROM message_tokens WHERE agent_id = %s AND seq = ANY(%s) AND model = %s",
        (agent_id, list(seqs), model),
    )
    return {row.seq: row.bits for row in found}


class Compared(NamedTuple):
    """What is read of a message to compare it with a question."""

    seq: int
    typical: float  # its likeness to the mean of the best
    bits: bytes | None  # of its tokens
    passage: Passage | None  # of its searched text, if more like the question than its vector


def read_for_comparison(
    connection: Connection,
    agent_id: str,
    seqs: Sequence[int],
    best: int,
    vector: Vectors,
    model: str,
) -> list[Compared]:
    """Return what is known of messages with vectors of a model.

    ``vector``: that of the question. Bits and passages are read for the first ``best`` of ``seqs``,
    the mean is that of the first ``_CENTRAL``.
    """
    values = {
        "agent": agent_id,
        "seqs": list(seqs),
        "best": list(seqs[:best]),
        "central": list(seqs[:_CENTRAL]),
        "vector": to_text(vector[None])[0],
        "model": model,
    }
    return [
        Compared(seq, typical, bits, None if start is None else Passage(start, stop))
        for seq, typical, bits, start, stop in tuples(connection, _COMPARE, values)
    ]


def nearest_nodes(
    connection: Connection, agent_id: str, vectors: Vectors, model: str, limit: int
) -> list[dict[int, float]]:
    """Return, for each vector, the ``limit`` memory nodes most similar to it, with cosines."""
    nearest: list[dict[int, float]] = [{} for _ in vectors]
    if not len(vectors) or not limit:
        return nearest
    values = {"agent": agent_id, "model": model, "limit": limit}
    for start in range(0, len(vectors), _AT_ONCE):
        some = to_text(vectors[start : start + _AT_ONCE])
        rows = connection.exec_driver_sql(_NEAREST, {**values, "vectors": some})
        for place, node_id, cosine in rows:
            nearest[start + place - 1][node_id] = cosine
    return nearest


def posting_columns(
    terms: Mapping[int, Counter[str]],
) -> tuple[list[str], list[int], list[int], list[int]]:
    """Return postings as columns, in the order of the index."""
    postings = sorted(
        (term, owner, count, counts.total())
        for owner, counts in terms.items()
        for term, count in counts.items()
    )
    term, owner, count, length = zip(*postings, strict=True) if postings else ((), (), (), ())
    return list(term), list(owner), list(count), list(length)
