"""Texts with vectors of another embedder, and writing their new vectors."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from sqlalchemy import Connection

from memci.domain.documents import searched_text
from memci.storage.frameworks.items import Place as ItemPlace
from memci.storage.frameworks.items import place_of
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
# Another job embeds items without a vector. No place to continue from: items with a new vector are
# not found again.
_ITEMS = f"""
SELECT v.namespace, v.key, v.text FROM item v
WHERE v.agent_id = %(agent)s AND v.text IS NOT NULL AND v.embedding IS NOT NULL AND {_OTHER}
ORDER BY v.updated_at DESC, v.namespace, v.key LIMIT %(limit)s
"""  # noqa: S608 - a constant of this module
# Only rows that still exist: erased and forgotten ones stay so.
_REPLACE = """
UPDATE {table} SET embedding = new.embedding::halfvec, model = %s
FROM unnest(%s::bigint[], %s::text[]) AS new(key, embedding)
WHERE {table}.agent_id = %s AND {table}.{key} = new.key
"""
_DELETE_TOKENS = "DELETE FROM message_tokens WHERE agent_id = %s AND seq = ANY(%s::bigint[])"
_DELETE_PASSAGES = "DELETE FROM message_passage WHERE agent_id = %s AND seq = ANY(%s::bigint[])"
_EXISTING = """
SELECT seq FROM message_vector WHERE agent_id = %s AND seq = ANY(%s::bigint[]) FOR SHARE
"""
_REPLACE_OF_ITEMS = """
UPDATE item SET embedding = new.embedding::halfvec, model = %(model)s
FROM (SELECT ARRAY(SELECT jsonb_array_elements_text(each->'namespace')) AS namespace,
             each->>'key' AS key, each->>'text' AS text, each->>'embedding' AS embedding
        FROM jsonb_array_elements(%(rows)s::jsonb) AS each) AS new
WHERE item.agent_id = %(agent)s AND item.namespace = new.namespace AND item.key = new.key
  AND item.text = new.text
"""


@dataclass(frozen=True, slots=True)
class Place:
    """The progress through an agent's texts: the last message, node and chunk."""

    seq: int = 0
    node_id: int = 0
    chunk_id: int = 0


@dataclass(frozen=True, slots=True)
class StaleTexts:
    """Texts to embed, by seq, by node id, by chunk id and by place of items, in this order."""

    messages: dict[int, str]
    nodes: dict[int, str]
    chunks: dict[int, str]
    items: dict[ItemPlace, str] = field(default_factory=dict)

    @property
    def texts(self) -> list[str]:
        """All texts, messages first."""
        parts = (self.messages, self.nodes, self.chunks, self.items)
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
    rows = connection.exec_driver_sql(_ITEMS, {**values, "limit": left - len(chunks)})
    items = {place_of(row): row.text for row in rows}
    return StaleTexts(messages, nodes, chunks, items)


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
    return replaced + _replace_of_items(connection, agent_id, stale.items, list(left), model)


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


def _replace_of_items(
    connection: Connection,
    agent_id: str,
    items: Mapping[ItemPlace, str],
    vectors: Sequence[str],
    model: VectorModel,
) -> int:
    rows = [
        {"namespace": list(namespace), "key": key, "text": text, "embedding": vector}
        for ((namespace, key), text), vector in zip(items.items(), vectors, strict=True)
    ]
    if not rows:
        return 0
    values = {"agent": agent_id, "model": model.name, "rows": json.dumps(rows)}
    return connection.exec_driver_sql(_REPLACE_OF_ITEMS, values).rowcount
