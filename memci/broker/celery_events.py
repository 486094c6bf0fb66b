"""Celery events for jobs, so that Flower shows each under its own name (queue.md)."""

import json
import time
from collections import deque
from threading import Event, Thread
from typing import Any

import structlog
from celery import Celery

from memci.broker.app import BROKER_ERRORS
from memci.broker.names import agent_queue_name
from memci.domain.job import Job

_log = structlog.get_logger(__name__)

# Events are for watching: where too many wait, the oldest are dropped.
_MAX_WAITING = 10_000
_AT_ONCE = 100
_PERIOD_S = 0.5
_REST_S = 5.0


class JobEvents:
    """Reports jobs as Celery tasks of one worker; safe for threads.

    A report never raises and never waits for the broker: a thread sends them twice a second.
    """

    def __init__(self, app: Celery, hostname: str) -> None:
        """Report as the worker of this name, such as ``lane@host``; starts the thread."""
        self._app = app
        self._hostname = hostname
        self._waiting: deque[tuple[str, dict[str, Any]]] = deque(maxlen=_MAX_WAITING)
        self._dispatcher: Any = None
        self._stop = Event()
        self._thread = Thread(target=self._run, name="job-events", daemon=True)
        self._thread.start()

    def received(self, job: Job) -> None:
        """Report that a job starts; its arguments are ids, never text."""
        arguments = {"agent_id": job.agent_id, "first_seq": job.first_seq, "last_seq": job.last_seq}
        self._note(
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
        self._note("task-started", job)

    def succeeded(self, job: Job, runtime_s: float) -> None:
        """Report that a job's effect is committed."""
        self._note("task-succeeded", job, result="", runtime=runtime_s)

    def failed(self, job: Job, error: str, runtime_s: float) -> None:
        """Report that a job is dead."""
        self._note("task-failed", job, exception=error, traceback="", runtime=runtime_s)

    def retried(self, job: Job, error: str) -> None:
        """Report that a job backs off and will be tried again."""
        self._note("task-retried", job, exception=error, traceback="")

    def close(self) -> None:
        """Send the events that wait, if the broker takes them, and stop."""
        self._stop.set()
        self._thread.join()

    def _note(self, event: str, job: Job, **fields: object) -> None:
        self._waiting.append((event, {"uuid": str(job.id), "timestamp": time.time(), **fields}))

    def _run(self) -> None:
        rest_s = _PERIOD_S
        while not self._stop.wait(rest_s):
            rest_s = _PERIOD_S if self._send() else _REST_S
        self._send()
        self._drop()

    def _send(self) -> bool:
        try:
            while self._waiting:
                dispatcher = self._dispatcher = self._dispatcher or self._open()
                for _ in range(min(_AT_ONCE, len(self._waiting))):
                    event, fields = self._waiting.popleft()
                    dispatcher.send(event, **fields)
                dispatcher.flush()
        except BROKER_ERRORS as error:
            _log.warning("job events not sent", error=type(error).__name__)
            self._drop()
            return False
        return True

    def _open(self) -> Any:
        return self._app.events.Dispatcher(
            self._app.connection_for_write(),
            hostname=self._hostname,
            buffer_while_offline=False,
            buffer_group={"task"},
            buffer_limit=_AT_ONCE + 1,  # one more than it gets between two flushes
        )

    def _drop(self) -> None:
        dispatcher, self._dispatcher = self._dispatcher, None
        if dispatcher is not None:
            dispatcher.close()
            dispatcher.connection.collect()
