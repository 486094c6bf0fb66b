"""Sessions: found by their messages, read in pieces, ended by request (R5, R8, P11)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection, CursorResult, RowMapping

from memci.domain.pages.tree import Viewer
from memci.language.detection import Language, language_of
from memci.message import Message
from memci.storage.messages import COLUMNS, IS_NOTE, in_session, to_message

# From one session to the next by the index: reads only messages of the listed sessions.
_LIST = """
WITH RECURSIVE named AS (
    (SELECT session_id FROM message WHERE agent_id = %(agent)s AND session_id > %(after)s
      ORDER BY session_id LIMIT 1)
    UNION ALL
    SELECT (SELECT m.session_id FROM message m
             WHERE m.agent_id = %(agent)s AND m.session_id > named.session_id
             ORDER BY m.session_id LIMIT 1)
      FROM named WHERE named.session_id IS NOT NULL)
SELECT named.session_id, said.*,
       CASE WHEN e.seq >= said.last_seq THEN e.ended_at END AS ended_at,
       (SELECT count(*) FROM node n WHERE n.agent_id = %(agent)s AND n.tier = 'short'
           AND n.session_id = named.session_id) AS short_memories
  FROM (SELECT session_id FROM named WHERE session_id IS NOT NULL LIMIT %(limit)s) named
 CROSS JOIN LATERAL (
       SELECT count(*) AS messages, min(m.seq) AS first_seq, max(m.seq) AS last_seq,
              min(m.said_at) AS began_at, max(m.said_at) AS last_at,
              max(m.received_at) AS received_at,
              (array_agg(m.said_offset ORDER BY m.said_at, m.seq))[1] AS began_offset,
              (array_agg(m.said_offset ORDER BY m.said_at DESC, m.seq DESC))[1] AS last_offset
         FROM message m WHERE m.agent_id = %(agent)s AND m.session_id = named.session_id) said
  LEFT JOIN session_end e ON e.agent_id = %(agent)s AND e.session_id = named.session_id
 ORDER BY named.session_id
"""
# A repeated end keeps the first time, unless there was a message since.
_END = """
INSERT INTO session_end (agent_id, session_id, seq)
SELECT agent_id, session_id, max(seq) FROM message
 WHERE agent_id = %s AND session_id = %s GROUP BY agent_id, session_id
ON CONFLICT (agent_id, session_id) DO UPDATE
SET seq = excluded.seq,
    ended_at = CASE WHEN session_end.seq < excluded.seq THEN now() ELSE session_end.ended_at END
RETURNING seq, ended_at
"""


def list_sessions(
    connection: Connection, agent_id: str, *, after: str, limit: int
) -> list[RowMapping]:
    """Return sessions whose ids come after one, ascending, with counts and times.

    ``ended_at``: when it was ended by request, if no message came since. The offsets of the first
    and last message are for ``at_offset``.
    """
    values = {"agent": agent_id, "after": after, "limit": limit}
    return list(connection.exec_driver_sql(_LIST, values).mappings())


def end_session(
    connection: Connection, agent_id: str, session_id: str
) -> tuple[int, datetime] | None:
    """Mark a session as ended at its last message; return which, and when.

    None if the session has no message.
    """
    row = connection.exec_driver_sql(_END, (agent_id, session_id)).first()
    return (row.seq, row.ended_at) if row else None


# A message without a user belongs to the user of its session at that time, as on pages.
WHOSE = """
(SELECT b.user_id FROM message b WHERE b.agent_id = m.agent_id AND b.session_id {session}
    AND b.seq <= m.seq AND b.user_id IS NOT NULL ORDER BY b.seq DESC LIMIT 1)
"""
_BETWEEN = f"""
  FROM message m
 WHERE agent_id = %(agent)s AND session_id {{session}} AND seq > %(after)s
   AND seq <= coalesce(%(through)s::bigint, seq)
   AND (%(user)s::text IS NULL OR coalesce({WHOSE}, %(user)s) = %(user)s)
"""
_SAID = f"SELECT {COLUMNS}, {WHOSE} AS whose {_BETWEEN}"
_COUNT = f"SELECT count(*) {_BETWEEN}"
# The starts of the latest interactions: notes are in no conversation, and start none.
_RECENT = f"""
SELECT seq FROM message m
 WHERE agent_id = %(agent)s AND session_id {{session}} AND role = 'user' AND NOT {IS_NOTE}
   AND (%(user)s::text IS NULL OR coalesce({WHOSE}, %(user)s) = %(user)s)
 ORDER BY seq DESC OFFSET %(before)s LIMIT 1
"""  # noqa: S608 - constants
_USERS = """
SELECT DISTINCT user_id FROM message
 WHERE agent_id = %(agent)s AND session_id {session} AND user_id IS NOT NULL AND seq > %(after)s
"""
_LAST = """
SELECT m.seq, m.received_at, coalesce(e.seq >= m.seq, false) AS ended FROM message m
  LEFT JOIN session_end e ON e.agent_id = m.agent_id AND e.session_id = m.session_id
 WHERE m.agent_id = %(agent)s AND m.session_id {session} ORDER BY m.seq DESC LIMIT 1
"""


class SessionMessage(NamedTuple):
    """A message, and the user who said or received it; None if no user was named before."""

    message: Message
    user_id: str | None


class LastMessage(NamedTuple):
    """A session's last message, and whether the session was ended at it."""

    seq: int
    received_at: datetime
    ended: bool


@dataclass(frozen=True, slots=True)
class Conversation:
    """The messages of a session (None: without a session), in one snapshot."""

    connection: Connection
    agent_id: str
    session_id: str | None

    def last(self) -> LastMessage | None:
        """Return its last message, if there is one."""
        row = self._run(_LAST).first()
        return row and LastMessage(row.seq, row.received_at, row.ended)

    def messages(
        self,
        *,
        after: int,
        through: int | None,
        most: int,
        user: str | None = None,
        newest: bool = False,
    ) -> list[SessionMessage]:
        """Return at most ``most`` messages after a seq and through another, ascending.

        They are the first ones, or with ``newest`` the last ones. ``user``: only this user's
        messages, and those without a user.
        """
        statement = f"{_SAID} ORDER BY seq {'DESC' if newest else 'ASC'} LIMIT %(most)s"
        rows = self._run(statement, after=after, through=through, most=most, user=user)
        found = [SessionMessage(to_message(row), row.whose) for row in rows]
        return found[::-1] if newest else found

    def count(self, *, after: int, through: int | None, user: str | None = None) -> int:
        """Count such messages."""
        return int(self._run(_COUNT, after=after, through=through, user=user).scalar_one())

    def before_recent(self, interactions: int, user: str | None = None) -> int:
        """Return the last seq before the latest ``interactions``, at least one.

        0 if there are no more than these.
        """
        found = self._run(_RECENT, before=interactions - 1, user=user).scalar()
        return 0 if found is None else int(found) - 1

    def users(self, *, after: int) -> frozenset[str]:
        """Return the users named in messages after a seq."""
        return frozenset(self._run(_USERS, after=after).scalars())

    def _run(self, statement: str, **values: object) -> CursorResult[Any]:
        return self.connection.exec_driver_sql(
            in_session(statement, self.session_id),
            {"agent": self.agent_id, "session": self.session_id, **values},
        )


def conversation_at(
    connection: Connection, agent_id: str, seqs: Sequence[int]
) -> Conversation | None:
    """Return the session of the first of these messages; None if it is not stored."""
    if not seqs:
        return None
    statement = "SELECT session_id FROM message WHERE agent_id = %s AND seq = %s"
    row = connection.exec_driver_sql(statement, (agent_id, seqs[0])).first()
    return None if row is None else Conversation(connection, agent_id, row.session_id)


_MOST_SAID = 8  # so that an "OK" among Chinese questions changes nothing
_LONGEST = 300  # characters of each
# The user's last messages among the last ones: tools may have sent many since.
_SAID_BY_USER = """
SELECT left(content, %(longest)s) AS said FROM (
    SELECT seq, role, content, user_id FROM message
     WHERE agent_id = %(agent)s AND session_id {session} ORDER BY seq DESC LIMIT 500) AS last
 WHERE role = 'user' AND content IS NOT NULL AND (user_id = %(user)s) IS NOT FALSE
 ORDER BY seq DESC LIMIT %(most)s
"""


def language_spoken(connection: Connection, agent_id: str, viewer: Viewer) -> Language | None:
    """Return the language of the latest messages of a viewer's user; None without messages.

    Page operations and messages of others have no effect on it.
    """
    values = {
        "agent": agent_id,
        "session": viewer.session_id,
        "user": viewer.user_id,
        "longest": _LONGEST,
        "most": _MOST_SAID,
    }
    statement = in_session(_SAID_BY_USER, viewer.session_id)
    texts = connection.exec_driver_sql(statement, values).scalars().all()
    return language_of(" ".join(texts)) if texts else None
