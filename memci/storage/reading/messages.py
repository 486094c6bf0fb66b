"""Reads messages: the latest, by seq, of the last session, with their pages."""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import NamedTuple

from memci.language.question.last_session import Conversation, previous_conversation
from memci.message import Message
from memci.storage.messages import COLUMNS, IS_NOTE, in_session, to_message
from memci.storage.pages.page_queries import request_viewer
from memci.storage.search.find import Restriction
from memci.storage.search.sources import message_filters
from memci.storage.session import Connection, rows, tuples
from memci.storage.sessions import WHOSE

# A message of an assistant may name no user: in a session with one user it is this user's. Pages
# know users whose own messages were erased. Both are looked up once, and only if a message names no
# user.
_OF_USER = """(m.user_id = %(with_user)s OR m.user_id IS NULL AND m.session_id {session}
    AND NOT EXISTS (
        SELECT FROM message o WHERE o.agent_id = %(agent)s AND o.session_id {session}
           AND o.user_id <> %(with_user)s)
    AND NOT EXISTS (
        SELECT FROM page p WHERE p.agent_id = %(agent)s AND p.session_id {session}
           AND p.first_seq IS NOT NULL AND p.user_id <> %(with_user)s))"""


def of_user(session_id: str | None) -> str:
    """Return the condition that a message ``m`` belongs to a user.

    Its values are ``agent``, ``session`` (None: messages of no session) and ``with_user``. A
    message without a user belongs to the only user of its session.
    """
    return in_session(_OF_USER, session_id)


_COLUMNS = f"{COLUMNS}, memory_state, memory_reason"
# No more messages than this are read as recent interactions.
MOST_RECENT = 500
NEWEST = 2**62  # after every seq and id

_IDS = "SELECT seq, id FROM message WHERE agent_id = %s AND seq = ANY(%s) ORDER BY seq"
# In pieces, so that the planner sees only conditions that are used: "or it is null" would prevent
# an index.
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
# Messages of queued jobs, which make them into memories; the newest are the likeliest to be found.
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

    Without a session, of all messages or of one user's; only messages until ``as_of``, if given.
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
    """Return messages that are not memories yet, newest first, at most ``most``.

    Of one user, if given, and until ``as_of``. Of all sessions: it is not known yet which of them
    become long-term memories, visible to all (R5).
    """
    asked: dict[str, object] = {"user": user_id, "as_of": as_of}
    statement = _select(asked, _PENDING)
    values = {**asked, "agent": agent_id, "most": most}
    return [to_message(row) for row in connection.exec_driver_sql(statement, values)]


def message_ids(connection: Connection, agent_id: str, seqs: Collection[int]) -> dict[int, str]:
    """Return the ids of stored messages, by seq, ascending."""
    if not seqs:
        return {}
    return dict(rows(connection, _IDS, (agent_id, sorted(seqs))))


def latest_seqs(
    connection: Connection,
    agent_id: str,
    *,
    session_id: str | None,
    user_id: str | None,
    most: int,
) -> list[int]:
    """Return the seqs of the last messages of a session (None: of all) and a user, descending.

    In a session with this user alone, messages without a user belong to the user, too.
    """
    asked: dict[str, object] = {"session": session_id}
    end = f"{_user_condition(user_id, session_id)} ORDER BY m.seq DESC LIMIT %(most)s"
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
    """Return the seqs of stored messages, by id.

    Only of one user, if given, as in ``latest_seqs``.
    """
    end = f"AND m.id = ANY(%(ids)s) {_user_condition(user_id, session_id)}"
    statement = _select({}, end, columns="m.id, m.seq")
    values = {"agent": agent_id, "ids": list(ids), "session": session_id, "with_user": user_id}
    return dict(rows(connection, statement, values))


def filtered_messages(
    connection: Connection,
    agent_id: str,
    restriction: Restriction,
    *,
    after: int | None,
    limit: int,
) -> list[Message]:
    """Return messages within a restriction before the seq ``after``, descending.

    Only of one user, if given, as in ``latest_seqs``.
    """
    asked, user, session = restriction.values(), restriction.user_id, restriction.session_id
    filters = f"{message_filters(asked.keys() - {'user'})} {_user_condition(user, session)}"
    end = "AND m.seq < %(after)s ORDER BY m.seq DESC LIMIT %(limit)s"
    values = {**asked, "agent": agent_id, "after": after or NEWEST, "limit": limit}
    values |= {"session": session, "with_user": user}
    found = connection.exec_driver_sql(_select({}, f"{filters} {end}"), values)
    return [to_message(row) for row in found]


def list_messages(
    connection: Connection, agent_id: str, *, session_id: str | None, after: int, limit: int
) -> list[tuple[Message, str, str | None]]:
    """Return messages after a seq, ascending, with memory state and its reason."""
    asked = {"session": session_id}
    statement = _select(asked, "AND m.seq > %(after)s ORDER BY m.seq LIMIT %(limit)s")
    values = {**asked, "agent": agent_id, "after": after, "limit": limit}
    found = connection.exec_driver_sql(statement, values)
    return [(to_message(row, whole=True), row.memory_state, row.memory_reason) for row in found]


def _user_condition(user_id: str | None, session_id: str | None) -> str:
    return "" if user_id is None else f"AND {of_user(session_id)}"


def _select(asked: Mapping[str, object], end: str, *, columns: str = _COLUMNS) -> str:
    conditions = (f"AND {_CONDITIONS[name]}" for name, value in asked.items() if value is not None)
    return _SELECT.format_map({"columns": columns, "conditions": " ".join(conditions), "end": end})


# The number of messages that are searched, of the current session and of all others.
_MOST = 2_000
_SAID = f"""
SELECT m.session_id, m.said_at, m.seq FROM message m
 WHERE m.agent_id = %(agent)s AND m.said_at <= %(now)s AND m.role IN ('user', 'assistant')
   AND NOT {IS_NOTE} {{conditions}}
"""  # noqa: S608 - a constant of another module
# By the index on times, which has all indexed messages; the others are few.
_NEWEST = "ORDER BY said_at DESC, seq DESC LIMIT %(most)s"
_LATEST_BEFORE = (
    f"({_SAID} AND m.indexed {_NEWEST}) UNION ALL ({_SAID} AND NOT m.indexed {_NEWEST})"
)
_HERE = "AND m.session_id = %(here)s"
_ELSEWHERE = "AND m.session_id IS DISTINCT FROM %(here)s"
# A message of an assistant may name no user: it belongs to the user of its session.
_OF_ITS_SESSION = WHOSE.format(session="= m.session_id")
_WITH = f"AND (m.user_id = %(whose)s OR m.user_id IS NULL AND {_OF_ITS_SESSION} = %(whose)s)"


def last_session(
    connection: Connection, agent_id: str, restriction: Restriction, now: datetime
) -> Conversation | None:
    """Return the last conversation before ``now`` (aware), if there was one.

    The current one, ``restriction.session_id``, is left out. The conversation is of the same user,
    and its messages meet the restriction.
    """
    here, user = restriction.session_id, restriction.user_id
    whose = request_viewer(connection, agent_id, here, user).user_id
    values = restriction.values()
    conditions = message_filters(values) + (_WITH if whose and not user else "")
    values |= {"agent": agent_id, "now": now, "here": here, "whose": whose, "most": _MOST}
    places = (_HERE, _ELSEWHERE) if here else ("",)
    statements = (_LATEST_BEFORE.format(conditions=f"{conditions} {place}") for place in places)
    found = [row for each in statements for row in tuples(connection, each, values)]
    found.sort(key=lambda row: row[1:], reverse=True)
    return previous_conversation(((session, at) for session, at, _ in found), here, now)


# The page of a session, or of no session, that ends first after the message.
_PLACES = """
SELECT m.seq, m.id, place.page FROM message m LEFT JOIN LATERAL (
    (SELECT p.id AS page FROM page p
     WHERE p.agent_id = m.agent_id AND p.first_seq IS NOT NULL AND p.session_id = m.session_id
       AND p.last_seq >= m.seq AND p.first_seq <= m.seq AND (p.number = 0) = (m.role = 'system')
     ORDER BY p.last_seq LIMIT 1)
    UNION ALL
    (SELECT p.id FROM page p
     WHERE m.session_id IS NULL AND p.agent_id = m.agent_id AND p.first_seq IS NOT NULL
       AND p.session_id IS NULL
       AND p.last_seq >= m.seq AND p.first_seq <= m.seq AND (p.number = 0) = (m.role = 'system')
     ORDER BY p.last_seq LIMIT 1)) AS place ON true
WHERE m.agent_id = %s AND m.seq = ANY(%s::bigint[])
"""


class Place(NamedTuple):
    """The id of a message, and the index of its page; None if it has no page yet (P6)."""

    message_id: str
    page: str | None


def places_of(connection: Connection, agent_id: str, seqs: Collection[int]) -> dict[int, Place]:
    """Return the places of stored messages, by seq."""
    if not seqs:
        return {}
    found = rows(connection, _PLACES, (agent_id, sorted(seqs)))
    return {row.seq: Place(row.id, row.page) for row in found}
