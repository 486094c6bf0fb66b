"""Receipts, the messages and memories given by reads, and use events (R11, R16, M26, M27)."""

from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter
from typing import Any, cast
from uuid import UUID

from psycopg.types.json import Jsonb
from sqlalchemy import Connection, RowMapping

from memci.domain.memory.message_filter import ECHO_INTERACTIONS
from memci.domain.memory.node import NodeEvent
from memci.storage.erasure.erase import agents_without_erasure
from memci.storage.messages import select_messages, stored_seqs
from memci.storage.network.node_history import append_history
from memci.storage.session import batches, rows, sending

_WRITE = """
INSERT INTO receipt (agent_id, id, kind, session_id, body, at_seq, seqs, given, nodes)
SELECT %s, new.* FROM jsonb_to_recordset(%s) AS new(
    id uuid, kind text, session_id text, body jsonb, at_seq bigint, seqs bigint[], given bigint[],
    nodes bigint[])
RETURNING created_at
"""
_READ = "SELECT id, kind, body, created_at FROM receipt WHERE agent_id = %s AND id = %s"
_WITH_OLD = """
SELECT agent_id FROM lane WHERE receipts_from < now() - %s * interval '1 second'
 ORDER BY receipts_from LIMIT %s
"""
_DELETE_OLD = """
DELETE FROM receipt WHERE agent_id = %(agent)s AND id IN (
    SELECT id FROM receipt
     WHERE agent_id = %(agent)s AND created_at < now() - %(keep)s * interval '1 second'
       AND kind <> 'erasure'
     LIMIT %(most)s)
"""
# A lane that a worker holds is skipped.
_NOTE_OLDEST = """
UPDATE lane SET receipts_from = (SELECT min(created_at) FROM receipt
                                  WHERE agent_id = %(agent)s AND kind <> 'erasure')
 WHERE agent_id = (SELECT agent_id FROM lane WHERE agent_id = %(agent)s
                      FOR NO KEY UPDATE SKIP LOCKED)
"""


@dataclass(frozen=True, slots=True)
class ReadReferences:
    """The messages (seqs) and memories (ids) that a read gave its agent."""

    at_seq: int  # the agent's last message then
    seqs: frozenset[int]  # all messages that the receipt names
    given: frozenset[int]  # those of ``seqs`` whose words were given, directly or in memories
    nodes: frozenset[int]  # memories


@dataclass(frozen=True, slots=True)
class NewReceipt:
    """A receipt to store; ``body`` is JSON. A read sets its session and what it gave."""

    id: UUID
    kind: str
    body: Mapping[str, Any]
    session_id: str | None = None
    given: ReadReferences | None = None


def write_receipt(connection: Connection, agent_id: str, receipt: NewReceipt) -> datetime:
    """Write a receipt; return its time."""
    ((created_at,),) = rows(connection, _WRITE, (agent_id, Jsonb([_record(receipt)])))
    return cast("datetime", created_at)


def keeping_receipt(
    connection: Connection, agent_id: str, receipt: NewReceipt | None
) -> AbstractContextManager[None]:
    """Write a receipt, if there is one, while the block does something else."""
    if receipt is None:
        return nullcontext()
    return sending(connection, _WRITE, (agent_id, Jsonb([_record(receipt)])))


def write_receipts(connection: Connection, agent_id: str, receipts: Iterable[NewReceipt]) -> None:
    """Write receipts."""
    records = [_record(each) for each in receipts]
    if records:
        connection.exec_driver_sql(_WRITE, (agent_id, Jsonb(records)))


def read_receipt(connection: Connection, agent_id: str, receipt_id: UUID) -> RowMapping | None:
    """Return a receipt; None if there is none of this id."""
    return connection.exec_driver_sql(_READ, (agent_id, receipt_id)).mappings().first()


def agents_with_old_receipts(connection: Connection, *, older_s: float, most: int) -> list[str]:
    """Return agents that may have receipts older than this, those with the oldest first.

    Reads only lanes.
    """
    return list(connection.exec_driver_sql(_WITH_OLD, (older_s, most)).scalars())


def delete_old_receipts(connection: Connection, agent_id: str, *, keep_s: float, most: int) -> int:
    """Delete at most ``most`` receipts that are older than ``keep_s``; return how many."""
    values = {"agent": agent_id, "keep": keep_s, "most": most}
    return connection.exec_driver_sql(_DELETE_OLD, values).rowcount


def note_oldest_receipt(connection: Connection, agent_id: str) -> None:
    """Store the age of the oldest receipt on the lane."""
    connection.exec_driver_sql(_NOTE_OLDEST, {"agent": agent_id})


def _record(receipt: NewReceipt) -> dict[str, Any]:
    record: dict[str, Any] = {
        "id": str(receipt.id),
        "kind": receipt.kind,
        "session_id": receipt.session_id,
        "body": receipt.body,
    }
    if receipt.given is not None:
        record["at_seq"] = receipt.given.at_seq
        for name in ("seqs", "given", "nodes"):
            record[name] = sorted(getattr(receipt.given, name))
    return record


# An interaction begins with a user message.
_BEGINNINGS = """
SELECT seq FROM message WHERE agent_id = %(agent)s AND role = 'user' AND seq < %(last)s
   AND seq >= coalesce((SELECT seq FROM message WHERE agent_id = %(agent)s AND role = 'user'
                           AND seq < %(first)s
                         ORDER BY seq DESC OFFSET %(interactions)s - 1 LIMIT 1), 0)
 ORDER BY seq
"""
# DISTINCT, since many reads may give the same items.
_RECEIPTS = """
SELECT DISTINCT at_seq, given, nodes FROM receipt
 WHERE agent_id = %s AND at_seq >= %s AND at_seq < %s ORDER BY at_seq
"""
_MESSAGES = "agent_id = %s AND seq = ANY(%s) AND coalesce(length(content), 0) <= %s"
_NODES = "SELECT id, content FROM node WHERE agent_id = %s AND id = ANY(%s) AND kind = 'memory'"
# Texts read at once.
_AT_ONCE = 100
# Characters: longer messages are not repeated.
_LONGEST = 100_000


@dataclass(frozen=True, slots=True)
class ReceiptReferences:
    """What one receipt gave: messages by seq, memories by id; ``at_seq`` was the last message."""

    at_seq: int
    messages: frozenset[int]
    nodes: frozenset[int]


@dataclass(frozen=True, slots=True)
class EarlierReceipts:
    """Receipts by ``at_seq``, and the first seqs of interactions; both ascending."""

    receipts: list[ReceiptReferences]
    beginnings: list[int]

    def before(self, seq: int) -> list[ReceiptReferences]:
        """Return the receipts of the last 20 interactions before a message."""
        begun = self.beginnings[: bisect_left(self.beginnings, seq)][-ECHO_INTERACTIONS:]
        since = begun[0] if len(begun) == ECHO_INTERACTIONS else 0
        first, end = (
            bisect_left(self.receipts, at, key=attrgetter("at_seq")) for at in (since, seq)
        )
        return self.receipts[first:end]


def earlier_receipts(
    connection: Connection, agent_id: str, first: int, last: int
) -> EarlierReceipts:
    """Return what reads gave before the messages from the first to the last seq."""
    values = {"agent": agent_id, "first": first, "last": last, "interactions": ECHO_INTERACTIONS}
    beginnings = list(connection.exec_driver_sql(_BEGINNINGS, values).scalars())
    since = beginnings[0] if len(beginnings) >= ECHO_INTERACTIONS else 0
    rows = connection.exec_driver_sql(_RECEIPTS, (agent_id, since, last))
    receipts = [ReceiptReferences(row[0], frozenset(row[1]), frozenset(row[2])) for row in rows]
    return EarlierReceipts(receipts, beginnings)


def messages_given(
    connection: Connection, agent_id: str, seqs: Iterable[int]
) -> Iterator[tuple[int, str]]:
    """Yield messages as (seq, text), reading a few at a time."""
    for some in batches(seqs, _AT_ONCE):
        found = select_messages(connection, _MESSAGES, (agent_id, some, _LONGEST))
        yield from ((each.seq, each.text) for each in found)


def memories_given(
    connection: Connection, agent_id: str, nodes: Iterable[int]
) -> Iterator[tuple[int, str]]:
    """Yield living memories as (id, present text), reading a few at a time."""
    for some in batches(nodes, _AT_ONCE):
        rows = connection.exec_driver_sql(_NODES, (agent_id, some))
        yield from ((row.id, row.content) for row in rows)


_LIVING = """
SELECT id, (SELECT pass_number FROM lane WHERE lane.agent_id = node.agent_id) AS pass_number
FROM node WHERE agent_id = %s AND id = ANY(%s)
"""
# With more uses at once the trail has only their number.
_MOST_NAMED = 8


def append_uses(
    connection: Connection,
    agent_id: str,
    receipts: Iterable[NewReceipt],
    written: Collection[UUID],
) -> bool:
    """Add an event to the trail of each memory that these receipts gave.

    Receipts that are not in ``written`` are written now. Those with a message that was erased
    meanwhile are skipped. Returns False, with nothing written, while something of the agent is
    being erased: a caller that writes for many agents does not wait.
    """
    if not agents_without_erasure(connection, [agent_id]):
        return False
    pairs = [(each, each.given) for each in receipts if each.given is not None]
    seqs = {seq for _, given in pairs for seq in given.seqs}
    stored = set(stored_seqs(connection, agent_id, seqs))
    pairs = [(each, given) for each, given in pairs if given.seqs <= stored]
    new = [each for each, _ in pairs if each.id not in written]
    write_receipts(connection, agent_id, new)
    used: dict[int, list[str]] = {}
    for receipt, given in pairs:
        for node in given.nodes:
            used.setdefault(node, []).append(str(receipt.id))
    if not used:
        return True
    living = connection.exec_driver_sql(_LIVING, (agent_id, list(used))).all()
    details = {
        row.id: {"receipts": used[row.id][-_MOST_NAMED:], "times": len(used[row.id])}
        for row in living
    }
    if living:
        append_history(connection, agent_id, NodeEvent.USED, living[0].pass_number or 0, details)
    return True
