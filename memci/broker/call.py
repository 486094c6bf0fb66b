"""A read: asked over Celery, answered by a context worker (architecture.md, "READ")."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Protocol
from uuid import uuid4

import redis
from celery import Celery

from memci import errors
from memci.broker.errors import broker_errors
from memci.broker.names import READ_QUEUE, ReadUse, queue, read_task

_READ = queue(READ_QUEUE)
_REPLY_PREFIX = "memci.reply."
_REPLY_KEY = re.compile(r"memci\.reply\.[0-9a-f]{32}")
# An answer that nobody fetched goes by itself.
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
        Raises ``ReadTimeoutError`` when nobody answers, ``BrokerUnavailableError``, or the
        error that the worker met.
        """
        ...

    def close(self) -> None:
        """Close what was opened."""
        ...


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
                # Said for each: otherwise Celery subscribes to a result that never comes.
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
        """Leave an answer under its key; anything but a reply key is refused.

        The key came in a message: it must not name somebody's queue.
        """
        if not _REPLY_KEY.fullmatch(reply):
            raise errors.InvalidInputError("reply: expected a key that memci made", field="reply")
        with broker_errors(), self._client.pipeline(transaction=True) as pipe:
            pipe.lpush(reply, json.dumps(answer))
            pipe.expire(reply, _REPLY_EXPIRES_S)
            pipe.execute()


def request_options(agent_id: str, timeout_s: float) -> dict[str, Any]:
    """Return how a read is sent: no worker begins it when its caller has gone."""
    return {
        "queue": _READ,
        "expires": timeout_s,
        # Flower shows arguments: questions are the users' own.
        "argsrepr": "()",
        "kwargsrepr": json.dumps({"agent_id": agent_id}),
        "retry": False,
    }


def wrap_answer(answer: Mapping[str, Any]) -> dict[str, Any]:
    """Return what travels for an answer."""
    return {"answer": dict(answer)}


def wrap_error(error: errors.MemciError) -> dict[str, Any]:
    """Return what travels for an error: its class and message, and its fields."""
    return {
        "error": type(error).__name__,
        "message": str(error),
        "fields": {key: value for key, value in vars(error).items() if not key.startswith("_")},
    }


def unwrap(wrapped: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answer, or raise the error that travelled."""
    if "answer" in wrapped:
        return dict(wrapped["answer"])
    kind = getattr(errors, str(wrapped.get("error")), None)
    if not (isinstance(kind, type) and issubclass(kind, errors.MemciError)):
        raise errors.MemciError("the context worker failed; its log says why")
    raise kind(str(wrapped.get("message")), **dict(wrapped.get("fields") or {}))
