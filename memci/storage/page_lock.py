"""What is locked while pages change: the row of the lane first, then that of the tree (P16)."""

from __future__ import annotations

from sqlalchemy import Connection

# A lane that nothing was written for is a claim's, or what an erasure has left. Whoever waited here
# for an erasure to end was asked in the life before: the statement still sees that one's epoch.
_BEGIN = """
INSERT INTO lane (agent_id, written_at) VALUES (%(agent)s, now())
ON CONFLICT (agent_id) DO UPDATE SET written_at = now()
WHERE lane.written_at IS NULL AND lane.message_seq = lane.erased_messages
  AND lane.epoch = coalesce((SELECT epoch FROM lane AS seen WHERE seen.agent_id = %(agent)s), 0)
"""
_HOLD = "SELECT FROM lane WHERE agent_id = %s FOR NO KEY UPDATE"
_PLANT = "INSERT INTO page_tree (agent_id) VALUES (%s) ON CONFLICT (agent_id) DO NOTHING"
_LOCK = "SELECT FROM page_tree WHERE agent_id = %s FOR UPDATE"


def begin_agent(connection: Connection, agent_id: str) -> bool:
    """Have an agent that is not there exist before its first message; tell whether it was not.

    Of an id that was erased another life begins, unless that happens right now.
    """
    return connection.exec_driver_sql(_BEGIN, {"agent": agent_id}).rowcount > 0


def hold_lane(connection: Connection, agent_id: str) -> None:
    """Let nobody append a message before the transaction ends."""
    connection.exec_driver_sql(_HOLD, (agent_id,))


def lock_tree(connection: Connection, agent_id: str) -> None:
    """Lock an agent's tree until the transaction ends (P16)."""
    locked = None
    while locked is None:  # the row may go between the two, with an agent that is erased
        connection.exec_driver_sql(_PLANT, (agent_id,))
        locked = connection.exec_driver_sql(_LOCK, (agent_id,)).first()
