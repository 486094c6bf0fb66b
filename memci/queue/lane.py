"""The lane loop: one agent, one lease, jobs in order (queue.md, "The lane loop")."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event
from typing import Protocol
from uuid import uuid4

import structlog

from memci.broker.celery_events import JobEvents
from memci.broker.names import COMPRESS_TASK
from memci.broker.wakeup import Wakeups
from memci.domain.job import Job, JobSource
from memci.errors import BrokerUnavailableError, FencedOffError
from memci.queue import mailbox
from memci.queue.broker_intake import BrokerIntake
from memci.queue.lease import Claimed, Claims, DueLanes, Lease, LeaseRenewal
from memci.queue.quarantine import Quarantine
from memci.queue.runner import JOB_S, AfterJob, JobRunner, Next
from memci.telemetry.watchdog import limited

_log = structlog.get_logger(__name__)

# Compression looks at the clock and the mailbox at least this often.
_STEP_MS = 250
# A lane that was held longer is checked for Celery messages once more before it is freed.
_RECENT_S = 0.05
# Starts of a job beside others. After a single death, which most often is nobody's fault, all jobs
# that ran then go on side by side; a job that begins again after two is alone.
_SHARED_STARTS = 2
# An agent's turn while others wait; it ends after a whole job.
SLICE_S = 2.0
# As many lanes are claimed at once as are likely done in this time.
_CLAIM_BATCH_S = 0.1
# One wakeup claims lanes for so long. A Celery task costs about as much as a job; a short turn
# leaves room for the wakeups of the queue watch.
_TURN_S = 0.25


class Compression(Protocol):
    """The pass over one network (M12 to M18), cut into steps."""

    def slice_ms(self, agent_id: str) -> int:
        """Return how long one turn of this agent is (M17, ``time_slice``)."""
        ...

    def step(self, lease: Lease, *, budget_ms: int) -> bool:
        """Scan nodes for about ``budget_ms``, at least one, and commit them.

        Begins a pass when none is under way. Returns True when there is more to do now, False
        when the pass has ended, was cancelled, or waits for a model.

        Raises ``WrongEmbedderError`` in a process that may not write vectors: its lease then runs
        out, so that it does not claim the same lane again at once.
        """
        ...


@dataclass(kw_only=True, eq=False)
class LaneLoop:
    """Runs jobs for the wakeups that its process gets; safe for threads."""

    claims: Claims
    lease_renewal: LeaseRenewal
    broker_intake: BrokerIntake
    runner: JobRunner
    events: JobEvents
    compression: Compression
    wakeups: Wakeups
    most_claimed: int  # lanes that one wakeup claims at once, at most
    stopping: Event  # once it is set, the loop stops between two jobs or nodes
    _job_s: float = field(default=0.0, init=False)  # moving average
    _quarantine: Quarantine = field(init=False)

    def __post_init__(self) -> None:
        """Admit jobs until the process stops."""
        self._quarantine = Quarantine(self.stopping)

    def run(self, hint: str | None, *, queue_seen: bool = False) -> int:
        """Run jobs of due lanes, each for one slice at most (``memci.lane.run``); return how many.

        ``queue_seen``: the queue watch has seen a message in the hinted agent's own queue.
        """
        self._quarantine.wait()  # before a claim: other processes may do the work
        turn_ends = time.monotonic() + _TURN_S
        due = self._claim(hint, queue_seen=queue_seen)
        if due.more:
            # One wakeup is enough for any number of lanes: it comes back until none is left.
            self.wakeups.wake_lane(due.claimed[-1].lease.agent_id)
        done = self._work(due.claimed)
        while due.more and not self._is_over(turn_ends):
            due = self.claims.claim_due(None, self._claim_batch)
            done += self._work(due.claimed)
        return done

    def _claim(self, hint: str | None, *, queue_seen: bool) -> DueLanes:
        due = self.claims.claim_due(hint, self._claim_batch)
        if hint is None or any(each.lease.agent_id == hint for each in due.claimed):
            return due
        # The message that the queue watch has seen is not in the mailbox yet.
        try:
            occupied = self._occupied([hint], queue_seen=queue_seen)
            named = self.claims.claim_named(hint) if occupied else None
        except BaseException:
            self._give_back(due.claimed)
            raise
        return due if named is None else DueLanes([named, *due.claimed], due.waiting + 1)

    @property
    def _claim_batch(self) -> int:
        """The maximum number of lanes that are claimed at once."""
        likely = int(_CLAIM_BATCH_S / self._job_s) if self._job_s else 1
        return max(1, min(self.most_claimed, likely))

    def _work(self, claimed: list[Claimed]) -> int:
        """Drain the lanes one by one; give back the lanes that are left at the end of the slice."""
        deadline = time.monotonic() + SLICE_S
        done = 0
        try:
            occupied = self._occupied([each.lease.agent_id for each in claimed])
            with self.lease_renewal.renewing([each.lease for each in claimed]):
                while claimed and not self._is_over(deadline):
                    lease = claimed.pop(0).lease
                    with self._survives_fencing():
                        done += self._drain(lease, deadline, occupied=lease.agent_id in occupied)
        finally:
            self._give_back(claimed)
        return done

    def _give_back(self, claimed: list[Claimed]) -> None:
        """Free lanes that were not reached; if that fails, their leases run out."""
        try:
            self.claims.give_back(claimed)
        except Exception:  # noqa: BLE001 - it must not hide the error that ended the work
            _log.warning("leases not given back", count=len(claimed), exc_info=True)
        self.wakeups.wake_lanes([each.lease.agent_id for each in claimed])

    def _drain(self, lease: Lease, deadline: float, *, occupied: bool) -> int:
        """Run the jobs of one lane until none is left or the slice ends; free the lane."""
        began = time.monotonic()
        if occupied:
            self._take_in(lease)
        after = AfterJob(
            may_continue=lambda: not self._is_over(deadline),
            may_free=lambda: (
                (time.monotonic() - began < _RECENT_S and not occupied) or self._is_over(deadline)
            ),
        )
        done = 0
        upcoming: Next = mailbox.begin_next(lease)
        while True:
            while isinstance(upcoming, Job):
                upcoming = self._admitted(upcoming, lease, after)
                done += 1
            if isinstance(upcoming, mailbox.Freed):
                self._publish(lease, upcoming)
                return done
            more = self._occupied([lease.agent_id]) if not self._is_over(deadline) else ()
            upcoming = mailbox.begin_next(lease) if more and self._take_in(lease) else None
            if upcoming is None:
                self._free(lease)
                return done

    def compress(self, hint: str | None) -> None:
        """Scan nodes of one agent for its time slice (``memci.lane.compress``, M17).

        When a job comes, the lane is freed for a lane worker: this process may have no priority.
        """
        claimed = self.claims.claim_compress(hint)
        named = claimed is not None and claimed.lease.agent_id == hint
        # A job that a read has requested has no wakeup; compression comes after it.
        if hint is not None and not named and self.claims.has_job(hint):
            self.wakeups.wake_lane(hint)
        if claimed is None:
            return
        lease = claimed.lease
        deadline = time.monotonic() + self.compression.slice_ms(lease.agent_id) / 1000
        with (
            self.lease_renewal.renewing([lease]),
            self._survives_fencing(),
            self._reported(lease.agent_id),
            limited(COMPRESS_TASK, JOB_S),
        ):
            while not self._is_over(deadline):
                self._take_in(lease)
                if not self._step(lease, deadline):
                    break
            self._free(lease)

    def _step(self, lease: Lease, deadline: float) -> bool:
        left_ms = int((deadline - time.monotonic()) * 1000)
        return mailbox.wants_compression(lease) and self.compression.step(
            lease, budget_ms=max(1, min(_STEP_MS, left_ms))
        )

    @contextmanager
    def _reported(self, agent_id: str) -> Iterator[None]:
        """Report a time slice of compression to Flower, under the name that producers use."""
        turn = compression_turn(agent_id)
        began = time.monotonic()
        self.events.received(turn)
        try:
            yield
        except Exception as error:
            self.events.failed(turn, type(error).__name__, time.monotonic() - began)
            raise
        self.events.succeeded(turn, time.monotonic() - began)

    def _admitted(self, job: Job, lease: Lease, after: AfterJob) -> Next:
        """Run a job, unless the process stops; alone if two processes did not survive it.

        The start of a lost job does not count while it waits to be alone. Other jobs wait seldom,
        and keep their start: at worst they become lost ones.
        """
        lost = _SHARED_STARTS < job.started <= self.runner.limits.started
        if lost:
            self._take_back(job, lease)
        with self._quarantine.admitted(alone=lost) as admitted:
            if admitted:
                if lost:
                    mailbox.set_started(lease, job, job.started)
                return self._timed(job, lease, after)
        if not lost:
            self._take_back(job, lease)
        return None

    def _take_back(self, job: Job, lease: Lease) -> None:
        with self._taken_back_after_errors(job):
            mailbox.set_started(lease, job, job.started - 1)

    def _timed(self, job: Job, lease: Lease, after: AfterJob) -> Next:
        began = time.monotonic()
        try:
            with self._taken_back_after_errors(job):
                return self.runner.run(job, lease, after)
        finally:
            self._job_s += (time.monotonic() - began - self._job_s) / 8

    @contextmanager
    def _taken_back_after_errors(self, job: Job) -> Iterator[None]:
        try:
            yield
        except Exception:  # no outcome: fenced off, or no database
            self.lease_renewal.take_back_later(job)
            raise

    def _occupied(self, agent_ids: list[str], *, queue_seen: bool = False) -> set[str]:
        if not agent_ids:
            return set()
        try:
            return set(self.broker_intake.occupied(agent_ids, queue_seen=queue_seen))
        except BrokerUnavailableError:
            return set()

    def _take_in(self, lease: Lease) -> int:
        """Take in broker messages; return 0 if the broker is unavailable."""
        try:
            return self.broker_intake.take_in(lease)
        except BrokerUnavailableError:
            _log.warning("no broker intake: the broker does not answer", agent_id=lease.agent_id)
            return 0

    def _free(self, lease: Lease) -> None:
        with lease.effect(durable=False) as connection:
            freed = mailbox.free(connection, lease.agent_id)
        self._publish(lease, freed)

    def _publish(self, lease: Lease, freed: mailbox.Freed) -> None:
        self.lease_renewal.stop_renewing(lease)
        freed.publish(self.wakeups, lease.agent_id)

    def _is_over(self, deadline: float) -> bool:
        return self.stopping.is_set() or time.monotonic() >= deadline

    @contextmanager
    def _survives_fencing(self) -> Iterator[None]:
        try:
            yield
        except FencedOffError:
            _log.warning("fenced off: another worker has taken this lane over")


def compression_turn(agent_id: str) -> Job:
    """Return a job, in no mailbox, that stands for a time slice in reports."""
    return Job(agent_id, uuid4(), 0, COMPRESS_TASK, payload={}, source=JobSource.LANE)
