"""Celery events for jobs, so that Flower shows each under its own name (queue.md)."""

from __future__ import annotations

import json
import time
from threading import Lock
from typing import Any

import structlog
from celery import Celery

from memci.broker.errors import BROKER_ERRORS
from memci.broker.names import agent_queue_name
from memci.domain.lane.job import Job

_log = structlog.get_logger(__name__)

# Events are sent many at once; a buffer that nobody could send is dropped, not kept.
_BUFFER = 100
_REST_S = 5.0


class JobEvents:
    """Reports jobs as Celery tasks of one worker; never raises; safe for threads."""

    def __init__(self, app: Celery, hostname: str) -> None:
        """Report as the worker of this name, such as ``lane@host``."""
        self._app = app
        self._hostname = hostname
        self._dispatcher: Any = None
        self._rest_until = 0.0
        self._lock = Lock()

    def received(self, job: Job) -> None:
        """Say that a job is about to start; arguments are ids, never text."""
        arguments = {"agent_id": job.agent_id, "first_seq": job.first_seq, "last_seq": job.last_seq}
        self._send(
            "task-received",
            job,
            name=job.kind,
            args="()",
            kwargs=json.dumps(arguments),
            root_id=str(job.id),
            retries=job.attempts,
            routing_key=agent_queue_name(job.agent_id),
            queue=agent_queue_name(job.agent_id),
            exchange="",
        )
        self._send("task-started", job)

    def succeeded(self, job: Job, runtime_s: float) -> None:
        """Say that a job's effect is committed."""
        self._send("task-succeeded", job, result="", runtime=runtime_s)

    def failed(self, job: Job, error: str, runtime_s: float) -> None:
        """Say that a job is dead."""
        self._send("task-failed", job, exception=error, traceback="", runtime=runtime_s)

    def retried(self, job: Job, error: str) -> None:
        """Say that a job backs off and will be tried again."""
        self._send("task-retried", job, exception=error, traceback="")

    def flush(self) -> None:
        """Send what is buffered."""
        with self._lock:
            if self._dispatcher is None:
                return
            try:
                self._dispatcher.flush()
            except BROKER_ERRORS as error:
                self._give_up(error)

    def close(self) -> None:
        """Send what is buffered and close the connection."""
        self.flush()
        with self._lock:
            self._drop()

    def _send(self, event: str, job: Job, **fields: object) -> None:
        with self._lock:
            if time.monotonic() < self._rest_until:
                return
            try:
                if self._dispatcher is None:
                    self._dispatcher = self._open()
                self._dispatcher.send(event, uuid=str(job.id), **fields)
            except BROKER_ERRORS as error:
                self._give_up(error)

    def _open(self) -> Any:
        return self._app.events.Dispatcher(
            self._app.connection_for_write(),
            hostname=self._hostname,
            buffer_while_offline=False,
            buffer_group={"task"},
            buffer_limit=_BUFFER,
        )

    def _give_up(self, error: Exception) -> None:
        _log.warning("job events not sent", error=type(error).__name__)
        self._rest_until = time.monotonic() + _REST_S
        self._drop()

    def _drop(self) -> None:
        dispatcher, self._dispatcher = self._dispatcher, None
        if dispatcher is not None:
            dispatcher.close()
            dispatcher.connection.release()
