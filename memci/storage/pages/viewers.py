"""The viewer of a session: its user and whether it is new (R5)."""

from __future__ import annotations

from sqlalchemy import Connection

from memci.domain.pages.tree import Viewer
from memci.storage.messages import IS_NOTE, last_speaker
from memci.storage.pages.tree import settled_seq

# As ``chapters.settle``: a message without a user belongs to the user of its session, and notes of
# an agent make no conversation. Pages store their users, so only messages after ``settled_seq`` are
# read; the bound is a parameter, since a subquery's value would not use the index.
_WITH = f"""
SELECT coalesce(
    (SELECT user_id FROM message
      WHERE agent_id = %(agent)s AND session_id {{session}} AND user_id IS NOT NULL
        AND seq > %(settled)s
      ORDER BY seq DESC LIMIT 1),
    (SELECT user_id FROM page
      WHERE agent_id = %(agent)s AND session_id {{session}} AND first_seq IS NOT NULL AND number > 0
      ORDER BY last_seq DESC LIMIT 1)) AS user_id,
    EXISTS (SELECT FROM message
             WHERE agent_id = %(agent)s AND session_id {{session}} AND NOT {IS_NOTE}) AS spoken
"""  # noqa: S608 - a constant of another module
_USERS = "SELECT EXISTS (SELECT FROM message WHERE agent_id = %s AND user_id IS NOT NULL)"


def session_viewer(connection: Connection, agent_id: str, session_id: str | None) -> Viewer:
    """Return the viewer of a session; None: the session of the agent's last message."""
    last = last_speaker(connection, agent_id, session_id)
    if last is None:
        return Viewer(session_id, is_new=True)
    session, user = last
    if user is not None:
        return Viewer(session, user)
    statement = _WITH.format(session="IS NULL" if session is None else "= %(session)s")
    settled = settled_seq(connection, agent_id)
    values = {"agent": agent_id, "session": session, "settled": settled}
    row = connection.exec_driver_sql(statement, values).one()
    return Viewer(session, row.user_id, is_new=row.user_id is None and not row.spoken)


def request_viewer(
    connection: Connection, agent_id: str, session_id: str | None, user_id: str | None
) -> Viewer:
    """Return the viewer of a read: the given user, or the user of the given session.

    Without both, a viewer without a user.
    """
    if user_id is not None or session_id is None:
        return Viewer(session_id, user_id)
    return session_viewer(connection, agent_id, session_id)


def has_users(connection: Connection, agent_id: str) -> bool:
    """Return True if any message of the agent names a user."""
    return bool(connection.exec_driver_sql(_USERS, (agent_id,)).scalar())
