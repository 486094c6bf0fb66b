"""Runs one job: think, then write its effect and its end in one fenced transaction."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from threading import Event
from typing import TypeAlias

import structlog
from sqlalchemy import Connection

from memci.broker.events import JobEvents
from memci.domain.job import TRIES_INSIDE, Job, backoff_s
from memci.errors import (
    DatabaseBusyError,
    DatabaseUnavailableError,
    FencedOffError,
    MemciError,
    SmallModelUnavailableError,
)
from memci.queue import dead_jobs, mailbox
from memci.queue.handler import ASIDE_KINDS, Effect, Handler
from memci.queue.lease import Lease
from memci.queue.mailbox import Freed
from memci.queue.usage_accounting import Accounts
from memci.telemetry.traces import Traces

_log = structlog.get_logger(__name__)

# What an effect ended with: the next job, begun; the lane freed; or None, the lane still held.
Next: TypeAlias = Job | Freed | None
# Failures that say nothing about the job: a model that is away, a deadlock, a lock time-out.
_TRANSIENT = (SmallModelUnavailableError, DatabaseBusyError)


# A lane is not held for a model that asks for more patience than this.
_LONGEST_INSIDE_S = 2.0


class _CancelledError(Exception):
    """The job was cancelled while it ran."""


@dataclass(frozen=True, slots=True)
class Limits:
    """When a job is given up."""

    attempts: int
    started: int
    halt_on_dead: bool


@dataclass(frozen=True, slots=True)
class After:
    """What the lane wants once a job has ended, asked inside its last transaction."""

    go_on: Callable[[], bool]
    let_go: Callable[[], bool]


class JobRunner:
    """Runs jobs for the lanes of one process; safe for threads."""

    def __init__(
        self,
        handlers: Mapping[str, Handler],
        events: JobEvents,
        limits: Limits,
        stopping: Event,
        traces: Traces,
        accounts: Accounts,
    ) -> None:
        """Know the kinds by ``handlers``; stop waiting when ``stopping`` is set."""
        self._handlers = handlers
        self._events = events
        self._limits = limits
        self._stopping = stopping
        self._traces = traces
        self._accounts = accounts

    def run(self, job: Job, lease: Lease, after: After) -> Next:
        """Run a job that was begun. Raises ``FencedOffError`` or ``DatabaseUnavailableError``."""
        self._events.received(job)
        began = time.monotonic()
        with (
            structlog.contextvars.bound_contextvars(agent_id=job.agent_id, job_id=str(job.id)),
            self._traces.span(job.kind, parent=job.traceparent, agent_id=job.agent_id),
            self._accounts.of_job(job),
        ):
            try:
                return self._run(job, lease, after, began)
            except FencedOffError:
                # An erasure may have taken the lane: what models said of it does not stay here.
                self._accounts.settled(job)
                raise
            except _CancelledError:
                self._accounts.settled(job)
                _log.info("job was cancelled while it ran", kind=job.kind)
                with lease.effect() as connection:
                    return _next(connection, lease, after)

    def _run(self, job: Job, lease: Lease, after: After, began: float) -> Next:
        handler = self._handlers.get(job.kind)
        if handler is None:
            return self._bury(job, lease, after, f"unknown kind of job: {job.kind}", began)
        if job.started > self._limits.started:
            return self._bury(job, lease, after, dead_jobs.WORKER_LOST, began)
        # A start without an outcome may have died in a model call: it was a try as well.
        failures = job.attempts + job.started - 1
        while True:
            try:
                upcoming = self._effect(job, handler, lease, after, handler.prepare(job))
            except (FencedOffError, DatabaseUnavailableError, _CancelledError):
                raise
            except _TRANSIENT as error:
                failures += 1
                if not self._waits_inside(job, lease, error, failures):
                    return self._fail(job, lease, after, error, failures=failures, began=began)
            except Exception as error:  # noqa: BLE001 - whatever a job dies of, the lane goes on
                _log.exception("job failed", kind=job.kind)
                return self._bury(job, lease, after, _describe(error), began)
            else:
                self._accounts.settled(job)
                self._events.succeeded(job, time.monotonic() - began)
                return upcoming

    def _effect(
        self, job: Job, handler: Handler, lease: Lease, after: After, effect: Effect
    ) -> Next:
        with lease.effect() as connection:
            if not mailbox.finish(connection, job, effect(connection)):
                raise _CancelledError
            if handler.triggers_compression:
                mailbox.trigger_compress(connection, lease.agent_id)
            return _next(connection, lease, after)

    def _waits_inside(self, job: Job, lease: Lease, error: Exception, failures: int) -> bool:
        """Wait for the next try inside the job; False when there is none.

        What failed is counted at once: a process that dies later must not make it undone.
        """
        wait_s = max(backoff_s(failures, random.random()), _asked_s(error))
        if failures >= min(TRIES_INSIDE, self._limits.attempts) or wait_s > _LONGEST_INSIDE_S:
            return False
        with lease.effect(durable=False) as connection:
            mailbox.count_failure(connection, job, attempts=failures, error=_describe(error))
        return not self._stopping.wait(wait_s)

    def _fail(
        self, job: Job, lease: Lease, after: After, error: Exception, *, failures: int, began: float
    ) -> Next:
        if failures >= self._limits.attempts:
            text = f"gave up after {failures} tries: {_describe(error)}"
            return self._bury(job, lease, after, text, began)
        wait_s = max(backoff_s(failures, random.random()), _asked_s(error))
        with lease.effect() as connection:
            mailbox.back_off(
                connection,
                job,
                attempts=failures,
                error=_describe(error),
                wait_s=wait_s,
            )
            upcoming = _next(connection, lease, after)
        _log.warning("job backs off", kind=job.kind, failures=failures, wait_s=round(wait_s, 1))
        self._events.retried(job, _describe(error))
        return upcoming

    def _bury(self, job: Job, lease: Lease, after: After, error: str, began: float) -> Next:
        halt = self._limits.halt_on_dead and job.kind not in ASIDE_KINDS
        with lease.effect() as connection:
            dead_jobs.bury(connection, job, error, halt=halt)
            upcoming: Next = (
                mailbox.free(connection, job.agent_id) if halt else _next(connection, lease, after)
            )
        self._accounts.settled(job)
        _log.error("job is dead", kind=job.kind, error=error)
        self._events.failed(job, error, time.monotonic() - began)
        return upcoming


def _next(connection: Connection, lease: Lease, after: After) -> Next:
    if after.go_on():
        upcoming = mailbox.begin_head(connection, lease)
        if upcoming is not None:
            return upcoming
    return mailbox.free(connection, lease.agent_id) if after.let_go() else None


def _asked_s(error: Exception) -> float:
    """Return the wait that a provider asked for (Retry-After); 0: none."""
    return getattr(error, "retry_after_s", None) or 0.0


def _describe(error: Exception) -> str:
    """Say what went wrong without quoting data: other libraries' messages may hold text."""
    if isinstance(error, MemciError):
        return f"{type(error).__name__}: {error}"
    return f"{type(error).__name__}; the worker's log says more"
