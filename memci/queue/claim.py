"""Claims: taking lanes, and giving them back (queue.md, "claim" and "release")."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from threading import Lock
from typing import Any
from uuid import UUID, uuid4

from memci.errors import DatabaseBusyError
from memci.queue.claim_statements import (
    BRIEFLY,
    CLAIM_COMPRESS,
    CLAIM_DUE,
    CLAIM_LOCKED_COMPRESS,
    CLAIM_LOCKED_DUE,
    CLAIM_NAMED,
    GIVE_BACK,
    RENEW,
)
from memci.queue.lease import Lease
from memci.storage.session import Database


@dataclass(frozen=True, slots=True)
class Claimed:
    """A lease, and since when its lane had been waiting."""

    lease: Lease
    waiting_since: datetime | None


@dataclass(frozen=True, slots=True)
class Due:
    """Claimed lanes that have jobs, and how many were waiting, up to a number, before that."""

    claimed: list[Claimed]
    waiting: int

    @property
    def more(self) -> bool:
        """Whether more were waiting than were taken; not where all that were stay locked."""
        return 0 < len(self.claimed) < self.waiting


class Claims:
    """Takes lanes for one process. Claims do not wait for the disk: the nonce makes that safe."""

    def __init__(self, database: Database, lease_ms: int) -> None:
        """Give leases of ``lease_ms``."""
        self._database = database
        self._lease_ms = lease_ms
        self._waits = Lock()

    def due(self, hint: str | None, most: int) -> Due:
        """Take the named lane and up to ``most`` of the oldest, as far as they have jobs.

        Where few are due it takes fewer: lanes that one thread holds wait for each other.
        """
        due = self._claim(CLAIM_DUE, hint, most)
        if due.claimed or not due.waiting:
            return due
        return Due(self._claim_locked(CLAIM_LOCKED_DUE, hint), due.waiting)

    def compress(self, hint: str | None) -> Claimed | None:
        """Take one lane that wants compression: the named one, else the oldest."""
        due = self._claim(CLAIM_COMPRESS, hint, 1)
        claimed = due.claimed
        if due.waiting and not claimed:
            claimed = self._claim_locked(CLAIM_LOCKED_COMPRESS, hint)
        return claimed[0] if claimed else None

    def named(self, agent_id: str) -> Claimed | None:
        """Take this lane although nothing is known to wait in it; make it if need be.

        None when somebody has it, or it stays locked.
        """
        claimed = self._claim_waiting(CLAIM_NAMED, agent_id)
        return claimed[0] if claimed else None

    def give_back(self, claimed: Sequence[Claimed]) -> None:
        """Free lanes that were not reached; they keep their place in the line."""
        if not claimed:
            return
        with self._database.lane_transaction(durable=False) as connection:
            connection.exec_driver_sql(
                GIVE_BACK,
                (
                    *_columns([each.lease for each in claimed]),
                    [each.waiting_since for each in claimed],
                ),
            )

    def renew(self, leases: Sequence[Lease]) -> None:
        """Let these leases run anew, as far as they are still held.

        A lane in the middle of an effect keeps none of the others waiting: it is waited for
        afterwards, briefly and with no other lane locked.
        """
        renewed = self._renew(leases, "SKIP LOCKED")
        for lease in leases:
            if lease.agent_id not in renewed:
                with suppress(DatabaseBusyError):
                    self._renew([lease], "")

    def _renew(self, leases: Sequence[Lease], unless_locked: str) -> set[str]:
        statement = RENEW.format(unless_locked=unless_locked)
        with self._database.lane_transaction(durable=False) as connection:
            connection.exec_driver_sql(BRIEFLY)
            renewed = connection.exec_driver_sql(statement, (*_columns(leases), self._lease_ms))
            return set(renewed.scalars())

    def _claim(self, statement: str, hint: str | None, most: int) -> Due:
        nonce = uuid4()
        values = {"hint": hint, "most": most, "nonce": nonce, "lease_ms": self._lease_ms}
        rows = self._database.lane_flight(statement, values)
        claimed = self._claimed([row[:3] for row in rows if row[0] is not None], nonce)
        first = datetime.min.replace(tzinfo=UTC)
        claimed.sort(key=lambda each: (each.lease.agent_id != hint, each.waiting_since or first))
        return Due(claimed, max((waiting for *_, waiting in rows), default=0))

    def _claim_locked(self, statement: str, hint: str | None) -> list[Claimed]:
        """Take one due lane as soon as it is not locked; none, if that is not soon.

        One thread waits; the others have agents to look after that are not locked.
        """
        if not self._waits.acquire(blocking=False):
            return []
        try:
            return self._claim_waiting(statement, hint)
        finally:
            self._waits.release()

    def _claim_waiting(self, statement: str, hint: str | None) -> list[Claimed]:
        nonce = uuid4()
        values = {"hint": hint, "nonce": nonce, "lease_ms": self._lease_ms}
        with (
            suppress(DatabaseBusyError),
            self._database.lane_transaction(durable=False) as connection,
        ):
            connection.exec_driver_sql(BRIEFLY)
            return self._claimed(connection.exec_driver_sql(statement, values), nonce)
        return []

    def _claimed(self, rows: Iterable[Any], nonce: UUID) -> list[Claimed]:
        return [
            Claimed(Lease(self._database, agent_id, fence, nonce), since)
            for agent_id, fence, since in rows
        ]


def _columns(leases: Sequence[Lease]) -> tuple[list[str], list[int], list[UUID]]:
    """Return agents, fences and nonces, for ``unnest``."""
    return (
        [each.agent_id for each in leases],
        [each.fence for each in leases],
        [each.nonce for each in leases],
    )
