"""Texts with vectors of another embedder, and writing their new vectors.

Items of programs only lose theirs: the job that indexes items embeds those without a vector.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sqlalchemy import Connection

from memci.domain.documents import searched_text
from memci.storage.messages import select_messages
from memci.storage.search.index import Embedded, EmbeddedPassages, write_parts
from memci.storage.search.vectors import VectorModel, Vectors, to_text

_OTHER = "(v.model <> %(model)s OR vector_dims(v.embedding) <> %(dimension)s)"
_MESSAGES = f"""
agent_id = %(agent)s AND seq IN (
    SELECT v.seq FROM message_vector v
    WHERE v.agent_id = %(agent)s AND v.seq > %(after)s AND {_OTHER} ORDER BY v.seq LIMIT %(limit)s)
ORDER BY seq
"""  # noqa: S608 - constants of this package
_NODES = f"""
SELECT v.node_id, node.content FROM node_vector v
JOIN node ON node.agent_id = v.agent_id AND node.id = v.node_id
WHERE v.agent_id = %(agent)s AND v.node_id > %(after)s AND {_OTHER}
ORDER BY v.node_id LIMIT %(limit)s
"""  # noqa: S608 - a constant of this module
_CHUNKS = f"""
SELECT v.chunk_id, d.name, c.path, c.text FROM chunk_vector v
JOIN chunk c ON c.agent_id = v.agent_id AND c.id = v.chunk_id
JOIN document d ON d.agent_id = v.agent_id AND d.id = c.document_id
WHERE v.agent_id = %(agent)s AND v.chunk_id > %(after)s AND {_OTHER}
ORDER BY v.chunk_id LIMIT %(limit)s
"""  # noqa: S608 - a constant of this module
# Only rows that still exist: erased and forgotten ones stay so.
_REPLACE = """
UPDATE {table} SET embedding = new.embedding::halfvec, model = %s
FROM unnest(%s::bigint[], %s::text[]) AS new(key, embedding)
WHERE {table}.agent_id = %s AND {table}.{key} = new.key
"""
_DELETE_TOKENS = "DELETE FROM message_tokens WHERE agent_id = %s AND seq = ANY(%s::bigint[])"
_DELETE_PASSAGES = "DELETE FROM message_passage WHERE agent_id = %s AND seq = ANY(%s::bigint[])"
_FORGET_OF_ITEMS = f"""
UPDATE item v SET embedding = NULL, model = NULL WHERE v.agent_id = %(agent)s AND {_OTHER}
"""  # noqa: S608 - a constant of this module
_EXISTING = """
SELECT seq FROM message_vector WHERE agent_id = %s AND seq = ANY(%s::bigint[]) FOR SHARE
"""


@dataclass(frozen=True, slots=True)
class Place:
    """The progress through an agent's texts: the last message, node and chunk."""

    seq: int = 0
    node_id: int = 0
    chunk_id: int = 0


@dataclass(frozen=True, slots=True)
class StaleTexts:
    """Texts to embed, by seq, by node id and by chunk id, in this order."""

    messages: dict[int, str]
    nodes: dict[int, str]
    chunks: dict[int, str]

    @property
    def texts(self) -> list[str]:
        """All texts, messages first."""
        parts = (self.messages, self.nodes, self.chunks)
        return [text for part in parts for text in part.values()]

    def end(self, begin: Place) -> Place:
        """Return the progress after these texts."""
        return Place(
            max(self.messages, default=begin.seq),
            max(self.nodes, default=begin.node_id),
            max(self.chunks, default=begin.chunk_id),
        )


def stale_texts(
    connection: Connection, agent_id: str, model: VectorModel, after: Place, limit: int
) -> StaleTexts:
    """Return an agent's next texts with vectors of another model."""
    values = _values(agent_id, model, after.seq, limit)
    found = select_messages(connection, _MESSAGES, values)
    messages = {message.seq: message.searched for message in found}
    nodes = stale_nodes(connection, agent_id, model, after.node_id, limit - len(messages))
    left = limit - len(messages) - len(nodes)
    rows = connection.exec_driver_sql(_CHUNKS, {**values, "after": after.chunk_id, "limit": left})
    chunks = {row.chunk_id: searched_text(row.name, row.path, row.text) for row in rows}
    return StaleTexts(messages, nodes, chunks)


def stale_nodes(
    connection: Connection, agent_id: str, model: VectorModel, after: int, limit: int
) -> dict[int, str]:
    """Return an agent's next memories with vectors of another model, by id."""
    values = _values(agent_id, model, after, limit)
    return {row[0]: row[1] for row in connection.exec_driver_sql(_NODES, values)}


def _values(agent_id: str, model: VectorModel, after: int, limit: int) -> dict[str, object]:
    names = {"model": model.name, "dimension": model.dimension}
    return {"agent": agent_id, "after": after, "limit": limit, **names}


def replace_vectors(
    connection: Connection,
    agent_id: str,
    stale: StaleTexts,
    vectors: Vectors,
    model: VectorModel,
    tokens: Sequence[bytes] = (),
    passages: EmbeddedPassages | None = None,
) -> int:
    """Write new vectors, row by row of ``stale.texts``; return how many were needed.

    ``tokens``: bits of the messages' tokens, if the model gives any. ``passages``: those of the
    messages.
    """
    left = iter(to_text(vectors))
    replaced = 0
    for table, key, texts in (
        ("message_vector", "seq", stale.messages),
        ("node_vector", "node_id", stale.nodes),
        ("chunk_vector", "chunk_id", stale.chunks),
    ):
        if texts:
            values = (model.name, list(texts), [next(left) for _ in texts], agent_id)
            statement = _REPLACE.format(table=table, key=key)
            replaced += connection.exec_driver_sql(statement, values).rowcount
    _replace_parts(connection, agent_id, list(stale.messages), tokens, passages, model)
    connection.exec_driver_sql(_FORGET_OF_ITEMS, _values(agent_id, model, 0, 0))
    return replaced


def _replace_parts(
    connection: Connection,
    agent_id: str,
    seqs: Sequence[int],
    tokens: Sequence[bytes],
    passages: EmbeddedPassages | None,
    model: VectorModel,
) -> None:
    """Replace bits and passages of messages that still exist; those of another model go."""
    if not seqs:
        return
    connection.exec_driver_sql(_DELETE_TOKENS, (agent_id, seqs))
    connection.exec_driver_sql(_DELETE_PASSAGES, (agent_id, seqs))
    kept = connection.exec_driver_sql(_EXISTING, (agent_id, seqs)).scalars().all()
    bits = dict(zip(seqs, tokens, strict=False))
    none = np.zeros((0, 0), dtype=np.float32)
    own = passages.of(set(kept)) if passages is not None else None
    found = Embedded(kept, none, model.name, [bits.get(seq, b"") for seq in kept], own)
    write_parts(connection, agent_id, found)
