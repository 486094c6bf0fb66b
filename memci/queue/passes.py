"""Statements that ask for the passes that time brings (M16)."""

from __future__ import annotations

import structlog
from sqlalchemy import Connection

from memci.errors import DatabaseBusyError
from memci.storage.erasure.gone import IS_THERE
from memci.storage.session import Database

_log = structlog.get_logger(__name__)

# A collection has no network (R9).
_DUE = f"""{IS_THERE} AND NOT starts_with(agent_id, 'collection/')
      AND greatest(written_at, read_at) > coalesce(beat_at, '-infinity')
      AND coalesce(beat_at, '-infinity') <= now() - %(quiet_s)s * interval '1 second'"""
# Whoever has a pass waiting already gets no second one.
_ASK = """
SET beat_at = now(), compress_req = CASE WHEN compress_req > compress_done THEN compress_req
                                         ELSE compress_req + 1 END
"""
# In the order of ids, so that the bites together walk once through the lanes.
_ACTIVE = f"""
WITH due AS (
    SELECT agent_id FROM lane WHERE agent_id > %(after)s AND {_DUE}
    ORDER BY agent_id LIMIT %(most)s FOR UPDATE SKIP LOCKED),
asked AS (
    UPDATE lane {_ASK} FROM due WHERE lane.agent_id = due.agent_id RETURNING lane.agent_id)
SELECT agent_id FROM asked ORDER BY agent_id
"""  # noqa: S608 - a constant of this module
_LEFT = f"SELECT agent_id FROM lane WHERE {_DUE}"  # noqa: S608 - a constant of this module
_BRIEFLY = "SET LOCAL lock_timeout = '2s'"
_ONE = f"UPDATE lane {_ASK} WHERE agent_id = %(agent_id)s AND {_DUE}"
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


def ask_for_active(connection: Connection, *, quiet_s: float, after: str, most: int) -> list[str]:
    """Ask for one pass for agents that were written to or read since beat last did.

    They are the first so many behind ``after``, in the order of their ids, of those whose lanes
    nobody has locked; beat asked for none of them in the last ``quiet_s``. Returns them in order.
    """
    values = {"quiet_s": quiet_s, "after": after, "most": most}
    return list(connection.exec_driver_sql(_ACTIVE, values).scalars())


def left_active(connection: Connection, *, quiet_s: float) -> list[str]:
    """Return those for whom ``ask_for_active`` would still ask."""
    return list(connection.exec_driver_sql(_LEFT, {"quiet_s": quiet_s}).scalars())


def ask_for_one(database: Database, agent_id: str, *, quiet_s: float) -> int:
    """Ask as ``ask_for_active`` does, but wait for the lane, two seconds at most.

    In a transaction of its own: whoever waits holds no other lane. Returns how many were asked
    for; none when the lane was locked for longer.
    """
    values = {"agent_id": agent_id, "quiet_s": quiet_s}
    try:
        with database.upkeep_transaction() as connection:
            connection.exec_driver_sql(_BRIEFLY)
            return connection.exec_driver_sql(_ONE, values).rowcount
    except DatabaseBusyError:
        _log.info("pass not asked for: the lane is busy", agent_id=agent_id)
        return 0


def ask_for_idle(connection: Connection, *, quiet_s: float) -> int:
    """Ask for one pass for every agent with a network and no pass that waits."""
    return connection.exec_driver_sql(_IDLE, (quiet_s,)).rowcount
