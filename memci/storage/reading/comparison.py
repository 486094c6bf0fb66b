"""A network as it is compared with another edition (M24)."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection

from memci.domain.memory.comparison import ComparedNetwork, ComparedNode
from memci.domain.memory.link import importance

_NODES = """
SELECT id, entity_key, message_seqs, original_length, char_length(content), md5(content)
FROM node WHERE agent_id = %s ORDER BY id
"""
_LINKS = """
SELECT l.source, l.target, l.strength FROM link l
JOIN node n ON n.agent_id = l.agent_id AND n.id = l.target
WHERE l.agent_id = %s
"""
_COUNT = "SELECT count(*) FROM link WHERE agent_id = %s"
_TEXTS = "SELECT id, left(content, %s) FROM node WHERE agent_id = %s AND id = ANY(%s)"


def compared_network(connection: Connection, agent_id: str) -> ComparedNetwork:
    """Return the network with the strengths of links whose ends live, without texts."""
    strengths = {
        (source, target): strength
        for source, target, strength in connection.exec_driver_sql(_LINKS, (agent_id,))
    }
    own: dict[int, list[float]] = {}
    for (source, _), strength in strengths.items():
        own.setdefault(source, []).append(strength)
    nodes = [
        ComparedNode(id_, key, tuple(seqs), original, length, digest, importance(own.get(id_, ())))
        for id_, key, seqs, original, length, digest in connection.exec_driver_sql(
            _NODES, (agent_id,)
        )
    ]
    return ComparedNetwork(nodes, strengths)


def count_links(connection: Connection, agent_id: str) -> int:
    """Return how many links there are, those that dangle among them."""
    return int(connection.exec_driver_sql(_COUNT, (agent_id,)).scalar_one())


def beginnings(
    connection: Connection, agent_id: str, nodes: Sequence[int], *, most: int
) -> dict[int, str]:
    """Return the first so many characters of nodes' texts, by id."""
    rows = connection.exec_driver_sql(_TEXTS, (most, agent_id, list(nodes)))
    return {row[0]: row[1] for row in rows}
