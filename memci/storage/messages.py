"""The message sequence, append-only (M2), and broker messages that could not be read.

The latter are stored under the id of their dead job.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, Row

from memci.domain.memory.message_filter import MemoryState
from memci.language.times.calendar import at_offset
from memci.message import NOTE_PATH, Message, NewMessage, Role, shown_text

# The columns for ``to_message``.
COLUMNS = (
    "seq, id, role, content, said_at, said_offset, name, session_id, user_id, tool_calls,"
    " tool_call_id, metadata, withheld"
)

# Notes of an agent to itself (R20), as in ``Message.is_note``.
IS_NOTE = f"""(role = 'assistant'
    AND metadata->'{NOTE_PATH[0]}'->'{NOTE_PATH[1]}' = 'true'::jsonb) IS TRUE"""

_STORED = """
SELECT id, seq, role, content, name, tool_calls, tool_call_id
FROM message WHERE agent_id = %s AND id = ANY(%s)
"""
_LAST = f"""
SELECT session_id, user_id FROM message WHERE agent_id = %(agent)s {{of_session}} AND NOT {IS_NOTE}
 ORDER BY seq DESC LIMIT 1
"""  # noqa: S608 - a constant of this module


@dataclass(frozen=True, slots=True)
class Stored:
    """A stored message, to tell a repetition from another message with the same id."""

    seq: int
    said: tuple[object, ...]


def identity_fields(message: NewMessage) -> tuple[object, ...]:
    """Return the fields that make two messages the same."""
    calls = [dict(call) for call in message.tool_calls] or None
    return (message.role, message.content, message.name, calls, message.tool_call_id)


def find_stored(connection: Connection, agent_id: str, ids: Sequence[str]) -> dict[str, Stored]:
    """Return the messages among ``ids`` that this agent already has."""
    if not ids:
        return {}
    rows = connection.exec_driver_sql(_STORED, (agent_id, list(ids)))
    return {row.id: Stored(row.seq, tuple(row)[2:]) for row in rows}


def to_message(row: Row[Any], *, whole: bool = False) -> Message:
    """Turn a row with this module's columns into a message.

    ``whole``: with what reads do not show, since it was deleted or corrected.
    """
    message = Message(
        seq=row.seq,
        id=row.id,
        role=Role(row.role),
        content=row.content,
        said_at=at_offset(row.said_at, row.said_offset),
        name=row.name,
        session_id=row.session_id,
        user_id=row.user_id,
        tool_calls=tuple(row.tool_calls or ()),
        tool_call_id=row.tool_call_id,
        metadata=row.metadata or {},
    )
    if whole or not row.withheld:
        return message
    return replace(message, content=shown_text(message.text, row.withheld), tool_calls=())


def in_session(statement: str, session_id: str | None) -> str:
    """Fill ``session_id {session}`` in a statement; ``=`` and ``IS NULL`` both use the index."""
    return statement.format(session="IS NULL" if session_id is None else "= %(session)s")


def select_messages(
    connection: Connection,
    where: str,
    values: tuple[Any, ...] | dict[str, Any],
    *,
    whole: bool = False,
) -> list[Message]:
    """Return the messages that meet a condition in SQL, which may end with an order and a limit."""
    statement = f"SELECT {COLUMNS} FROM message WHERE {where}"  # noqa: S608 - constants of ours
    found = connection.exec_driver_sql(statement, values)
    return [to_message(row, whole=whole) for row in found]


def read_messages(
    connection: Connection, agent_id: str, seqs: Collection[int], *, whole: bool = False
) -> list[Message]:
    """Return the messages that are stored, ascending; ``whole``: as in ``to_message``."""
    where = "agent_id = %s AND seq = ANY(%s) ORDER BY seq"
    return select_messages(connection, where, (agent_id, list(seqs)), whole=whole)


def stored_seqs(connection: Connection, agent_id: str, seqs: Collection[int]) -> list[int]:
    """Return the seqs that are stored, ascending; the others were erased."""
    statement = "SELECT seq FROM message WHERE agent_id = %s AND seq = ANY(%s) ORDER BY seq"
    return list(connection.exec_driver_sql(statement, (agent_id, list(seqs))).scalars())


def last_speaker(
    connection: Connection, agent_id: str, session_id: str | None
) -> tuple[str | None, str | None] | None:
    """Return session and user of an agent's last message, of one session or of all."""
    values = {"agent": agent_id, "session": session_id}
    of_session = "" if session_id is None else "AND session_id = %(session)s"
    row = connection.exec_driver_sql(_LAST.format(of_session=of_session), values).first()
    return None if row is None else (row.session_id, row.user_id)


# Messages without a session count as one session. "IS NOT DISTINCT FROM" would use no index.
_BEFORE = f"""
SELECT asked.seq AS before, latest.*
  FROM unnest(%(sessions)s::text[], %(users)s::text[], %(seqs)s::bigint[])
       AS asked(session_id, user_id, seq)
 CROSS JOIN LATERAL (
    SELECT {COLUMNS}, memory_state FROM message
     WHERE agent_id = %(agent)s AND session_id {{session}} AND seq < asked.seq
       AND remember <> 'never' AND NOT {IS_NOTE}
     ORDER BY seq DESC LIMIT %(most)s) AS latest
 WHERE latest.user_id IS NOT DISTINCT FROM asked.user_id {{asked}}
"""  # noqa: S608 - a constant of this module
_ALL_BEFORE = (
    _BEFORE.format(session="= asked.session_id", asked="")
    + " UNION ALL "
    + _BEFORE.format(session="IS NULL", asked="AND asked.session_id IS NULL")
    + " ORDER BY seq"
)


@dataclass(frozen=True, slots=True)
class Earlier:
    """An earlier message, and whether a memory was made of it."""

    message: Message
    made: bool


def said_before(
    connection: Connection, agent_id: str, messages: Collection[Message], most: int
) -> dict[int, list[Earlier]]:
    """Return, by seq, the earlier messages of the same session and user, ascending.

    At most ``most`` of them, without notes and without messages that came with ``never``: nothing
    of theirs may get into a memory.
    """
    values = {
        "agent": agent_id,
        "sessions": [each.session_id for each in messages],
        "users": [each.user_id for each in messages],
        "seqs": [each.seq for each in messages],
        "most": most,
    }
    found: dict[int, list[Earlier]] = {each.seq: [] for each in messages}
    for row in connection.exec_driver_sql(_ALL_BEFORE, values):
        made = row.memory_state == MemoryState.MADE
        found[row.before].append(Earlier(to_message(row), made))
    return found


def receipt_times(
    connection: Connection, agent_id: str, seqs: Sequence[int]
) -> dict[int, datetime]:
    """Return when messages were received, by seq: aware UTC."""
    query = "SELECT seq, received_at FROM message WHERE agent_id = %s AND seq = ANY(%s)"
    rows = connection.exec_driver_sql(query, (agent_id, list(seqs)))
    return {row.seq: row.received_at for row in rows}


def bury_dead_letter(
    connection: Connection, agent_id: str, job_id: UUID, body: bytes | None, error: str
) -> None:
    """Store the bytes of a broker message, if there are any, and make its job dead."""
    if body is not None:
        connection.exec_driver_sql(
            "INSERT INTO dead_letter (agent_id, job_id, body) VALUES (%s, %s, %s)"
            " ON CONFLICT DO NOTHING",
            (agent_id, job_id, body),
        )
    connection.exec_driver_sql(
        "UPDATE job SET state = 'dead', finished_at = clock_timestamp(), last_error = %s"
        " WHERE agent_id = %s AND id = %s",
        (error, agent_id, job_id),
    )


def read_dead_letter(connection: Connection, agent_id: str, job_id: UUID) -> bytes | None:
    """Return the bytes of a dead job's broker message; None: it has none."""
    query = "SELECT body FROM dead_letter WHERE agent_id = %s AND job_id = %s"
    body: bytes | None = connection.exec_driver_sql(query, (agent_id, job_id)).scalar()
    return body


def jobs_with_dead_letters(connection: Connection, agent_id: str) -> list[UUID]:
    """Return the dead jobs whose broker messages are stored."""
    query = "SELECT job_id FROM dead_letter WHERE agent_id = %s"
    return list(connection.exec_driver_sql(query, (agent_id,)).scalars())


def delete_dead_letter(connection: Connection, agent_id: str, job_id: UUID) -> None:
    """Delete the bytes of a broker message, if there are any."""
    connection.exec_driver_sql(
        "DELETE FROM dead_letter WHERE agent_id = %s AND job_id = %s", (agent_id, job_id)
    )
