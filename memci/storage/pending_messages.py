"""The memory state of messages: which are handed over, locked, marked or asked for."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from memci.domain.memory.message_filter import FilterReason, MemoryState
from memci.message import Message, Remember
from memci.storage.messages import select_messages

_HANDED = """
agent_id = %s AND seq BETWEEN %s AND %s AND remember = ANY(%s)
AND (%s::bigint[] IS NULL OR seq = ANY(%s)) AND memory_state IN ('none', 'pending') ORDER BY seq
"""
_UNINDEXED = "agent_id = %s AND seq BETWEEN %s AND %s AND NOT indexed ORDER BY seq"
_LOCK = """
SELECT seq, indexed, memory_state IN ('none', 'pending') AS open FROM message
WHERE agent_id = %s AND seq = ANY(%s) ORDER BY seq FOR UPDATE
"""
_MARK = """
UPDATE message SET memory_state = new.state, memory_reason = new.reason
FROM unnest(%s::bigint[], %s::text[], %s::text[]) AS new(seq, state, reason)
WHERE message.agent_id = %s AND message.seq = new.seq
"""
_WINDOW = "agent_id = %s AND remember = 'auto' AND memory_state = 'none' ORDER BY seq"
_RECENT_FROM = """
SELECT seq FROM message WHERE agent_id = %s AND role = 'user' ORDER BY seq DESC OFFSET %s LIMIT 1
"""
_HAND_OVER = """
UPDATE message SET memory_state = 'pending'
WHERE agent_id = %s AND seq = ANY(%s) AND remember = 'auto' AND memory_state = 'none'
RETURNING seq
"""
_NAMED = """
SELECT message.seq, memory_state FROM unnest(%s::text[]) WITH ORDINALITY AS named(id, place)
LEFT JOIN message ON message.agent_id = %s AND message.id = named.id ORDER BY place
"""
_MARK_ASKED = """
UPDATE message SET memory_state = 'pending', memory_reason = NULL, remember = 'now'
WHERE agent_id = %s AND seq = ANY(%s)
"""


@dataclass(frozen=True, slots=True)
class Locked:
    """Stored messages, locked until commit, by what may be done with them."""

    stored: frozenset[int]
    unindexed: frozenset[int]
    unmade: frozenset[int]


@dataclass(frozen=True, slots=True)
class Unasked:
    """Messages for which memories are requested, and the positions of unknown ids."""

    seqs: list[int]  # ascending
    filtered: list[int]  # those among them whose memory the filter refused (R2)
    missing: list[int]


def handed_messages(
    connection: Connection,
    agent_id: str,
    seqs: tuple[int, int],
    remember: Collection[Remember],
    only: Sequence[int] | None = None,
) -> list[Message]:
    """Return the messages between two seqs that are still to be made into memories.

    ``only`` these seqs, if given.
    """
    values = (agent_id, *seqs, list(remember), only, only)
    return select_messages(connection, _HANDED, values, whole=True)


def unindexed_messages(
    connection: Connection, agent_id: str, seqs: tuple[int, int]
) -> list[Message]:
    """Return the messages between two seqs that have no index yet.

    Also what reads do not show of them: erasing by words finds it by the index.
    """
    return select_messages(connection, _UNINDEXED, (agent_id, *seqs), whole=True)


def lock_messages(connection: Connection, agent_id: str, seqs: Sequence[int]) -> Locked:
    """Lock the messages that are still stored against erasure."""
    rows = connection.exec_driver_sql(_LOCK, (agent_id, list(seqs))).all()
    return Locked(
        stored=frozenset(row.seq for row in rows),
        unindexed=frozenset(row.seq for row in rows if not row.indexed),
        unmade=frozenset(row.seq for row in rows if row.open),
    )


def mark_memory(
    connection: Connection,
    agent_id: str,
    states: Mapping[int, tuple[MemoryState, FilterReason | None]],
) -> None:
    """Store the memory state of messages, by seq."""
    columns = ([s for s, _ in states.values()], [r for _, r in states.values()])
    connection.exec_driver_sql(_MARK, (list(states), *columns, agent_id))


def window_messages(connection: Connection, agent_id: str) -> list[Message]:
    """Return the ``auto`` messages that have not been handed over (R19)."""
    return select_messages(connection, _WINDOW, (agent_id,))


def recent_from(connection: Connection, agent_id: str, interactions: int) -> int | None:
    """Return the seq at which the last ``interactions`` begin; None if there are fewer.

    An interaction is a user message with its answers.
    """
    if not interactions:
        return 2**62
    found = connection.exec_driver_sql(_RECENT_FROM, (agent_id, interactions - 1)).scalar()
    return None if found is None else int(found)


def hand_over(connection: Connection, agent_id: str, seqs: Sequence[int]) -> list[int]:
    """Mark messages as handed to memory; return those that were not before, ascending."""
    return sorted(connection.exec_driver_sql(_HAND_OVER, (agent_id, list(seqs))).scalars())


def unasked_messages(connection: Connection, agent_id: str, ids: Sequence[str]) -> Unasked:
    """Look up messages by their ids; the lane must be locked."""
    rows = connection.exec_driver_sql(_NAMED, (list(ids), agent_id)).all()
    states = {row.seq: row.memory_state for row in rows if row.seq is not None}
    open_states = (MemoryState.NONE, MemoryState.FILTERED)
    return Unasked(
        seqs=sorted(seq for seq in states if states[seq] in open_states),
        filtered=sorted(seq for seq in states if states[seq] == MemoryState.FILTERED),
        missing=[place for place, row in enumerate(rows) if row.seq is None],
    )


def mark_asked(connection: Connection, agent_id: str, seqs: Sequence[int]) -> None:
    """Mark messages as handed to memory by request, regardless of their ``remember``."""
    connection.exec_driver_sql(_MARK_ASKED, (agent_id, list(seqs)))
