"""The lane loop: one agent, one lease, jobs in order (queue.md, "The lane loop")."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Event
from uuid import uuid4

import structlog

from memci.broker.events import JobEvents
from memci.broker.names import COMPRESS_TASK
from memci.broker.wakeup import Wakeups
from memci.domain.job import Job, JobSource
from memci.errors import BrokerUnavailableError, FencedOffError
from memci.queue import mailbox
from memci.queue.broker_intake import BrokerIntake
from memci.queue.claim import Claimed, Claims, Due
from memci.queue.handler import Compression
from memci.queue.lease import Lease
from memci.queue.lease_renewal import LeaseRenewal
from memci.queue.mailbox import Freed
from memci.queue.runner import After, JobRunner, Next

_log = structlog.get_logger(__name__)

# Compression looks at the clock and the mailbox at least this often.
_STEP_MS = 250
# A lane held longer than this is asked once more for Celery messages before it is let go.
_RECENT_S = 0.05
# As many lanes are claimed at once as are likely done in this time.
_BATCH_S = 0.1
# A token claims lanes for so long. A Celery task costs about as much as a job; a short turn lets
# the tokens of the bell come to theirs.
_TURN_S = 0.25


@dataclass(frozen=True, slots=True)
class Slices:
    """How much one token does."""

    lane_ms: int
    claim_batch: int


class LaneLoop:
    """Works for agents on the tokens that its process gets; safe for threads."""

    def __init__(
        self,
        *,
        claims: Claims,
        keeper: LeaseRenewal,
        bridge: BrokerIntake,
        runner: JobRunner,
        events: JobEvents,
        compression: Compression,
        tokens: Wakeups,
        slices: Slices,
        stopping: Event,
    ) -> None:
        """Stop between two jobs or nodes once ``stopping`` is set."""
        self._claims = claims
        self._keeper = keeper
        self._bridge = bridge
        self._runner = runner
        self._events = events
        self._compression = compression
        self._tokens = tokens
        self._slices = slices
        self._stopping = stopping
        self._job_s = 0.0  # moving average

    def run(self, hint: str | None, *, rung: bool = False) -> int:
        """Run jobs of due lanes, none for longer than a slice; returns how many.

        ``rung`` says that the bell has seen something in the hinted agent's own queue
        (``memci.lane.run``).
        """
        turn_ends = time.monotonic() + _TURN_S
        due = self._claim(hint, rung=rung)
        if due.more:
            # So one token is enough for any number of lanes: it comes back until none is left.
            self._tokens.wake_lane(due.claimed[-1].lease.agent_id)
        done = self._work(due.claimed)
        while due.more and not self._is_over(turn_ends):
            due = self._claims.due(None, self._likely)
            done += self._work(due.claimed)
        return done

    def _work(self, claimed: list[Claimed]) -> int:
        """Drain one lane after the other; what a slice does not reach is given back."""
        deadline = time.monotonic() + self._slices.lane_ms / 1000
        done = 0
        try:
            occupied = self._occupied([each.lease.agent_id for each in claimed])
            with self._keeper.holding([each.lease for each in claimed]):
                while claimed and not self._is_over(deadline):
                    lease = claimed.pop(0).lease
                    with self._survives_fencing():
                        done += self._drain(lease, deadline, crosses=lease.agent_id in occupied)
        finally:
            self._give_back(claimed)
        return done

    def _give_back(self, claimed: list[Claimed]) -> None:
        """Free lanes that were not reached; where that fails, their leases run out."""
        try:
            self._claims.give_back(claimed)
        except Exception:  # noqa: BLE001 - it must not hide what ended the work
            _log.warning("leases not given back", count=len(claimed), exc_info=True)
        self._tokens.wake_lanes([each.lease.agent_id for each in claimed])

    def compress(self, hint: str | None) -> None:
        """Scan nodes of one agent for its time slice (``memci.lane.compress``, M17)."""
        claimed = self._claims.compress(hint)
        if claimed is None:
            return
        lease = claimed.lease
        deadline = time.monotonic() + self._compression.slice_ms(lease.agent_id) / 1000
        with (
            self._keeper.holding([lease]),
            self._survives_fencing(),
            self._reported(lease.agent_id),
        ):
            while not self._is_over(deadline):
                self._cross(lease)
                job = mailbox.begin_head_of(lease)
                if job is not None:
                    never = After(go_on=lambda: False, let_go=lambda: False)
                    if isinstance(self._timed(job, lease, never), Freed):
                        return  # a dead job has halted the agent
                elif not self._step(lease, deadline):
                    break
            self._free(lease)

    @contextmanager
    def _reported(self, agent_id: str) -> Iterator[None]:
        """Report a time slice of compression to Flower, under the name that producers use."""
        turn = slice_of_compression(agent_id)
        began = time.monotonic()
        self._events.received(turn)
        try:
            yield
        except Exception as error:
            self._events.failed(turn, type(error).__name__, time.monotonic() - began)
            raise
        self._events.succeeded(turn, time.monotonic() - began)

    def _step(self, lease: Lease, deadline: float) -> bool:
        look = mailbox.look(lease)
        if not (look.held and look.compress_pending):
            return False
        left_ms = int((deadline - time.monotonic()) * 1000)
        return self._compression.step(lease, budget_ms=max(1, min(_STEP_MS, left_ms)))

    def _drain(self, lease: Lease, deadline: float, *, crosses: bool) -> int:
        """Run the jobs of one lane until none is left or the slice is over; frees the lane."""
        looked_at = time.monotonic()
        if crosses:
            self._cross(lease)
        after = After(
            go_on=lambda: not self._is_over(deadline),
            let_go=lambda: (
                (time.monotonic() - looked_at < _RECENT_S and not crosses)
                or self._is_over(deadline)
            ),
        )
        done = 0
        upcoming: Next = mailbox.begin_head_of(lease)
        while True:
            while isinstance(upcoming, Job):
                upcoming = self._timed(upcoming, lease, after)
                done += 1
            if isinstance(upcoming, Freed):
                self._publish(lease, upcoming)
                return done
            if self._is_over(deadline) or not self._cross_again(lease):
                self._free(lease)
                return done
            upcoming = mailbox.begin_head_of(lease)
            if upcoming is None:
                self._free(lease)
                return done

    def _timed(self, job: Job, lease: Lease, after: After) -> Next:
        began = time.monotonic()
        try:
            return self._runner.run(job, lease, after)
        except Exception:  # no outcome: fenced off, or the database is away
            self._keeper.outlived(job)
            raise
        finally:
            self._job_s += (time.monotonic() - began - self._job_s) / 8

    @property
    def _likely(self) -> int:
        """How many lanes are claimed at most: those that are likely done soon."""
        likely = int(_BATCH_S / self._job_s) if self._job_s else 1
        return max(1, min(self._slices.claim_batch, likely))

    def _claim(self, hint: str | None, *, rung: bool) -> Due:
        due = self._claims.due(hint, self._likely)
        if hint is None or any(each.lease.agent_id == hint for each in due.claimed):
            return due
        # The bell's tokens are for lanes that do not know yet that they have work.
        try:
            named = self._claims.named(hint) if self._occupied([hint], rung=rung) else None
        except BaseException:
            self._give_back(due.claimed)
            raise
        return due if named is None else Due([named, *due.claimed], due.waiting + 1)

    def _occupied(self, agent_ids: list[str], *, rung: bool = False) -> set[str]:
        if not agent_ids:
            return set()
        try:
            return set(self._bridge.occupied(agent_ids, rung=rung))
        except BrokerUnavailableError:
            return set()

    def _cross_again(self, lease: Lease) -> bool:
        return bool(self._occupied([lease.agent_id])) and self._cross(lease) > 0

    def _cross(self, lease: Lease) -> int:
        """Cross the bridge; without a broker there is nothing to fetch, and jobs still run."""
        try:
            return self._bridge.cross(lease)
        except BrokerUnavailableError:
            _log.warning("bridge is closed: the broker does not answer", agent_id=lease.agent_id)
            return 0

    def _free(self, lease: Lease) -> None:
        with lease.effect(durable=False) as connection:
            freed = mailbox.free(connection, lease.agent_id)
        self._publish(lease, freed)

    def _publish(self, lease: Lease, freed: Freed) -> None:
        self._keeper.let_go(lease)
        if freed.wake_lane:
            self._tokens.wake_lane(lease.agent_id)
        if freed.wake_compress:
            self._tokens.wake_compress(lease.agent_id)

    def _is_over(self, deadline: float) -> bool:
        return self._stopping.is_set() or time.monotonic() >= deadline

    @contextmanager
    def _survives_fencing(self) -> Iterator[None]:
        try:
            yield
        except FencedOffError:
            _log.warning("fenced off: another worker has taken this lane over")


def slice_of_compression(agent_id: str) -> Job:
    """Return what a time slice is reported as: no job of the mailbox, but work like one."""
    return Job(
        agent_id=agent_id,
        id=uuid4(),
        ordinal=0,
        kind=COMPRESS_TASK,
        payload={},
        source=JobSource.LANE,
        first_seq=None,
        last_seq=None,
        attempts=0,
        started=1,
        traceparent=None,
    )
