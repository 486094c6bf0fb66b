"""Whose window is meant: of which session, and of which user (R5)."""

from __future__ import annotations

from sqlalchemy import Connection

from memci.domain.pages.tree import Viewer
from memci.storage.messages import IS_NOTE, last_speaker
from memci.storage.pages.tree import settled_seq

# As pages have it (``chapters.settle``): a message that names no user is of the one that its
# session is with. An agent's own notes are said to nobody: who has noted something in a session
# has not spoken with anyone. Settled pages know their users: a long session is not read again, and
# the bound is given as a value, since an index is not searched by a subquery's.
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
    """Return who looks from a session; None: from that of the agent's last message."""
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
    """Return who a read is for: the user that it names, or whom the session is with that it names.

    Who names neither sees what is everybody's.
    """
    if user_id is not None or session_id is None:
        return Viewer(session_id, user_id)
    return session_viewer(connection, agent_id, session_id)


def has_users(connection: Connection, agent_id: str) -> bool:
    """Tell whether any of an agent's messages is a user's of that name."""
    return bool(connection.exec_driver_sql(_USERS, (agent_id,)).scalar())
