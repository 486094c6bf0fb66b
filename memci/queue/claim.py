"""Claims and releases lanes (queue.md, "claim" and "release")."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from threading import Lock
from typing import Any
from uuid import UUID, uuid4

from memci.errors import DatabaseBusyError
from memci.queue.lease import Lease
from memci.storage.session import Database

# What makes a lane free to take, by Postgres' clock and nobody else's.
_FREE = """NOT paused AND halted_by IS NULL
      AND (lease_until IS NULL OR lease_until < now())
      AND (not_before IS NULL OR not_before <= now())"""

# As many threads as a lane worker has: where few lanes are due, each takes its share of them.
_SHARERS = 8
# The lane that the token named, then those that have waited longest. A token is only a hint: it
# does not matter whose lanes it brings.
CLAIM_DUE = f"""
WITH waiting AS (
    SELECT count(*) AS lanes FROM (
        SELECT FROM lane WHERE wake_at IS NOT NULL AND {_FREE}
        LIMIT %(most)s * {_SHARERS}) AS due),
named AS (
    SELECT agent_id, wake_at FROM lane
    WHERE agent_id = %(hint)s AND wake_at IS NOT NULL AND {_FREE}
    FOR UPDATE SKIP LOCKED),
oldest AS (
    SELECT agent_id, wake_at FROM lane
    WHERE wake_at IS NOT NULL AND {_FREE}
    ORDER BY wake_at LIMIT (SELECT greatest(1, lanes / {_SHARERS}) FROM waiting)
    FOR UPDATE SKIP LOCKED),
due AS (
    SELECT * FROM named UNION SELECT * FROM oldest),
taken AS (
    UPDATE lane
    SET fence = fence + 1, lease_owner = %(nonce)s, wake_at = NULL,
        lease_until = now() + %(lease_ms)s * interval '1 ms'
    FROM due WHERE lane.agent_id = due.agent_id
    RETURNING lane.agent_id, fence, due.wake_at)
SELECT agent_id, fence, wake_at, lanes FROM waiting LEFT JOIN taken ON true
"""  # noqa: S608 - a constant of this module
CLAIM_COMPRESS = f"""
WITH named AS (
    SELECT agent_id, compress_at FROM lane
    WHERE agent_id = %(hint)s AND compress_at IS NOT NULL AND {_FREE}
    FOR UPDATE SKIP LOCKED),
oldest AS (
    SELECT agent_id, compress_at FROM lane
    WHERE compress_at IS NOT NULL AND {_FREE}
    ORDER BY compress_at LIMIT 1 FOR UPDATE SKIP LOCKED),
due AS (
    SELECT * FROM named UNION ALL
    SELECT * FROM oldest WHERE NOT EXISTS (SELECT FROM named)),
taken AS (
    UPDATE lane
    SET fence = fence + 1, lease_owner = %(nonce)s, compress_at = NULL,
        lease_until = now() + %(lease_ms)s * interval '1 ms'
    FROM due WHERE lane.agent_id = due.agent_id
    RETURNING lane.agent_id, fence, due.compress_at)
SELECT agent_id, fence, taken.compress_at, waiting.lanes
FROM (SELECT count(*) AS lanes FROM (
          SELECT FROM lane WHERE compress_at IS NOT NULL AND {_FREE} LIMIT 1) AS due) AS waiting
LEFT JOIN taken ON true
"""  # noqa: S608 - a constant of this module
# For those who wait for a lane that is locked: a frozen process may hold it for long.
BRIEFLY = "SET LOCAL lock_timeout = '2s'"
# Lanes are due, and all of them are locked: most often one more message is being appended to an
# agent, whose token is already here. It would be the only one, so what locks is waited for; of one
# lane, and with none held, so that nobody waits for the other.
_CLAIM_LOCKED = f"""
WITH due AS (
    SELECT agent_id, {{due_at}} AS since FROM lane
    WHERE {{due_at}} IS NOT NULL AND {_FREE} AND agent_id = coalesce(
        (SELECT agent_id FROM lane
         WHERE agent_id = %(hint)s AND {{due_at}} IS NOT NULL AND {_FREE}),
        (SELECT agent_id FROM lane
         WHERE {{due_at}} IS NOT NULL AND {_FREE} ORDER BY {{due_at}} LIMIT 1))
    FOR UPDATE)
UPDATE lane
SET fence = fence + 1, lease_owner = %(nonce)s, {{due_at}} = NULL,
    lease_until = now() + %(lease_ms)s * interval '1 ms'
FROM due WHERE lane.agent_id = due.agent_id
RETURNING lane.agent_id, fence, due.since
"""  # noqa: S608 - a constant of this module
CLAIM_LOCKED_DUE = _CLAIM_LOCKED.format(due_at="wake_at")
CLAIM_LOCKED_COMPRESS = _CLAIM_LOCKED.format(due_at="compress_at")
# For an agent whose first message came over the broker: its lane is made here.
CLAIM_NAMED = """
INSERT INTO lane AS lane (agent_id, fence, lease_owner, lease_until)
VALUES (%(hint)s, 1, %(nonce)s, now() + %(lease_ms)s * interval '1 ms')
ON CONFLICT (agent_id) DO UPDATE
SET fence = lane.fence + 1, lease_owner = excluded.lease_owner,
    lease_until = excluded.lease_until, wake_at = NULL
WHERE NOT lane.paused AND lane.halted_by IS NULL
  AND (lane.lease_until IS NULL OR lane.lease_until < now())
RETURNING agent_id, fence, NULL::timestamptz
"""
# Of several lanes the locks are taken in the order of their ids, as by whoever else waits for more
# than one: in an order of chance, two that hold what the other waits for end in a deadlock.
GIVE_BACK = """
WITH back AS (
    SELECT agent_id, held.at
    FROM lane
    JOIN unnest(%s::text[], %s::bigint[], %s::uuid[], %s::timestamptz[])
         AS held (agent_id, fence, nonce, at) USING (agent_id, fence)
    WHERE lease_owner = held.nonce
    ORDER BY agent_id FOR UPDATE OF lane)
UPDATE lane SET lease_owner = NULL, lease_until = NULL, wake_at = coalesce(lane.wake_at, back.at)
FROM back WHERE lane.agent_id = back.agent_id
"""
# While a lane is locked nobody takes it over; meanwhile the other leases must not run out.
RENEW = """
WITH held AS (
    SELECT agent_id
    FROM lane JOIN unnest(%s::text[], %s::bigint[], %s::uuid[]) AS held (agent_id, fence, nonce)
         USING (agent_id, fence)
    WHERE lease_owner = held.nonce
    FOR UPDATE OF lane {unless_locked})
UPDATE lane SET lease_until = now() + %s * interval '1 ms'
FROM held WHERE lane.agent_id = held.agent_id
RETURNING lane.agent_id
"""


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
