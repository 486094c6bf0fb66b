"""In which language a session's user speaks, and so in which one its window does (P11)."""

from __future__ import annotations

from sqlalchemy import Connection

from memci.domain.language import Language, language_of
from memci.domain.pages.viewer import Viewer

_MOST_SAID = 8  # so that an "OK" among Chinese questions changes nothing
_LONGEST = 300  # characters of each
# The user's last messages among the last ones: tools may have said very much since.
_SAID = """
SELECT left(content, %(longest)s) AS said FROM (
    SELECT seq, role, content, user_id FROM message
     WHERE agent_id = %(agent)s AND session_id {session} ORDER BY seq DESC LIMIT 500) AS last
 WHERE role = 'user' AND content IS NOT NULL AND (user_id = %(user)s) IS NOT FALSE
 ORDER BY seq DESC LIMIT %(most)s
"""


def language_spoken(connection: Connection, agent_id: str, viewer: Viewer) -> Language | None:
    """Return the language of what a viewer's user has said last; None: nobody has said anything.

    What anybody does with pages leaves it as it is, and so does what others say.
    """
    session = viewer.session_id
    values = {
        "agent": agent_id,
        "session": session,
        "user": viewer.user_id,
        "longest": _LONGEST,
        "most": _MOST_SAID,
    }
    statement = _SAID.format(session="IS NULL" if session is None else "= %(session)s")
    said = connection.exec_driver_sql(statement, values).scalars().all()
    return language_of(" ".join(said)) if said else None
