"""What was said in a session before some message, and when messages came in."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection

from memci.domain.memory.state import MemoryState
from memci.domain.message import Message
from memci.storage.messages import COLUMNS, IS_NOTE, to_message

# Messages without a session make one together. "IS NOT DISTINCT FROM" would not use the index.
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
    """A message from before, and whether a memory was made of it."""

    message: Message
    made: bool


def said_before(
    connection: Connection, agent_id: str, messages: Collection[Message], most: int
) -> dict[int, list[Earlier]]:
    """Return, by seq, what a message's user said or was told before it, ascending.

    Of the ``most`` messages before it in its session, without notes, which nobody was told, and
    without those that came with ``never``: nothing of theirs may get into a memory.
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
    """Return when messages came in, by seq: aware UTC."""
    query = "SELECT seq, received_at FROM message WHERE agent_id = %s AND seq = ANY(%s)"
    rows = connection.exec_driver_sql(query, (agent_id, list(seqs)))
    return {row.seq: row.received_at for row in rows}
