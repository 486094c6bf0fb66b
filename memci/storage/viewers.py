"""Whose window is meant: of which session, and of which user (R5)."""

from __future__ import annotations

from sqlalchemy import Connection

from memci.domain.pages.viewer import Viewer
from memci.storage.messages import last_speaker

# As pages have it (``chapters.settle``): a message that names no user is of the one that its
# session is with.
_WITH = """
SELECT coalesce(
    (SELECT user_id FROM message
      WHERE agent_id = %(agent)s AND session_id {session} AND user_id IS NOT NULL AND seq >
            coalesce((SELECT settled_seq FROM page_tree WHERE agent_id = %(agent)s), 0)
      ORDER BY seq DESC LIMIT 1),
    (SELECT user_id FROM page
      WHERE agent_id = %(agent)s AND session_id {session} AND first_seq IS NOT NULL AND number > 0
      ORDER BY last_seq DESC LIMIT 1))
"""


def viewer_in(connection: Connection, agent_id: str, session_id: str | None) -> Viewer:
    """Return who looks from a session; None: from that of the agent's last message."""
    last = last_speaker(connection, agent_id, session_id)
    if last is None:
        return Viewer(session_id, is_new=True)
    session, user = last
    if user is None:
        statement = _WITH.format(session="IS NULL" if session is None else "= %(session)s")
        values = {"agent": agent_id, "session": session}
        user = connection.exec_driver_sql(statement, values).scalar()
    return Viewer(session, user)
