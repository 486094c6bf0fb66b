"""Broker messages that could not be taken in, kept under their dead job's id."""

from __future__ import annotations

from uuid import UUID

from sqlalchemy import Connection

_KEEP = """
INSERT INTO letter (agent_id, job_id, body) VALUES (%s, %s, %s) ON CONFLICT DO NOTHING
"""
_DEAD = """
UPDATE job SET state = 'dead', finished_at = clock_timestamp(), last_error = %s
WHERE agent_id = %s AND id = %s
"""


def keep(
    connection: Connection, agent_id: str, job_id: UUID, body: bytes | None, error: str
) -> None:
    """Keep the bytes, if there are any to keep, and make their job dead."""
    if body is not None:
        connection.exec_driver_sql(_KEEP, (agent_id, job_id, body))
    connection.exec_driver_sql(_DEAD, (error, agent_id, job_id))


def read(connection: Connection, agent_id: str, job_id: UUID) -> bytes | None:
    """Return the bytes that a dead job keeps; None when it is no letter's."""
    row = connection.exec_driver_sql(
        "SELECT body FROM letter WHERE agent_id = %s AND job_id = %s", (agent_id, job_id)
    ).first()
    return bytes(row.body) if row else None


def kept(connection: Connection, agent_id: str) -> list[UUID]:
    """Return the dead jobs that keep bytes."""
    rows = connection.exec_driver_sql("SELECT job_id FROM letter WHERE agent_id = %s", (agent_id,))
    return list(rows.scalars())


def drop(connection: Connection, agent_id: str, job_id: UUID) -> None:
    """Forget the bytes, once it is decided what becomes of them; none may be there."""
    connection.exec_driver_sql(
        "DELETE FROM letter WHERE agent_id = %s AND job_id = %s", (agent_id, job_id)
    )
