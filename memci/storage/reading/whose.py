"""Whose a message is, as tools of an agent have it: they read nothing of another user (R5)."""

from __future__ import annotations

# Whoever records an assistant may leave the user out: in a session with no other user it is this
# one's. Pages know of users whose own words were erased. Both are asked once, and only where a
# message names nobody.
_OF_USER = """(m.user_id = %(with_user)s OR m.user_id IS NULL AND m.session_id {session}
    AND NOT EXISTS (
        SELECT FROM message o WHERE o.agent_id = %(agent)s AND o.session_id {session}
           AND o.user_id <> %(with_user)s)
    AND NOT EXISTS (
        SELECT FROM page p WHERE p.agent_id = %(agent)s AND p.session_id {session}
           AND p.first_seq IS NOT NULL AND p.user_id <> %(with_user)s))"""


def of_user(session_id: str | None) -> str:
    """Return the condition on a message ``m`` that it is of the user whom a session is with.

    It takes ``agent``, ``session`` (None: messages of no session) and ``with_user``. A message that
    names no user is of the one that its session is with, if it is with nobody else.
    """
    return _OF_USER.format(session="IS NULL" if session_id is None else "= %(session)s")
