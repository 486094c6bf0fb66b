"""Texts whose vectors were made by another embedder, and writing their new ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from memci.storage.around import renew_around
from memci.storage.messages import COLUMNS, to_message
from memci.storage.vector_model import VectorModel
from memci.storage.vectors import Vectors, to_text

_OTHER = "(v.model <> %(model)s OR vector_dims(v.embedding) <> %(dimension)s)"
_MESSAGES = f"""
SELECT {COLUMNS} FROM message WHERE agent_id = %(agent)s AND seq IN (
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
# Only rows that are still there: what was erased or forgotten meanwhile stays so.
_REPLACE_OF_MESSAGES = """
UPDATE message_vector SET embedding = new.embedding::halfvec, model = %s
FROM unnest(%s::bigint[], %s::text[]) AS new(seq, embedding)
WHERE message_vector.agent_id = %s AND message_vector.seq = new.seq
"""
_REPLACE_OF_NODES = """
UPDATE node_vector SET embedding = new.embedding::halfvec, model = %s
FROM unnest(%s::bigint[], %s::text[]) AS new(id, embedding)
WHERE node_vector.agent_id = %s AND node_vector.node_id = new.id
"""


@dataclass(frozen=True, slots=True)
class Place:
    """How far an agent's texts have been gone through: the last message and the last node."""

    seq: int = 0
    node_id: int = 0


@dataclass(frozen=True, slots=True)
class StaleTexts:
    """Texts to embed, by seq and by node id; messages come first."""

    messages: dict[int, str]
    nodes: dict[int, str]

    @property
    def texts(self) -> list[str]:
        """All of them, messages first."""
        return [*self.messages.values(), *self.nodes.values()]

    def end(self, begin: Place) -> Place:
        """Return how far these reach."""
        return Place(max(self.messages, default=begin.seq), max(self.nodes, default=begin.node_id))


def stale_texts(
    connection: Connection, agent_id: str, model: VectorModel, after: Place, limit: int
) -> StaleTexts:
    """Return the next texts of one agent whose vectors are another model's."""
    values = {
        "agent": agent_id,
        "model": model.name,
        "dimension": model.dimension,
        "after": after.seq,
        "limit": limit,
    }
    found = map(to_message, connection.exec_driver_sql(_MESSAGES, values))
    messages = {message.seq: message.searched for message in found}
    nodes = stale_nodes(connection, agent_id, model, after.node_id, limit - len(messages))
    return StaleTexts(messages, nodes)


def stale_nodes(
    connection: Connection, agent_id: str, model: VectorModel, after: int, limit: int
) -> dict[int, str]:
    """Return the next memories of one agent whose vectors are another model's, by id."""
    values = {
        "agent": agent_id,
        "model": model.name,
        "dimension": model.dimension,
        "after": after,
        "limit": limit,
    }
    return {row[0]: row[1] for row in connection.exec_driver_sql(_NODES, values)}


def replace_vectors(
    connection: Connection, agent_id: str, stale: StaleTexts, vectors: Vectors, model: VectorModel
) -> int:
    """Write new vectors, row by row of ``stale.texts``; return how many were still wanted."""
    rows = to_text(vectors)
    cut = len(stale.messages)
    of_messages = (list(stale.messages), rows[:cut])
    of_nodes = (list(stale.nodes), rows[cut:])
    replaced = _replace(connection, _REPLACE_OF_MESSAGES, agent_id, of_messages, model)
    renew_around(connection, agent_id, list(stale.messages))
    return replaced + _replace(connection, _REPLACE_OF_NODES, agent_id, of_nodes, model)


def _replace(
    connection: Connection,
    statement: str,
    agent_id: str,
    rows: tuple[Sequence[int], Sequence[str]],
    model: VectorModel,
) -> int:
    keys, vectors = rows
    if not keys:
        return 0
    values = (model.name, list(keys), list(vectors), agent_id)
    return connection.exec_driver_sql(statement, values).rowcount
