"""Receipts: what operations did, in numbers and ids (R16)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast
from uuid import UUID

from psycopg.types.json import Jsonb
from sqlalchemy import Connection

from memci.storage.session import rows, sending

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
# A lane that its worker holds is left for the next time.
_NOTE_OLDEST = """
UPDATE lane SET receipts_from = (SELECT min(created_at) FROM receipt
                                  WHERE agent_id = %(agent)s AND kind <> 'erasure')
 WHERE agent_id = (SELECT agent_id FROM lane WHERE agent_id = %(agent)s
                      FOR NO KEY UPDATE SKIP LOCKED)
"""


@dataclass(frozen=True, slots=True)
class Given:
    """What a read gave its agent, in seqs and ids.

    ``at_seq`` was the agent's last message then. ``seqs`` are all messages that the receipt speaks
    of; ``given`` those of them whose words the agent got, also as memories: the ``nodes``.
    """

    at_seq: int
    seqs: frozenset[int]
    given: frozenset[int]
    nodes: frozenset[int]


@dataclass(frozen=True, slots=True)
class NewReceipt:
    """A receipt to keep; ``body`` is JSON. Of a read it says under which session, and what."""

    id: UUID
    kind: str
    body: Mapping[str, Any]
    session_id: str | None = None
    given: Given | None = None


@dataclass(frozen=True, slots=True)
class Receipt:
    """A receipt that is kept."""

    id: UUID
    kind: str
    body: Mapping[str, Any]
    created_at: datetime


def write_receipt(connection: Connection, agent_id: str, receipt: NewReceipt) -> datetime:
    """Keep a receipt; return since when."""
    ((created_at,),) = rows(connection, _WRITE, (agent_id, Jsonb([_record(receipt)])))
    return cast("datetime", created_at)


@contextmanager
def keeping_receipt(
    connection: Connection, agent_id: str, receipt: NewReceipt | None
) -> Iterator[None]:
    """Keep a receipt, if there is one, while the block does something else."""
    if receipt is None:
        yield
        return
    with sending(connection, _WRITE, (agent_id, Jsonb([_record(receipt)]))):
        yield


def write_receipts(connection: Connection, agent_id: str, receipts: Iterable[NewReceipt]) -> None:
    """Keep receipts."""
    records = [_record(each) for each in receipts]
    if records:
        connection.exec_driver_sql(_WRITE, (agent_id, Jsonb(records)))


def read_receipt(connection: Connection, agent_id: str, receipt_id: UUID) -> Receipt | None:
    """Return a receipt, or None when there is none of this id."""
    row = connection.exec_driver_sql(_READ, (agent_id, receipt_id)).first()
    return Receipt(*row) if row else None


def agents_with_old_receipts(connection: Connection, *, older_s: float, most: int) -> list[str]:
    """Return agents that may have receipts older than this, those with the oldest first.

    Reads lanes alone.
    """
    return list(connection.exec_driver_sql(_WITH_OLD, (older_s, most)).scalars())


def delete_old_receipts(connection: Connection, agent_id: str, *, keep_s: float, most: int) -> int:
    """Delete receipts that are older, at most so many; return how many."""
    values = {"agent": agent_id, "keep": keep_s, "most": most}
    return connection.exec_driver_sql(_DELETE_OLD, values).rowcount


def note_oldest_receipt(connection: Connection, agent_id: str) -> None:
    """Note on the lane how old the oldest receipt is now."""
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
