"""The focus list of an agent (M5)."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection

from memci.domain.memory.entity import Entity
from memci.domain.memory.focus import Focus

_READ = """
SELECT node.entity_key, node.content, node.id FROM focus
JOIN node ON node.agent_id = focus.agent_id AND node.id = focus.node_id
WHERE focus.agent_id = %s ORDER BY focus.mentioned
"""
_WRITE = """
INSERT INTO focus (agent_id, node_id, mentioned)
SELECT %s, id, %s + place FROM unnest(%s::bigint[]) WITH ORDINALITY AS new(id, place)
"""
_MENTION = "UPDATE lane SET mentions = mentions + %s WHERE agent_id = %s RETURNING mentions - %s"


def focus_of(connection: Connection, agent_id: str) -> Focus:
    """Return the focus points, least recently mentioned first."""
    rows = connection.exec_driver_sql(_READ, (agent_id,))
    return tuple(Entity(key, name) for key, name, _ in rows)


def focus_nodes(connection: Connection, agent_id: str) -> frozenset[int]:
    """Return the ids of the focus points."""
    return frozenset(row.id for row in connection.exec_driver_sql(_READ, (agent_id,)))


def replace_focus(connection: Connection, agent_id: str, nodes: Sequence[int]) -> None:
    """Store the focus list, given least recently mentioned first. The lane must be locked."""
    connection.exec_driver_sql("DELETE FROM focus WHERE agent_id = %s", (agent_id,))
    if nodes:
        count = len(nodes)
        mentions = connection.exec_driver_sql(_MENTION, (count, agent_id, count)).scalar_one()
        connection.exec_driver_sql(_WRITE, (agent_id, mentions, list(nodes)))
