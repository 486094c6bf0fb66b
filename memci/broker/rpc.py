"""Reads over ``rpc://``, for brokers other than Redis: answers come as Celery results.

Celery's own ``get()`` lets every waiting thread read from one connection of the process, which
no two threads may do. Here one thread reads, and hands each answer to who waits for it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from threading import Lock, Thread
from typing import Any
from uuid import uuid4

import structlog
from celery import Celery

from memci import errors
from memci.broker.call import request_options, unwrap
from memci.broker.errors import BROKER_ERRORS, broker_errors
from memci.broker.names import ReadUse, read_task

_log = structlog.get_logger(__name__)

_HEARTBEAT_S = 20
_LOOK_EVERY_S = 1.0


class RpcReads:
    """``Reads`` on an AMQP broker; safe for threads."""

    def __init__(self, app: Celery, timeout_ms: int) -> None:
        """Wait ``timeout_ms`` at most for an answer."""
        self._app = app
        self._timeout_s = timeout_ms / 1000
        self._mail: _Mail | None = None
        self._lock = Lock()

    def call(
        self, use: ReadUse, agent_id: str, request: Mapping[str, Any], *, wait_ms: int = 0
    ) -> dict[str, Any]:
        """Ask, and wait for the result."""
        timeout_s = self._timeout_s + wait_ms / 1000
        task_id = str(uuid4())
        with broker_errors():
            mail = self._open_mail()
        answer = mail.expect(task_id)
        try:
            with broker_errors():
                self._app.send_task(
                    read_task(use),
                    kwargs={**request, "agent_id": agent_id, "wrapped": True},
                    task_id=task_id,
                    reply_to=mail.address,
                    ignore_result=False,
                    **request_options(agent_id, timeout_s),
                )
            result = answer.result(timeout_s)
        except TimeoutError:
            raise errors.ReadTimeoutError from None
        finally:
            mail.forget(task_id)
        return _unwrap_result(result)

    def close(self) -> None:
        """Stop waiting for answers."""
        with self._lock:
            if self._mail is not None:
                self._mail.close()

    def _open_mail(self) -> _Mail:
        with self._lock:
            if self._mail is None or not self._mail.is_open:
                self._mail = _Mail(self._app)
            return self._mail


class _Mail:
    """A queue for the answers to this process, and the one thread that reads it."""

    def __init__(self, app: Celery) -> None:
        """Open the queue; the broker removes it with the connection."""
        self.is_open = True
        self._waiting: dict[str, Future[Mapping[str, Any]]] = {}
        self._connection = app.connection_for_read(heartbeat=_HEARTBEAT_S)
        self._connection.connect()
        channel = self._connection.channel()
        self.address: str = channel.queue_declare(exclusive=True, auto_delete=True).queue
        channel.basic_consume(self.address, no_ack=True, callback=self._deliver)
        self._thread = Thread(target=self._run, name="read-answers", daemon=True)
        self._thread.start()

    def expect(self, task_id: str) -> Future[Mapping[str, Any]]:
        """Return what the answer will be put into, or a failure if the connection is lost."""
        answer: Future[Mapping[str, Any]] = Future()
        self._waiting[task_id] = answer
        if not self.is_open:
            self._fail(answer)
        return answer

    def forget(self, task_id: str) -> None:
        """Drop the answer if it still comes."""
        self._waiting.pop(task_id, None)

    def close(self) -> None:
        """End the thread, which then closes the connection."""
        self.is_open = False
        self._thread.join()

    def _deliver(self, message: Any) -> None:
        try:
            result = json.loads(message.body)
            answer = self._waiting.get(result["task_id"])
        except (ValueError, KeyError, TypeError):
            _log.warning("not an answer, dropped")
            return
        if answer is not None:
            with suppress(InvalidStateError):  # a late second copy
                answer.set_result(result)

    def _run(self) -> None:
        try:
            while self.is_open:
                with suppress(TimeoutError):
                    self._connection.drain_events(timeout=_LOOK_EVERY_S)
                self._connection.heartbeat_check()
        except BROKER_ERRORS as error:
            _log.warning("connection for answers lost", error=type(error).__name__)
        finally:
            self.is_open = False
            self._connection.collect()
            for answer in list(self._waiting.values()):
                self._fail(answer)

    @staticmethod
    def _fail(answer: Future[Mapping[str, Any]]) -> None:
        with suppress(InvalidStateError):
            answer.set_exception(errors.BrokerUnavailableError())


def _unwrap_result(result: Mapping[str, Any]) -> dict[str, Any]:
    if result.get("status") != "SUCCESS":
        raise errors.MemciError("the context worker failed; its log says why")
    return unwrap(result["result"])
