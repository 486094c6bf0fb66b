"""What a lane knows of its agent's short-term memories: how many are new, when a term ends (R5).

Upkeep sees lanes and no nodes, and finds by it whom to ask.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import Connection

# Unchanged where an earlier end is known: then no index is written.
_NOTE = """
UPDATE lane SET new_memories = new_memories + %(memories)s,
                expire_at = CASE WHEN %(end)s::timestamptz IS NULL THEN expire_at ELSE
                    least(expire_at, %(end)s, now() + %(silence)s) END
WHERE agent_id = %(agent)s RETURNING new_memories
"""
_COUNTED = "UPDATE lane SET new_memories = %s WHERE agent_id = %s"
_ENDS = "UPDATE lane SET expire_at = %s WHERE agent_id = %s"


def note_new(
    connection: Connection,
    agent_id: str,
    memories: int,
    expire_at: datetime | None,
    *,
    silence: timedelta,
) -> int:
    """Count new memories and return how many are new by now.

    The short terms among them end then at the earliest (None: there is none), or when their
    session has been silent for so long.
    """
    values = {"agent": agent_id, "memories": memories, "end": expire_at, "silence": silence}
    return int(connection.exec_driver_sql(_NOTE, values).scalar_one())


def count_new(connection: Connection, agent_id: str, memories: int) -> None:
    """Note how many memories are left that were not compared with others."""
    connection.exec_driver_sql(_COUNTED, (memories, agent_id))


def note_end(connection: Connection, agent_id: str, expire_at: datetime | None) -> None:
    """Note when the next short term ends; None: none is left."""
    connection.exec_driver_sql(_ENDS, (expire_at, agent_id))
