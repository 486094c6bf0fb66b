"""Summaries of sessions in the database, their users, and who may see them (R8)."""

from collections.abc import Collection
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta

from sqlalchemy import Connection, RowMapping

from memci.domain.pages.tree import Viewer

_COLUMNS = (
    "session_id, user_id, users, from_seq, through_seq, text, tokens, model, final, made_at,"
    " counted_seq, counted_tokens"
)
_OF_SESSION = f"""
SELECT {_COLUMNS} FROM summary WHERE agent_id = %s AND session_id = %s
"""  # noqa: S608 - constants of this module
# Of several visible ones the one that reaches furthest: for the only user of a session that of all
# messages, else the user's own.
_READ = f"""
SELECT {_COLUMNS} FROM summary
 WHERE agent_id = %(agent)s AND session_id = %(session)s AND text <> ''
   AND CASE WHEN %(all)s THEN user_id = '' ELSE users <@ %(users)s::text[] END
 ORDER BY through_seq DESC, user_id LIMIT 1
"""  # noqa: S608 - as above
_LIST = f"""
SELECT {_COLUMNS} FROM summary
 WHERE agent_id = %(agent)s AND text <> ''
   AND (session_id, user_id) > (%(session)s::text, %(user)s::text)
   AND (session_id = %(only)s::text) IS NOT FALSE
 ORDER BY session_id, user_id LIMIT %(limit)s
"""  # noqa: S608 - as above
_SAVE = """
INSERT INTO summary (agent_id, session_id, user_id, users, from_seq, through_seq, text, tokens,
                     model, final, counted_seq)
VALUES (%(agent)s, %(session_id)s, %(user_id)s, %(users)s, %(from_seq)s, %(through_seq)s, %(text)s,
        %(tokens)s, %(model)s, %(final)s, %(through_seq)s)
ON CONFLICT (agent_id, session_id, user_id) DO UPDATE
SET users = excluded.users, from_seq = excluded.from_seq, through_seq = excluded.through_seq,
    text = excluded.text, tokens = excluded.tokens, model = excluded.model,
    final = excluded.final, counted_seq = excluded.counted_seq, counted_tokens = 0,
    made_at = now()
"""
_COUNTED = """
UPDATE summary SET counted_seq = %s, counted_tokens = %s, final = %s
WHERE agent_id = %s AND session_id = %s AND user_id = ''
"""
# Summaries with erased messages; new ones are made of the remaining messages.
FIRST_ERASED = """(
    SELECT coalesce(session_id, '') AS session, min(seq) AS first FROM message
     WHERE agent_id = %(agent)s AND seq = ANY(%(seqs)s::bigint[]) GROUP BY 1) AS erased"""
_LOSING = f"""
SELECT DISTINCT session_id FROM summary JOIN {FIRST_ERASED} ON session_id = erased.session
 WHERE agent_id = %(agent)s AND text <> '' AND through_seq >= erased.first
"""  # noqa: S608 - a constant of this module
# Summaries with these messages are deleted, and made again from what reads show.
DROPPED = (
    f"""
    DELETE FROM summary USING {FIRST_ERASED}
     WHERE agent_id = %(agent)s AND session_id = erased.session AND through_seq >= erased.first
    """,  # noqa: S608 - a constant of ours
    # The count towards the next summary starts again, too.
    f"""
    UPDATE summary SET counted_seq = through_seq, counted_tokens = 0 FROM {FIRST_ERASED}
     WHERE agent_id = %(agent)s AND session_id = erased.session AND counted_seq >= erased.first
    """,  # noqa: S608 - a constant of ours
)
_OPEN = """
INSERT INTO summary (agent_id, session_id, user_id) VALUES (%s, %s, '') ON CONFLICT DO NOTHING
"""
# Sessions that were ended by request or by silence, and when the others will end.
_OPEN_SESSIONS = """
SELECT s.session_id, last.received_at + %(silence)s AS ends_at,
       coalesce(e.seq >= last.seq, false) AS ended
  FROM summary s CROSS JOIN LATERAL (
       SELECT seq, received_at FROM message m
        WHERE m.agent_id = %(agent)s AND m.session_id = s.session_id
        ORDER BY seq DESC LIMIT 1) AS last
  LEFT JOIN session_end e ON e.agent_id = %(agent)s AND e.session_id = s.session_id
 WHERE s.agent_id = %(agent)s AND NOT s.final AND s.user_id = '' AND s.session_id <> ''
"""


@dataclass(frozen=True, slots=True)
class StoredSummary:
    """The summary of the messages of a session between two seqs."""

    # None: of the messages without a session.
    session_id: str | None
    # If several users speak in the session, the user who may see the summary; None: it covers all
    # messages. It includes every message up to ``through_seq`` that this user may see.
    user_id: str | None = None
    # Users whose words it contains.
    users: frozenset[str] = frozenset()
    from_seq: int = 0
    through_seq: int = 0
    text: str = ""
    tokens: int = 0
    model: str = ""
    # The session has ended, and no message came after it.
    final: bool = False
    made_at: datetime | None = None
    # The messages after ``through_seq`` and up to ``counted_seq`` have ``counted_tokens``.
    counted_seq: int = 0
    counted_tokens: int = 0


@dataclass(frozen=True, slots=True)
class OpenSession:
    """A session without a final summary, and when it ends without another message."""

    session_id: str
    ends_at: datetime
    ended: bool


def read_summary(
    connection: Connection, agent_id: str, session_id: str | None, viewer: Viewer
) -> StoredSummary | None:
    """Return a session's newest summary that the viewer may see, if there is one.

    None for ``session_id`` means messages without a session. Words of other users are not visible.
    """
    values = {
        "agent": agent_id,
        "session": session_id or "",
        "all": viewer.sees_all,
        "users": [] if viewer.user_id is None else [viewer.user_id],
    }
    row = connection.exec_driver_sql(_READ, values).mappings().first()
    return None if row is None else _to_summary(row)


def summaries_of(
    connection: Connection, agent_id: str, session_id: str | None
) -> dict[str | None, StoredSummary]:
    """Return the summaries of a session by user; under None, that of all messages."""
    rows = connection.exec_driver_sql(_OF_SESSION, (agent_id, session_id or ""))
    found = map(_to_summary, rows.mappings())
    return {each.user_id: each for each in found}


def list_summaries(
    connection: Connection,
    agent_id: str,
    *,
    only: str | None,
    after: tuple[str, str],
    limit: int,
) -> list[StoredSummary]:
    """Return summaries after a session and user, ascending; ``only`` of one session, if given."""
    values = {
        "agent": agent_id,
        "only": only,
        "session": after[0],
        "user": after[1],
        "limit": limit,
    }
    return list(map(_to_summary, connection.exec_driver_sql(_LIST, values).mappings()))


def save_summary(connection: Connection, agent_id: str, summary: StoredSummary) -> None:
    """Replace the summary of a session and user; messages after it are not counted yet."""
    values = {
        **asdict(summary),
        "agent": agent_id,
        "session_id": summary.session_id or "",
        "user_id": summary.user_id or "",
        "users": sorted(summary.users),
    }
    connection.exec_driver_sql(_SAVE, values)


def save_count(connection: Connection, agent_id: str, counted: StoredSummary) -> None:
    """Store how many tokens follow the summary, and whether it is final."""
    values = (counted.counted_seq, counted.counted_tokens, counted.final)
    connection.exec_driver_sql(_COUNTED, (*values, agent_id, counted.session_id or ""))


def open_session(connection: Connection, agent_id: str, session_id: str | None) -> None:
    """Register a session, so that it gets a final summary when it has ended."""
    connection.exec_driver_sql(_OPEN, (agent_id, session_id or ""))


def open_sessions(
    connection: Connection, agent_id: str, *, silence: timedelta
) -> list[OpenSession]:
    """Return the sessions that have no final summary."""
    values = {"agent": agent_id, "silence": silence}
    return [OpenSession(*row) for row in connection.exec_driver_sql(_OPEN_SESSIONS, values)]


def losing_summaries(
    connection: Connection, agent_id: str, seqs: Collection[int]
) -> list[str | None]:
    """Return the sessions whose summaries must be erased with these stored messages."""
    values = {"agent": agent_id, "seqs": list(seqs)}
    found = connection.exec_driver_sql(_LOSING, values).scalars()
    return [each or None for each in found]


def drop_summaries(connection: Connection, agent_id: str, seqs: Collection[int]) -> None:
    """Delete the summaries with these messages."""
    for statement in DROPPED:
        connection.exec_driver_sql(statement, {"agent": agent_id, "seqs": list(seqs)})


def _to_summary(row: RowMapping) -> StoredSummary:
    named = {name: row[name] or None for name in ("session_id", "user_id")}
    return StoredSummary(**{**dict(row), **named, "users": frozenset(row["users"])})
