"""What is locked while pages change: the row of the lane first, then that of the tree (P16)."""

from __future__ import annotations

from sqlalchemy import Connection

_BEGIN = """
INSERT INTO lane (agent_id, written_at) VALUES (%s, now()) ON CONFLICT (agent_id) DO NOTHING
"""
_HOLD = "SELECT FROM lane WHERE agent_id = %s FOR NO KEY UPDATE"
_PLANT = "INSERT INTO page_tree (agent_id) VALUES (%s) ON CONFLICT (agent_id) DO NOTHING"
_LOCK = "SELECT FROM page_tree WHERE agent_id = %s FOR UPDATE"


def begin_agent(connection: Connection, agent_id: str) -> bool:
    """Have an agent that never was exist before its first message; tell whether it never was."""
    return connection.exec_driver_sql(_BEGIN, (agent_id,)).rowcount > 0


def hold_lane(connection: Connection, agent_id: str) -> None:
    """Let nobody append a message before the transaction ends."""
    connection.exec_driver_sql(_HOLD, (agent_id,))


def lock_tree(connection: Connection, agent_id: str) -> None:
    """Lock an agent's tree until the transaction ends (P16)."""
    locked = None
    while locked is None:  # the row may go between the two, with an agent that is erased
        connection.exec_driver_sql(_PLANT, (agent_id,))
        locked = connection.exec_driver_sql(_LOCK, (agent_id,)).first()
