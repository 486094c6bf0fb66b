"""Runs one job: read and think, then write its effect and its end in one fenced transaction."""

import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from threading import Event
from typing import Any, Protocol, TypeAlias

import structlog
from sqlalchemy import Connection

from memci import errors
from memci.broker.celery_events import JobEvents
from memci.domain.job import TRIES_INSIDE, Job, backoff_s
from memci.queue import lane_control, mailbox
from memci.queue.lease import Lease
from memci.queue.usage_accounting import Accounts
from memci.telemetry.traces import Traces
from memci.telemetry.watchdog import limited

_log = structlog.get_logger(__name__)

# Writes everything that the job does, inside the fenced transaction that also marks it done.
# Returns the result in numbers and ids, never text. May run again after a roll-back.
Effect: TypeAlias = Callable[[Connection], Mapping[str, Any]]
# How a job's last transaction ended: the next job, begun; the lane freed; or None: still held.
Next: TypeAlias = Job | mailbox.Freed | None

# Failures for reasons outside the job: no model, a deadlock, a lock time-out.
_TRANSIENT = (errors.SmallModelUnavailableError, errors.DatabaseBusyError)
# Processor time of a job, beside that of its models.
JOB_S = 60.0
# A lane is not held for a model that asks for a longer wait than this.
_LONGEST_INSIDE_S = 2.0


class Handler(Protocol):
    """Runs jobs of one kind: reads and thinks in ``prepare``, writes in the effect it returns."""

    @property
    def kind(self) -> str:
        """The kind, such as ``memci.memory.create``."""
        ...

    @property
    def triggers_compression(self) -> bool:
        """True if a finished job requests a pass (M16)."""
        ...

    def prepare(self, job: Job) -> Effect:
        """Read and think, with no transaction open while a model is called.

        Raises ``SmallModelUnavailableError`` to be tried again later, in order; any other error
        makes the job dead.
        """
        ...


class _CancelledError(Exception):
    """The job was cancelled while it ran."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits after which a job becomes dead."""

    attempts: int = 15  # while a small model does not answer
    started: int = 5  # starts without an outcome: the job killed its process each time
    halt_on_dead: bool = False  # a dead job halts its lane


@dataclass(frozen=True, slots=True)
class AfterJob:
    """Decides, inside a job's last transaction, what happens to the lane."""

    may_continue: Callable[[], bool]  # begin the next job
    may_free: Callable[[], bool]  # free the lane when there is no next job


@dataclass(frozen=True, eq=False)
class JobRunner:
    """Runs jobs for the lanes of one process; safe for threads."""

    handlers: Mapping[str, Handler]  # by kind
    events: JobEvents
    limits: Limits
    stopping: Event  # once it is set, the runner does not wait for another try
    traces: Traces
    accounts: Accounts

    def run(self, job: Job, lease: Lease, after: AfterJob) -> Next:
        """Run a job that was begun. Raises ``FencedOffError`` or ``DatabaseUnavailableError``."""
        self.events.received(job)
        began = time.monotonic()
        with (
            structlog.contextvars.bound_contextvars(agent_id=job.agent_id, job_id=str(job.id)),
            self.traces.span(job.kind, parent=job.traceparent, agent_id=job.agent_id),
            self.accounts.of_job(job),
            limited(job.kind, JOB_S),
        ):
            try:
                return self._run(job, lease, after, began)
            except errors.FencedOffError:
                # An erasure may have taken the lane: the models' answers must not stay here.
                self.accounts.settled(job)
                raise
            except _CancelledError:
                self.accounts.settled(job)
                _log.info("job cancelled while it ran", kind=job.kind)
                with lease.effect() as connection:
                    return _next(connection, lease, after)

    def _run(self, job: Job, lease: Lease, after: AfterJob, began: float) -> Next:
        handler = self.handlers.get(job.kind)
        if handler is None:
            return self._bury(job, lease, after, f"unknown kind of job: {job.kind}", began)
        if job.started > self.limits.started:
            return self._bury(job, lease, after, lane_control.WORKER_LOST, began)
        # A start without an outcome may have died in a model call: it counts as a failed try.
        failures = job.attempts + job.started - 1
        while True:
            try:
                upcoming = self._write(job, handler, lease, after, handler.prepare(job))
            except (errors.FencedOffError, errors.DatabaseUnavailableError, _CancelledError):
                raise
            except _TRANSIENT as error:
                failures += 1
                if not self._try_again_inside(job, lease, error, failures):
                    return self._fail(job, lease, after, error, failures=failures, began=began)
            except Exception as error:  # noqa: BLE001 - the lane goes on after any error of a job
                _log.exception("job failed", kind=job.kind)
                return self._bury(job, lease, after, _describe(error), began)
            else:
                self.accounts.settled(job)
                self.events.succeeded(job, time.monotonic() - began)
                return upcoming

    def _write(
        self, job: Job, handler: Handler, lease: Lease, after: AfterJob, effect: Effect
    ) -> Next:
        with lease.effect() as connection:
            if not mailbox.finish(connection, job, effect(connection)):
                raise _CancelledError
            if handler.triggers_compression:
                mailbox.trigger_compress(connection, lease.agent_id)
            return _next(connection, lease, after)

    def _try_again_inside(self, job: Job, lease: Lease, error: Exception, failures: int) -> bool:
        """Wait for the next try inside the job; return False if the job must back off.

        The failure is committed at once: a process that dies later must not undo it.
        """
        wait_s = _wait_s(error, failures)
        if failures >= min(TRIES_INSIDE, self.limits.attempts) or wait_s > _LONGEST_INSIDE_S:
            return False
        with lease.effect(durable=False) as connection:
            mailbox.count_failure(connection, job, attempts=failures, error=_describe(error))
        return not self.stopping.wait(wait_s)

    def _fail(
        self,
        job: Job,
        lease: Lease,
        after: AfterJob,
        error: Exception,
        *,
        failures: int,
        began: float,
    ) -> Next:
        text, wait_s = _describe(error), _wait_s(error, failures)
        if failures >= self.limits.attempts:
            return self._bury(job, lease, after, f"gave up after {failures} tries: {text}", began)
        with lease.effect() as connection:
            mailbox.count_failure(connection, job, attempts=failures, error=text, wait_s=wait_s)
            upcoming = _next(connection, lease, after)
        _log.warning("job backs off", kind=job.kind, failures=failures, wait_s=round(wait_s, 1))
        self.events.retried(job, text)
        return upcoming

    def _bury(self, job: Job, lease: Lease, after: AfterJob, error: str, began: float) -> Next:
        halt = self.limits.halt_on_dead and job.kind not in mailbox.UNORDERED_KINDS
        with lease.effect() as connection:
            lane_control.bury(connection, job, error, halt=halt)
            upcoming: Next = (
                mailbox.free(connection, job.agent_id) if halt else _next(connection, lease, after)
            )
        self.accounts.settled(job)
        _log.error("job is dead", kind=job.kind, error=error)
        self.events.failed(job, error, time.monotonic() - began)
        return upcoming


def _next(connection: Connection, lease: Lease, after: AfterJob) -> Next:
    if after.may_continue():
        upcoming = mailbox.begin_head(connection, lease)
        if upcoming is not None:
            return upcoming
    return mailbox.free(connection, lease.agent_id) if after.may_free() else None


def _wait_s(error: Exception, failures: int) -> float:
    """Return the wait before the next try: at least what a provider asked for (Retry-After)."""
    requested_s: float = getattr(error, "retry_after_s", None) or 0.0
    return max(backoff_s(failures, random.random()), requested_s)


def _describe(error: Exception) -> str:
    """Describe an error without quoting data: other libraries' messages may hold text."""
    if isinstance(error, errors.MemciError):
        return f"{type(error).__name__}: {error}"
    return f"{type(error).__name__}; the worker's log says more"
