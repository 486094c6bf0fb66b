"""Positions of messages: given when they are indexed, under the lane's lock (R11b)."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection

from memci.domain.context.position import first_after, position_at, session_at

_SESSIONS = """
SELECT seq, session_id FROM message WHERE agent_id = %s AND seq = ANY(%s) ORDER BY seq
"""
# By the index of sessions: the latest that are indexed come nearly first.
_LAST_OF_SESSION = """
SELECT position FROM message
 WHERE agent_id = %(agent)s AND {condition} AND position IS NOT NULL ORDER BY seq DESC LIMIT 1
"""
_LAST_BEFORE = """
SELECT max(position) FROM message WHERE agent_id = %s AND position < %s
"""
_LAST = "SELECT max(position) FROM message WHERE agent_id = %s"


def next_positions(connection: Connection, agent_id: str, seqs: Sequence[int]) -> dict[int, int]:
    """Return a position for each of these messages that are stored, at the end of its session."""
    rows = connection.exec_driver_sql(_SESSIONS, (agent_id, list(seqs))).all()
    new: dict[str | None, int] = {}
    positions: dict[int, int] = {}
    begun = 0
    for seq, session_id in rows:
        if session_id not in new:
            last = _last_of(connection, agent_id, session_id)
            if last is None:
                new[session_id] = position_at(_sessions(connection, agent_id) + begun, 0)
                begun += 1
            else:
                new[session_id] = last + 1
        positions[seq] = new[session_id]
        new[session_id] += 1
    return positions


def _last_of(connection: Connection, agent_id: str, session_id: str | None) -> int | None:
    """Return the greatest position in a session; None: it has none yet."""
    condition = "session_id IS NULL" if session_id is None else "session_id = %(session)s"
    values = {"agent": agent_id, "session": session_id}
    any_of_it: int | None = connection.exec_driver_sql(
        _LAST_OF_SESSION.format(condition=condition), values
    ).scalar()
    if any_of_it is None:
        return None
    end = first_after(session_at(any_of_it))
    return int(connection.exec_driver_sql(_LAST_BEFORE, (agent_id, end)).scalar_one())


def _sessions(connection: Connection, agent_id: str) -> int:
    """Count the sessions that have had a number."""
    last = connection.exec_driver_sql(_LAST, (agent_id,)).scalar()
    return 0 if last is None else session_at(last) + 1
