"""Tokens: small shared messages that say "there is work" (queue.md).

A token may be lost, doubled or reordered without harm, so publishing one never raises and never
makes its caller wait long: the sweeper puts out what is missing.
"""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Mapping, Sequence
from threading import Lock
from typing import Any
from uuid import uuid4

import redis
import structlog
from celery import Celery
from kombu import Queue
from redis.backoff import NoBackoff
from redis.retry import Retry

from memci.broker.errors import BROKER_ERRORS
from memci.broker.names import (
    COMPRESS_QUEUE,
    LANE_COMPRESS_TASK,
    LANE_QUEUE,
    LANE_RUN_TASK,
    queue,
)

_LANE = queue(LANE_QUEUE)
_COMPRESS = queue(COMPRESS_QUEUE)

# After a failure the broker is left alone for so long: an accept must not wait for it each time.
_REST_S = 1.0
# Nor for long the one time: a broker that is frozen takes connections and never answers.
_PATIENCE_S = 2

# A token that finds more than its share is passed on, so that more of them than there are workers
# say nothing new; each would cost a claim that finds nothing.
ENOUGH_LANE_TOKENS = 256

_log = structlog.get_logger(__name__)


class Tokens:
    """Publishes tokens; safe for threads."""

    def __init__(self, app: Celery) -> None:
        """Publish through ``app``'s pool of connections."""
        self._app = app
        self._rest_until = 0.0
        self._lock = Lock()

    def wake_lane(self, agent_id: str, *, rung: bool = False) -> bool:
        """Tell lane workers that there is work; the agent is where to look first.

        ``rung`` says that the bell has seen something in the agent's own queue.
        """
        arguments = {"agent_id": agent_id, "rung": True} if rung else {"agent_id": agent_id}
        return self._publish(LANE_RUN_TASK, _LANE, [arguments])

    def wake_lanes(self, agent_ids: Sequence[str]) -> bool:
        """Tell lane workers that there is work for each of these agents."""
        return self._publish(LANE_RUN_TASK, _LANE, [{"agent_id": each} for each in agent_ids])

    def wake_compress(self, agent_id: str) -> bool:
        """Tell compress workers that a pass is wanted."""
        return self._publish(LANE_COMPRESS_TASK, _COMPRESS, [{"agent_id": agent_id}])

    def close(self) -> None:
        """Close what was opened for publishing alone."""

    def _publish(self, task: str, where: Queue, tokens: Sequence[Mapping[str, Any]]) -> bool:
        if time.monotonic() < self._rest_until:
            return False
        try:
            self._send(task, where, tokens)
        except BROKER_ERRORS as error:
            with self._lock:
                self._rest_until = time.monotonic() + _REST_S
            _log.warning("token not published", task=task, error=type(error).__name__)
            return False
        return True

    def _send(self, task: str, where: Queue, tokens: Sequence[Mapping[str, Any]]) -> None:
        for arguments in tokens:
            # Said for each: otherwise Celery subscribes to a result, and waits for its broker.
            self._app.send_task(
                task, kwargs=arguments, queue=where, retry=False, ignore_result=True
            )


class RedisTokens(Tokens):
    """Puts tokens onto Redis lists as kombu lays them there.

    Every accept publishes one, and Celery's and kombu's layers would cost it more processor time
    than all its SQL.
    """

    def __init__(self, app: Celery, broker_url: str) -> None:
        """Take the app for the form of its messages, and the broker for a client of our own."""
        super().__init__(app)
        self._client = redis.Redis.from_url(
            broker_url,
            socket_timeout=_PATIENCE_S,
            socket_connect_timeout=_PATIENCE_S,
            # A connection that a restart has cut is replaced; a broker that is away or frozen is
            # left alone.
            retry=Retry(NoBackoff(), 1, supported_errors=(redis.ConnectionError,)),
        )

    def close(self) -> None:
        """Close the client."""
        self._client.close()

    def _send(self, task: str, where: Queue, tokens: Sequence[Mapping[str, Any]]) -> None:
        rung = any("rung" in arguments for arguments in tokens)
        if where is _LANE and not rung:
            tokens = tokens[: max(0, ENOUGH_LANE_TOKENS - self._client.llen(where.name))]
        if tokens:
            # Workers take from the right. What the bell has rung for, no other token leads to.
            push = self._client.rpush if rung else self._client.lpush
            push(where.name, *(self._envelope(task, where.name, each) for each in tokens))

    def _envelope(self, task: str, queue_name: str, arguments: Mapping[str, Any]) -> str:
        message = self._app.amqp.create_task_message(
            str(uuid4()),
            task,
            kwargs=arguments,
            argsrepr="()",
            kwargsrepr=repr(arguments),
            ignore_result=True,
        )
        return _envelope(message, queue_name)


def _envelope(message: Any, queue_name: str) -> str:
    """Write a Celery message as kombu's Redis transport does."""
    return json.dumps(
        {
            "body": base64.b64encode(json.dumps(message.body).encode()).decode(),
            "content-encoding": "utf-8",
            "content-type": "application/json",
            "headers": message.headers,
            "properties": {
                **message.properties,
                "delivery_mode": 2,
                "delivery_info": {"exchange": "", "routing_key": queue_name},
                "priority": 0,
                "body_encoding": "base64",
                "delivery_tag": str(uuid4()),
            },
        }
    )
