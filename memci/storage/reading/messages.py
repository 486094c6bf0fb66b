"""Messages, read: the latest of a conversation, ids of seqs, and lists."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime

from sqlalchemy import Connection

from memci.domain.message import Message
from memci.storage.messages import to_message
from memci.storage.reading.whose import of_user
from memci.storage.session import rows

COLUMNS = (
    "m.seq, m.id, m.role, m.content, m.said_at, m.said_offset, m.name, m.session_id, m.user_id,"
    " m.tool_calls, m.tool_call_id, m.metadata, m.memory_state, m.memory_reason"
)
# More messages than this are no "recent interactions", whoever counts them.
MOST_RECENT = 500

_IDS = "SELECT seq, id FROM message WHERE agent_id = %s AND seq = ANY(%s)"
# In its pieces, so that the planner sees only what is asked: "or it is null" would hide an index.
_CONDITIONS = {
    "session": "m.session_id = %(session)s",
    "user": "m.user_id = %(user)s",
    "as_of": "m.said_at <= %(as_of)s",
}
_SELECT = "SELECT {columns} FROM message m WHERE m.agent_id = %(agent)s {conditions} {end}"
_LATEST = """
WITH latest AS MATERIALIZED ({latest})
SELECT * FROM latest
 WHERE seq >= coalesce((SELECT seq FROM latest WHERE role = 'user'
                         ORDER BY seq DESC OFFSET %(interactions)s - 1 LIMIT 1), 0)
 ORDER BY seq
"""
# What a queued job is still to make into memories; the newest are the likeliest to be asked for.
_PENDING = """
AND EXISTS (
    SELECT 1 FROM job j WHERE j.agent_id = %(agent)s AND j.state = 'queued'
       AND j.kind = 'memci.memory.create'
       AND m.seq BETWEEN j.first_seq AND j.last_seq)
ORDER BY m.seq DESC LIMIT %(most)s
"""


def recent_messages(
    connection: Connection,
    agent_id: str,
    *,
    session_id: str | None,
    user_id: str | None,
    interactions: int,
    as_of: datetime | None = None,
) -> list[Message]:
    """Return the messages of the last interactions, ascending: each begins with a user message.

    Without a session the agent's whole sequence counts, or that of one user; of what was said
    until ``as_of``, if given.
    """
    if interactions == 0:
        return []
    asked: dict[str, object] = {"session": session_id, "user": user_id, "as_of": as_of}
    values = {**asked, "agent": agent_id, "interactions": interactions, "most": MOST_RECENT}
    latest = _select(asked, "ORDER BY m.seq DESC LIMIT %(most)s")
    statement = _LATEST.format_map({"latest": latest})
    return [to_message(row) for row in rows(connection, statement, values)]


def pending_messages(
    connection: Connection,
    agent_id: str,
    *,
    user_id: str | None,
    as_of: datetime | None,
    most: int,
) -> list[Message]:
    """Return messages that are still to be made into memories, newest first, at most ``most``.

    Those of one user alone, if given, and of what was said until ``as_of``; of all sessions: which
    of them will be long-term memories, in sight of all (R5), is not known yet.
    """
    asked: dict[str, object] = {"user": user_id, "as_of": as_of}
    statement = _select(asked, _PENDING)
    values = {**asked, "agent": agent_id, "most": most}
    return [to_message(row) for row in connection.exec_driver_sql(statement, values)]


def message_ids(connection: Connection, agent_id: str, seqs: Collection[int]) -> dict[int, str]:
    """Return the ids of those of these messages that are stored."""
    if not seqs:
        return {}
    return dict(rows(connection, _IDS, (agent_id, sorted(seqs))))


def messages_at(connection: Connection, agent_id: str, seqs: Collection[int]) -> list[Message]:
    """Return those of these messages that are stored, ascending."""
    statement = _select({}, "AND m.seq = ANY(%(seqs)s) ORDER BY m.seq")
    values = {"agent": agent_id, "seqs": sorted(seqs)}
    return [to_message(row) for row in connection.exec_driver_sql(statement, values)]


def latest_seqs(
    connection: Connection,
    agent_id: str,
    *,
    session_id: str | None,
    user_id: str | None,
    most: int,
) -> list[int]:
    """Return the seqs of the last messages of a session, or of all, and of one user; descending.

    In a session that is with this user alone, those that name no user are the user's, too.
    """
    asked: dict[str, object] = {"session": session_id}
    end = f"{_whose(user_id, session_id)} ORDER BY m.seq DESC LIMIT %(most)s"
    statement = _select(asked, end, columns="m.seq")
    values = {**asked, "agent": agent_id, "with_user": user_id, "most": most}
    return list(connection.exec_driver_sql(statement, values).scalars())


def seqs_of(
    connection: Connection,
    agent_id: str,
    ids: Collection[str],
    *,
    session_id: str | None = None,
    user_id: str | None = None,
) -> dict[str, int]:
    """Return the seqs of those of these messages that are stored, by id.

    Of one user, if given, and of those that name none as ``latest_seqs`` in the session.
    """
    end = f"AND m.id = ANY(%(ids)s) {_whose(user_id, session_id)}"
    statement = _select({}, end, columns="m.id, m.seq")
    values = {"agent": agent_id, "ids": list(ids), "session": session_id, "with_user": user_id}
    return dict(rows(connection, statement, values))


def list_messages(
    connection: Connection, agent_id: str, *, session_id: str | None, after: int, limit: int
) -> list[tuple[Message, str, str | None]]:
    """Return messages after a seq, ascending, each with its memory state and the reason for it."""
    asked = {"session": session_id}
    statement = _select(asked, "AND m.seq > %(after)s ORDER BY m.seq LIMIT %(limit)s")
    values = {**asked, "agent": agent_id, "after": after, "limit": limit}
    found = connection.exec_driver_sql(statement, values)
    return [(to_message(row), row.memory_state, row.memory_reason) for row in found]


def _whose(user_id: str | None, session_id: str | None) -> str:
    return "" if user_id is None else f"AND {of_user(session_id)}"


def _select(asked: Mapping[str, object], end: str, *, columns: str = COLUMNS) -> str:
    given = (f"AND {_CONDITIONS[name]}" for name, value in asked.items() if value is not None)
    return _SELECT.format_map({"columns": columns, "conditions": " ".join(given), "end": end})
