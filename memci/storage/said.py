"""What was said in one session, in pieces: what a summary is made of (R8)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection

from memci.domain.message import Message
from memci.storage.messages import COLUMNS, IS_NOTE, to_message

# A message that names no user is of the one whom its session was with then, as pages have it.
_WHOSE = """
(SELECT b.user_id FROM message b WHERE b.agent_id = m.agent_id AND b.session_id {session}
    AND b.seq <= m.seq AND b.user_id IS NOT NULL ORDER BY b.seq DESC LIMIT 1)
"""
_BETWEEN = f"""
  FROM message m
 WHERE agent_id = %(agent)s AND session_id {{session}} AND seq > %(after)s
   AND seq <= coalesce(%(through)s::bigint, seq)
   AND (%(user)s::text IS NULL OR coalesce({_WHOSE}, %(user)s) = %(user)s)
"""
_SAID = f"SELECT {COLUMNS}, {_WHOSE} AS whose {_BETWEEN}"
_FIRST = f"{_SAID} ORDER BY seq LIMIT %(most)s"
_NEWEST = f"{_SAID} ORDER BY seq DESC LIMIT %(most)s"
_HOW_MANY = f"SELECT count(*) {_BETWEEN}"
# Where the latest interactions begin: notes are said to nobody, and begin none.
_RECENT = f"""
SELECT seq FROM message m
 WHERE agent_id = %(agent)s AND session_id {{session}} AND role = 'user' AND NOT {IS_NOTE}
   AND (%(user)s::text IS NULL OR coalesce({_WHOSE}, %(user)s) = %(user)s)
 ORDER BY seq DESC OFFSET %(before)s LIMIT 1
"""  # noqa: S608 - constants
_USERS = """
SELECT DISTINCT user_id FROM message
 WHERE agent_id = %(agent)s AND session_id {session} AND user_id IS NOT NULL AND seq > %(after)s
"""
_NAMED = "SELECT session_id FROM message WHERE agent_id = %s AND seq = %s"
_LAST = """
SELECT m.seq, m.received_at, coalesce(e.seq >= m.seq, false) AS ended FROM message m
  LEFT JOIN session_end e ON e.agent_id = m.agent_id AND e.session_id = m.session_id
 WHERE m.agent_id = %(agent)s AND m.session_id {session} ORDER BY m.seq DESC LIMIT 1
"""


class Said(NamedTuple):
    """A message, and the user whom it was said by or to; None: nobody was named so far."""

    message: Message
    user_id: str | None


class Last(NamedTuple):
    """A session's last message, and whether somebody has ended the session with it."""

    seq: int
    received_at: datetime
    ended: bool


@dataclass(frozen=True, slots=True)
class Conversation:
    """What was said in a session (None: in no session), as it is at one moment."""

    connection: Connection
    agent_id: str
    session_id: str | None

    def last(self) -> Last | None:
        """Return its last message; None: there is none."""
        row = self.connection.exec_driver_sql(self._in(_LAST), self._values()).first()
        return None if row is None else Last(*row)

    def said(
        self, *, after: int, through: int | None, most: int, user: str | None = None
    ) -> list[Said]:
        """Return the first ``most`` messages after a seq and through another, ascending.

        ``user``: what is in this user's sight alone, the user's own and nobody's.
        """
        return self._said(_FIRST, after, through, most, user)

    def last_said(
        self, *, after: int, through: int | None, most: int, user: str | None = None
    ) -> list[Said]:
        """Return the last ``most`` of such messages, ascending."""
        return self._said(_NEWEST, after, through, most, user)[::-1]

    def how_many(self, *, after: int, through: int | None, user: str | None = None) -> int:
        """Count such messages."""
        values = self._values(after=after, through=through, user=user)
        return int(self.connection.exec_driver_sql(self._in(_HOW_MANY), values).scalar_one())

    def before_recent(self, interactions: int, user: str | None = None) -> int:
        """Return the last seq before so many of the latest interactions, at least one.

        0: there are no more than these.
        """
        values = self._values(before=interactions - 1, user=user)
        found = self.connection.exec_driver_sql(self._in(_RECENT), values).scalar()
        return 0 if found is None else int(found) - 1

    def users(self, *, after: int) -> frozenset[str]:
        """Return the users that are named in it after a seq."""
        values = self._values(after=after)
        return frozenset(self.connection.exec_driver_sql(self._in(_USERS), values).scalars())

    def _said(
        self, statement: str, after: int, through: int | None, most: int, user: str | None
    ) -> list[Said]:
        values = self._values(after=after, through=through, most=most, user=user)
        rows = self.connection.exec_driver_sql(self._in(statement), values)
        return [Said(to_message(row), row.whose) for row in rows]

    def _in(self, statement: str) -> str:
        return statement.format(session="IS NULL" if self.session_id is None else "= %(session)s")

    def _values(self, **more: object) -> dict[str, object]:
        return {"agent": self.agent_id, "session": self.session_id, **more}


def conversation_at(
    connection: Connection, agent_id: str, seqs: Sequence[int]
) -> Conversation | None:
    """Return the session that the first of these messages was said in; None: it is not there."""
    if not seqs:
        return None
    row = connection.exec_driver_sql(_NAMED, (agent_id, seqs[0])).first()
    return None if row is None else Conversation(connection, agent_id, row.session_id)
