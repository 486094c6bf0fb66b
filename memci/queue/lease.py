"""Leases: how a worker claims, renews, gives back and loses the right to work on a lane (queue.md).

A lease is a fence and a nonce; every effect checks both. The database clock alone decides whether
a lease has run out.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from threading import Event, Lock, Thread
from typing import Any
from uuid import UUID, uuid4

import structlog
from sqlalchemy import Connection

from memci.domain.agent_id import no_agent
from memci.domain.job import Job
from memci.errors import DatabaseBusyError, DatabaseUnavailableError, FencedOffError
from memci.storage.agents import IS_THERE
from memci.storage.session import Database

_log = structlog.get_logger(__name__)

_LOCK_HELD = "SELECT FROM lane WHERE agent_id = %s AND fence = %s AND lease_owner = %s FOR UPDATE"
_CURRENT = "SELECT fence, lease_owner FROM lane WHERE agent_id = %s AND lease_owner IS NOT NULL"


@dataclass(frozen=True, slots=True)
class Lease:
    """The right of one worker thread to a lane; lost when another thread claims it after expiry.

    Claims do not wait for the disk: after a crash of the database two claims may get the same
    fence, but never the same nonce.
    """

    database: Database
    agent_id: str
    fence: int
    nonce: UUID

    @contextmanager
    def effect(self, *, durable: bool = True) -> Iterator[Connection]:
        """Open a transaction of this agent with its lane locked.

        Raises ``FencedOffError``, with nothing written, when the lease is lost.
        """
        with self.database.agent_transaction(self.agent_id, durable=durable) as connection:
            held = connection.exec_driver_sql(_LOCK_HELD, (self.agent_id, self.fence, self.nonce))
            if held.first() is None:
                raise FencedOffError
            yield connection


def current_lease(connection: Connection, database: Database, agent_id: str) -> Lease:
    """Return the lease of the running job, with ``database`` for its effects.

    Raises ``FencedOffError`` if the lane is not held.
    """
    row = connection.exec_driver_sql(_CURRENT, (agent_id,)).first()
    if row is None:
        raise FencedOffError
    return Lease(database, agent_id, row.fence, row.lease_owner)


# A condition on ``lane``: jobs may begin, and nobody holds it.
IS_FREE = "NOT paused AND halted_by IS NULL AND (lease_until IS NULL OR lease_until < now())"
_FREE = f"{IS_FREE} AND (not_before IS NULL OR not_before <= now())"

# As many threads as a lane worker has. Where few lanes are due, each thread takes its share.
_SHARERS = 8
_TAKE_DUE = """
UPDATE lane SET fence = fence + 1, lease_owner = %(nonce)s, {due_at} = NULL,
    lease_until = now() + %(lease_ms)s * interval '1 ms'
FROM due WHERE lane.agent_id = due.agent_id RETURNING lane.agent_id, fence, due.since
"""
# First the lane that the wakeup names, then those that have waited longest. The name is a hint.
_CLAIM = f"""
WITH waiting AS (
    SELECT count(*) AS lanes FROM (
        SELECT FROM lane WHERE {{due_at}} IS NOT NULL AND {_FREE} {{and_if}}
        LIMIT %(max_lanes)s * {_SHARERS}) AS due),
named AS (
    SELECT agent_id, {{due_at}} AS since FROM lane
    WHERE agent_id = %(hint)s AND {{due_at}} IS NOT NULL AND {_FREE} {{and_if}}
    FOR UPDATE SKIP LOCKED),
oldest AS (
    SELECT agent_id, {{due_at}} AS since FROM lane
    WHERE {{due_at}} IS NOT NULL AND {_FREE} {{and_if}}
    ORDER BY {{due_at}} LIMIT (SELECT greatest(1, lanes / {_SHARERS}) FROM waiting)
    FOR UPDATE SKIP LOCKED),
due AS (
    SELECT * FROM named UNION SELECT * FROM oldest WHERE {{others}}),
taken AS ({_TAKE_DUE})
SELECT agent_id, fence, since, lanes FROM waiting LEFT JOIN taken ON true
"""  # noqa: S608 - a constant of this module
_LANE = {"due_at": "wake_at", "and_if": ""}
# Jobs go first: lane workers do them, at a higher priority, and then wake compress workers.
_COMPRESS = {"due_at": "compress_at", "and_if": "AND wake_at IS NULL"}
_CLAIM_DUE = _CLAIM.format(others="true", **_LANE)
_CLAIM_COMPRESS = _CLAIM.format(others="NOT EXISTS (SELECT FROM named)", **_COMPRESS)
_HAS_JOB = f"SELECT wake_at IS NOT NULL AND {_FREE} FROM lane WHERE agent_id = %s"  # noqa: S608
# For statements that wait for a locked lane: a frozen process may hold the lock for long.
_WAIT_BRIEFLY = "SET LOCAL lock_timeout = '2s'"
# Lanes are due and all of them are locked: most often a message is being appended to an agent whose
# only wakeup is the one that led here. So wait for one locked lane, holding none, so that no two
# workers wait for each other.
_CLAIM_LOCKED = f"""
WITH due AS (
    SELECT agent_id, {{due_at}} AS since FROM lane
    WHERE {{due_at}} IS NOT NULL AND {_FREE} {{and_if}} AND agent_id = coalesce(
        (SELECT agent_id FROM lane
         WHERE agent_id = %(hint)s AND {{due_at}} IS NOT NULL AND {_FREE} {{and_if}}),
        (SELECT agent_id FROM lane
         WHERE {{due_at}} IS NOT NULL AND {_FREE} {{and_if}} ORDER BY {{due_at}} LIMIT 1))
    FOR UPDATE)
{_TAKE_DUE}
"""  # noqa: S608 - a constant of this module
# Makes the lane of an agent whose first message came over the broker.
_CLAIM_NAMED = """
INSERT INTO lane AS lane (agent_id, fence, lease_owner, lease_until)
VALUES (%(hint)s, 1, %(nonce)s, now() + %(lease_ms)s * interval '1 ms')
ON CONFLICT (agent_id) DO UPDATE
SET fence = lane.fence + 1, lease_owner = excluded.lease_owner,
    lease_until = excluded.lease_until, wake_at = NULL
WHERE NOT lane.paused AND lane.halted_by IS NULL
  AND (lane.lease_until IS NULL OR lane.lease_until < now())
RETURNING agent_id, fence, NULL::timestamptz
"""
# Locks are taken in the order of ids, as everywhere: two workers that lock several lanes in another
# order would deadlock.
_GIVE_BACK = """
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
# Nobody takes a lane while it is locked, but the other leases must not run out meanwhile.
_RENEW = """
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
    """A lease, and the time since which its lane had been waiting."""

    lease: Lease
    waiting_since: datetime | None


@dataclass(frozen=True, slots=True)
class DueLanes:
    """Claimed lanes with jobs, and the number that waited before the claim, up to a limit."""

    claimed: list[Claimed]
    waiting: int

    @property
    def more(self) -> bool:
        """Whether more lanes wait; False if all waiting lanes stayed locked."""
        return 0 < len(self.claimed) < self.waiting


class Claims:
    """Claims lanes for one process. Claims do not wait for the disk: the nonce makes that safe."""

    def __init__(self, database: Database, lease_ms: int) -> None:
        """Give leases of ``lease_ms``."""
        self._database = database
        self._lease_ms = lease_ms
        self._waits_for_lock = Lock()

    def claim_due(self, hint: str | None, max_lanes: int) -> DueLanes:
        """Claim the named lane and up to ``max_lanes`` of the oldest, if they have jobs.

        Claims fewer where few are due: lanes that one thread holds wait for each other.
        """
        due = self._claim(_CLAIM_DUE, hint, max_lanes)
        if due.claimed or not due.waiting:
            return due
        return DueLanes(self._claim_locked(_LANE, hint), due.waiting)

    def claim_compress(self, hint: str | None) -> Claimed | None:
        """Claim one lane that waits for compression, but no job: the named one, else the oldest."""
        due = self._claim(_CLAIM_COMPRESS, hint, 1)
        claimed = due.claimed
        if due.waiting and not claimed:
            claimed = self._claim_locked(_COMPRESS, hint)
        return claimed[0] if claimed else None

    def has_job(self, agent_id: str) -> bool:
        """Return True if this lane waits for a lane worker."""
        with self._database.lane_transaction(durable=False) as connection:
            return bool(connection.exec_driver_sql(_HAS_JOB, (agent_id,)).scalar())

    def claim_named(self, agent_id: str) -> Claimed | None:
        """Claim this lane although no work is known to wait in it; create it if needed.

        None when another worker holds it, or it stays locked.
        """
        claimed = self._claim_waiting(_CLAIM_NAMED, agent_id)
        return claimed[0] if claimed else None

    def give_back(self, claimed: Sequence[Claimed]) -> None:
        """Free lanes that were not reached; they keep their place in the line."""
        if claimed:
            leases = _columns([each.lease for each in claimed])
            with self._database.lane_transaction(durable=False) as connection:
                since = [each.waiting_since for each in claimed]
                connection.exec_driver_sql(_GIVE_BACK, (*leases, since))

    def renew(self, leases: Sequence[Lease]) -> None:
        """Extend these leases, as far as they are still held.

        Lanes in the middle of an effect are locked. They are renewed afterwards, one by one and
        with a short wait, so that they delay no other renewal.
        """
        renewed = self._renew(leases, "SKIP LOCKED")
        for lease in leases:
            if lease.agent_id not in renewed:
                with suppress(DatabaseBusyError):
                    self._renew([lease], "")

    def _renew(self, leases: Sequence[Lease], unless_locked: str) -> set[str]:
        statement = _RENEW.format(unless_locked=unless_locked)
        with self._database.lane_transaction(durable=False) as connection:
            connection.exec_driver_sql(_WAIT_BRIEFLY)
            renewed = connection.exec_driver_sql(statement, (*_columns(leases), self._lease_ms))
            return set(renewed.scalars())

    def _claim(self, statement: str, hint: str | None, max_lanes: int) -> DueLanes:
        nonce = uuid4()
        values = {"hint": hint, "max_lanes": max_lanes, "nonce": nonce, "lease_ms": self._lease_ms}
        rows = self._database.run_on_lanes(statement, values)
        claimed = self._claimed([row[:3] for row in rows if row[0] is not None], nonce)
        first = datetime.min.replace(tzinfo=UTC)
        claimed.sort(key=lambda each: (each.lease.agent_id != hint, each.waiting_since or first))
        return DueLanes(claimed, max((waiting for *_, waiting in rows), default=0))

    def _claim_locked(self, which: Mapping[str, str], hint: str | None) -> list[Claimed]:
        """Claim one due lane when it is unlocked; none if that takes too long.

        One thread waits; the others serve agents whose lanes are not locked.
        """
        if not self._waits_for_lock.acquire(blocking=False):
            return []
        try:
            return self._claim_waiting(_CLAIM_LOCKED.format(**which), hint)
        finally:
            self._waits_for_lock.release()

    def _claim_waiting(self, statement: str, hint: str | None) -> list[Claimed]:
        nonce = uuid4()
        values = {"hint": hint, "nonce": nonce, "lease_ms": self._lease_ms}
        with (
            suppress(DatabaseBusyError),
            self._database.lane_transaction(durable=False) as connection,
        ):
            connection.exec_driver_sql(_WAIT_BRIEFLY)
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


# Others may have begun the job since. Their starts still count, and the last start does whatever
# else is taken back. This start may be gone already, with a preempted lane or a counted failure.
_TAKE_BACK_START = """
UPDATE job SET started = greatest(started - 1,
                                  CASE WHEN started_at > %s THEN least(started, 1) ELSE 0 END)
WHERE agent_id = %s AND id = %s AND ordinal = %s AND state = 'queued'
"""


def take_back_start(database: Database, job: Job) -> None:
    """Take back one start of a job that ended without an outcome while its process lives on."""
    with database.lane_transaction(durable=False) as connection:
        values = (job.started_at, job.agent_id, job.id, job.ordinal)
        connection.exec_driver_sql(_TAKE_BACK_START, values)


class LeaseRenewal:
    """One thread that renews all held leases; started with the first one.

    A renewal that fails is no error: the fence in every effect protects the data.

    A job counts its starts because a process that dies cannot count its failure. If the process
    survives, as after a loss of the database, the start is taken back here.
    """

    def __init__(self, database: Database, claims: Claims, renew_ms: int) -> None:
        """Renew every ``renew_ms``."""
        self._database = database
        self._claims = claims
        self._period_s = renew_ms / 1000
        self._held: set[Lease] = set()
        self._survived: deque[Job] = deque()
        self._lock = Lock()
        self._stop = Event()
        self._thread: Thread | None = None

    @contextmanager
    def renewing(self, leases: Sequence[Lease]) -> Iterator[None]:
        """Renew these leases until the block ends."""
        with self._lock:
            self._held.update(leases)
            if self._thread is None:
                self._thread = Thread(target=self._run, name="lease-renewal", daemon=True)
                self._thread.start()
        try:
            yield
        finally:
            with self._lock:
                self._held.difference_update(leases)

    def stop_renewing(self, lease: Lease) -> None:
        """Stop renewing a lease that was freed."""
        with self._lock:
            self._held.discard(lease)

    def take_back_later(self, job: Job) -> None:
        """Take back the last start of this job as soon as the database answers."""
        self._survived.append(job)

    def close(self) -> None:
        """Stop the thread."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        while not self._stop.wait(self._period_s):
            with self._lock:
                held = list(self._held)
            if held:
                self._try(partial(self._claims.renew, held), "leases not renewed", len(held))
            if self._survived:
                self._try(self._take_back, "starts not taken back", len(self._survived))

    def _take_back(self) -> None:
        while self._survived:
            take_back_start(self._database, self._survived[0])
            self._survived.popleft()

    def _try(self, act: Callable[[], None], failure: str, count: int) -> None:
        try:
            act()
        except DatabaseUnavailableError:
            _log.warning(failure, count=count)
        except Exception:  # noqa: BLE001 - nothing may end this thread
            # A deadlock or a lock time-out: without renewals no long job would ever end.
            _log.exception(failure, count=count)


_PREEMPT_LEASE_S = 30
_CREATE_LANE = "INSERT INTO lane (agent_id) VALUES (%s) ON CONFLICT (agent_id) DO NOTHING"
_LOCK_LANE = "SELECT FROM lane WHERE agent_id = %s FOR UPDATE"
# The holder of the lane runs the job that was begun last. After the lock, in a new statement.
_TAKE_BACK_CURRENT_START = """
UPDATE job SET started = started - 1
WHERE job.agent_id = %(agent)s AND job.id = (
    SELECT begun.id FROM job AS begun
    WHERE begun.agent_id = %(agent)s AND begun.state = 'queued' AND begun.started > 0
    ORDER BY begun.started_at DESC LIMIT 1)
  AND EXISTS (SELECT FROM lane WHERE lane.agent_id = job.agent_id AND lease_owner IS NOT NULL
                                 AND lease_until > clock_timestamp())
"""
_PREEMPT = """
UPDATE lane SET fence = fence + 1, lease_owner = %s, lease_until = now() + %s * interval '1 second'
WHERE agent_id = %s AND {condition} RETURNING fence
"""


def preempt_lane(database: Database, agent_id: str, *, must_exist: bool = True) -> Lease:
    """Claim a lane, paused or not; its holder is fenced off and writes nothing more.

    The start of the interrupted job is taken back, since a preemption is no failure of the job. (A
    process that has just died in the job looks the same: that start is taken back too.)

    Raises ``NotFoundError`` for no agent; with ``must_exist=False`` a missing lane is created.
    """
    nonce = uuid4()
    with database.lane_transaction() as connection:
        if not must_exist:
            connection.exec_driver_sql(_CREATE_LANE, (agent_id,))
        connection.exec_driver_sql(_LOCK_LANE, (agent_id,))
        connection.exec_driver_sql(_TAKE_BACK_CURRENT_START, {"agent": agent_id})
        statement = _PREEMPT.format(condition=IS_THERE if must_exist else "true")
        row = connection.exec_driver_sql(statement, (nonce, _PREEMPT_LEASE_S, agent_id)).first()
    if row is None:
        raise no_agent(agent_id)
    return Lease(database, agent_id, row.fence, nonce)
