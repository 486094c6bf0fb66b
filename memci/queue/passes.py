"""Statements that ask for the passes that time brings (M16)."""

from __future__ import annotations

from sqlalchemy import Connection

# Whoever has a pass waiting already gets no second one. The lanes are locked in the order of their
# ids, as by whoever else waits for more than one: there is no deadlock.
_ACTIVE = """
WITH due AS (
    SELECT agent_id FROM lane
    WHERE greatest(written_at, read_at) > coalesce(beat_at, '-infinity')
      AND coalesce(beat_at, '-infinity') <= now() - %s * interval '1 second'
    ORDER BY agent_id FOR UPDATE)
UPDATE lane SET beat_at = now(),
                compress_req = CASE WHEN compress_req > compress_done THEN compress_req
                                    ELSE compress_req + 1 END
FROM due WHERE lane.agent_id = due.agent_id
"""
# A lane that somebody holds is not idle.
_IDLE = """
WITH due AS (
    SELECT agent_id FROM lane
    WHERE compress_req = compress_done AND pass_number > 0
      AND coalesce(beat_at, '-infinity') <= now() - %s * interval '1 second'
    FOR UPDATE SKIP LOCKED)
UPDATE lane SET beat_at = now(), compress_req = compress_req + 1
FROM due WHERE lane.agent_id = due.agent_id
"""


def ask_for_active(connection: Connection, *, quiet_s: float) -> int:
    """Ask for one pass for every agent that was written to or read since beat last did.

    Returns how many agents that were; beat asked for none of them in the last ``quiet_s``.
    """
    return connection.exec_driver_sql(_ACTIVE, (quiet_s,)).rowcount


def ask_for_idle(connection: Connection, *, quiet_s: float) -> int:
    """Ask for one pass for every agent with a network and no pass that waits."""
    return connection.exec_driver_sql(_IDLE, (quiet_s,)).rowcount
