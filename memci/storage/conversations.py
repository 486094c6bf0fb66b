"""What was said in a session before some message."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection

from memci.domain.memory.state import MemoryState
from memci.domain.message import Message
from memci.storage.messages import COLUMNS, to_message

# Messages without a session make one together. "IS NOT DISTINCT FROM" would not use the index.
_BEFORE = """
SELECT * FROM (
    SELECT {columns}, memory_state FROM message
    WHERE agent_id = %(agent)s AND session_id {session} AND seq < %(seq)s
    AND remember <> 'never'
    ORDER BY seq DESC LIMIT %(most)s) AS latest
WHERE user_id IS NOT DISTINCT FROM %(user)s ORDER BY seq
"""


@dataclass(frozen=True, slots=True)
class Earlier:
    """A message from before, and whether a memory was made of it."""

    message: Message
    made: bool


def said_before(
    connection: Connection, agent_id: str, message: Message, most: int
) -> list[Earlier]:
    """Return what its user said or was told among the session's ``most`` messages before it.

    Without those that came with ``never``: nothing of theirs may get into a memory.
    """
    session = "IS NULL" if message.session_id is None else "= %(session)s"
    values = {
        "agent": agent_id,
        "session": message.session_id,
        "user": message.user_id,
        "seq": message.seq,
        "most": most,
    }
    statement = _BEFORE.format(columns=COLUMNS, session=session)
    return [
        Earlier(to_message(row), row.memory_state == MemoryState.MADE)
        for row in connection.exec_driver_sql(statement, values)
    ]


def receipt_times(
    connection: Connection, agent_id: str, seqs: Sequence[int]
) -> dict[int, datetime]:
    """Return when messages came in, by seq: aware UTC."""
    query = "SELECT seq, received_at FROM message WHERE agent_id = %s AND seq = ANY(%s)"
    rows = connection.exec_driver_sql(query, (agent_id, list(seqs)))
    return {row.seq: row.received_at for row in rows}
