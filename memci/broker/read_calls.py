"""Calls of reads: a request goes to a context worker over Celery, and its answer comes back.

Celery's own ``get()`` lets every waiting thread read from one connection of the process, which
no two threads may do. Here one thread reads, and hands each answer to who waits for it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from threading import BoundedSemaphore, Lock, Thread
from typing import Any, Protocol
from uuid import uuid4

import redis
import structlog
from celery import Celery

from memci import errors
from memci.broker.app import BROKER_ERRORS, broker_errors
from memci.broker.names import READ_QUEUE, ReadUse, queue, read_task

_READ = queue(READ_QUEUE)
_REPLY_PREFIX = "memci.reply."
_REPLY_KEY = re.compile(r"memci\.reply\.[0-9a-f]{32}")
# An answer that is not fetched expires.
_REPLY_EXPIRES_S = 60
# Answers fetched at the same moment each wait on a connection of their own.
_CONNECTIONS = 256


class Reads(Protocol):
    """Asks context workers."""

    def call(
        self, use: ReadUse, agent_id: str, request: Mapping[str, Any], *, wait_ms: int = 0
    ) -> dict[str, Any]:
        """Return the answer as JSON values.

        ``wait_ms`` is what the request itself may wait for; it comes on top of the time-out.
        Raises ``ReadTimeoutError`` when no worker answers, ``BrokerUnavailableError``, or the
        error that the worker met.
        """
        ...

    def close(self) -> None:
        """Close the connections."""
        ...


class BoundedReads:
    """Refuses a read at once if too many wait already: later it would only wait in vain."""

    def __init__(self, reads: Reads, most: int) -> None:
        """Take what asks, and how many reads may wait at once."""
        self._reads = reads
        self._left = BoundedSemaphore(most)

    def call(
        self, use: ReadUse, agent_id: str, request: Mapping[str, Any], *, wait_ms: int = 0
    ) -> dict[str, Any]:
        """Ask; raises ``ReadsBusyError`` too."""
        if not self._left.acquire(blocking=False):
            raise errors.ReadsBusyError
        try:
            return self._reads.call(use, agent_id, request, wait_ms=wait_ms)
        finally:
            self._left.release()

    def close(self) -> None:
        """Close the connections."""
        self._reads.close()


class RedisReads:
    """Fetches answers from a list under a random key: faster than a result, and it leaves none."""

    def __init__(self, app: Celery, broker_url: str, timeout_ms: int) -> None:
        """Wait ``timeout_ms`` at most for an answer."""
        self._app = app
        self._timeout_s = timeout_ms / 1000
        self._client = redis.Redis.from_url(
            broker_url,
            max_connections=_CONNECTIONS,
            socket_connect_timeout=2,
            # Longer than any wait below: BLPOP is what ends first.
            socket_timeout=self._timeout_s + 35,
            health_check_interval=25,
        )

    def call(
        self, use: ReadUse, agent_id: str, request: Mapping[str, Any], *, wait_ms: int = 0
    ) -> dict[str, Any]:
        """Ask, and wait for the answer."""
        reply = _REPLY_PREFIX + uuid4().hex
        timeout_s = self._timeout_s + wait_ms / 1000
        with broker_errors():
            self._app.send_task(
                read_task(use),
                kwargs={**request, "agent_id": agent_id, "reply": reply},
                # Set on each call: otherwise Celery subscribes to a result that never comes.
                ignore_result=True,
                **request_options(agent_id, timeout_s),
            )
            answered = self._client.blpop([reply], timeout=timeout_s)
        if answered is None:
            raise errors.ReadTimeoutError
        return unwrap(json.loads(answered[1]))

    def close(self) -> None:
        """Close the connections."""
        self._client.close()


class Replies:
    """The context worker's end of ``RedisReads``."""

    def __init__(self, client: redis.Redis) -> None:
        """Push answers through this client."""
        self._client = client

    def send(self, reply: str, answer: Mapping[str, Any]) -> None:
        """Store an answer under its key.

        The key came in a message, so ``InvalidInputError`` is raised for other keys than replies.
        """
        if not _REPLY_KEY.fullmatch(reply):
            raise errors.InvalidInputError("reply: expected a key that memci made", field="reply")
        with broker_errors(), self._client.pipeline(transaction=True) as pipe:
            pipe.lpush(reply, json.dumps(answer))
            pipe.expire(reply, _REPLY_EXPIRES_S)
            pipe.execute()


def request_options(agent_id: str, timeout_s: float) -> dict[str, Any]:
    """Return the options of a read's task; it expires when its caller stops waiting."""
    return {
        "queue": _READ,
        "expires": timeout_s,
        # Flower shows arguments: questions are the users' own.
        "argsrepr": "()",
        "kwargsrepr": json.dumps({"agent_id": agent_id}),
        "retry": False,
    }


def wrap_answer(answer: Mapping[str, Any]) -> dict[str, Any]:
    """Return the message of an answer."""
    return {"answer": dict(answer)}


def wrap_error(error: errors.MemciError) -> dict[str, Any]:
    """Return the message of an error: its class, text and fields."""
    return {
        "error": type(error).__name__,
        "message": str(error),
        "fields": {key: value for key, value in vars(error).items() if not key.startswith("_")},
    }


def unwrap(wrapped: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answer of a message, or raise its error."""
    if "answer" in wrapped:
        return dict(wrapped["answer"])
    kind = getattr(errors, str(wrapped.get("error")), None)
    if not (isinstance(kind, type) and issubclass(kind, errors.MemciError)):
        raise errors.MemciError("the context worker failed; its log says why")
    raise kind(str(wrapped.get("message")), **dict(wrapped.get("fields") or {}))


_log = structlog.get_logger(__name__)

_HEARTBEAT_S = 20
_LOOK_EVERY_S = 1.0


class RpcReads:
    """``Reads`` on an AMQP broker; safe for threads."""

    def __init__(self, app: Celery, timeout_ms: int) -> None:
        """Wait ``timeout_ms`` at most for an answer."""
        self._app = app
        self._timeout_s = timeout_ms / 1000
        self._answers: _AnswerQueue | None = None
        self._lock = Lock()

    def call(
        self, use: ReadUse, agent_id: str, request: Mapping[str, Any], *, wait_ms: int = 0
    ) -> dict[str, Any]:
        """Ask, and wait for the result."""
        timeout_s = self._timeout_s + wait_ms / 1000
        task_id = str(uuid4())
        with broker_errors():
            answers = self._open_queue()
        answer = answers.expect(task_id)
        try:
            with broker_errors():
                self._app.send_task(
                    read_task(use),
                    kwargs={**request, "agent_id": agent_id, "wrapped": True},
                    task_id=task_id,
                    reply_to=answers.address,
                    ignore_result=False,
                    **request_options(agent_id, timeout_s),
                )
            result = answer.result(timeout_s)
        except TimeoutError:
            raise errors.ReadTimeoutError from None
        finally:
            answers.forget(task_id)
        return _unwrap_result(result)

    def close(self) -> None:
        """Stop waiting for answers."""
        with self._lock:
            if self._answers is not None:
                self._answers.close()

    def _open_queue(self) -> _AnswerQueue:
        with self._lock:
            if self._answers is None or not self._answers.is_open:
                self._answers = _AnswerQueue(self._app)
            return self._answers


class _AnswerQueue:
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
        """Return the future of the answer; it fails if the connection is lost."""
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
