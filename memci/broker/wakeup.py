"""Wakeups: small broker messages that tell workers that an agent has work (queue.md).

A token may be lost, doubled or reordered without harm, so publishing one never raises and never
makes its caller wait long: the sweeper puts out what is missing.
"""

from __future__ import annotations

import base64
import json
import random
import time
from collections.abc import Callable, Mapping, Sequence
from queue import SimpleQueue
from threading import Event, Lock, Thread
from typing import Any
from uuid import uuid4

import redis
import structlog
from celery import Celery
from kombu import Queue
from redis.backoff import NoBackoff
from redis.retry import Retry

from memci.broker.agent_queues import AgentQueues
from memci.broker.health import BROKER_ERRORS
from memci.broker.names import (
    AGENT_PREFIX,
    COMPRESS_QUEUE,
    LANE_COMPRESS_TASK,
    LANE_QUEUE,
    LANE_RUN_TASK,
    queue,
)
from memci.broker.redis_queues import agent_of_key
from memci.errors import UnavailableError

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


class Wakeups:
    """Publishes tokens; safe for threads."""

    def __init__(self, app: Celery) -> None:
        """Publish through ``app``'s pool of connections."""
        self._app = app
        self._rest_until = 0.0
        self._lock = Lock()

    def wake_lane(self, agent_id: str, *, queue_seen: bool = False) -> bool:
        """Tell lane workers that there is work; the agent is where to look first.

        ``queue_seen`` says that the bell has seen something in the agent's own queue.
        """
        arguments = (
            {"agent_id": agent_id, "queue_seen": True} if queue_seen else {"agent_id": agent_id}
        )
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


class RedisWakeups(Wakeups):
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
        queue_seen = any("queue_seen" in arguments for arguments in tokens)
        if where is _LANE and not queue_seen:
            tokens = tokens[: max(0, ENOUGH_LANE_TOKENS - self._client.llen(where.name))]
        if tokens:
            # Workers take from the right. What the queue watch has seen, no other token leads to.
            push = self._client.rpush if queue_seen else self._client.lpush
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


_SCAN_PERIOD_S = 1.0
# A burst of messages to one agent rings once; what comes just after is found by the scan.
_QUIET_S = 0.1
_MOST_REMEMBERED = 10_000
_AT_LEAST = 8
_AWAY: tuple[type[Exception], ...] = (*BROKER_ERRORS, UnavailableError)


class QueueWatch:
    """Two threads: keyspace notifications for speed, a scan each second for certainty.

    Any number of bells may run: a token that comes twice is dropped.
    """

    def __init__(
        self,
        queues: AgentQueues,
        tokens: Wakeups,
        client: redis.Redis | None,
        *,
        period_s: float = _SCAN_PERIOD_S,
    ) -> None:
        """Listen with ``client``, if the broker is a Redis; scan ``queues`` anyway."""
        self._queues = queues
        self._tokens = tokens
        self._client = client
        self._period_s = period_s
        self._stop = Event()
        self._threads: list[Thread] = []
        self._seen_at: dict[str, float] = {}

    def start(self) -> None:
        """Start ringing."""
        loops = [self._scan] if self._client is None else [self._scan, self._listen]
        for loop in loops:
            thread = Thread(target=self._repeat, args=(loop,), name=f"bell-{loop.__name__}")
            thread.daemon = True
            thread.start()
            self._threads.append(thread)

    def stop(self) -> None:
        """Stop ringing; returns when both threads have ended."""
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _repeat(self, loop: Callable[[], None]) -> None:
        while not self._stop.is_set():
            try:
                loop()
            except _AWAY as error:
                _log.warning("bell cannot look", error=type(error).__name__)
                self._stop.wait(self._period_s)

    def _scan(self) -> None:
        waiting = self._queues.waiting()
        if waiting:
            # Tokens that nobody has taken yet will do for as many of these agents; but they may
            # be for others, so a few are drawn in any case: none is passed over for ever.
            missing = len(waiting) - self._queues.depth(LANE_QUEUE)
            for agent_id in random.sample(waiting, min(len(waiting), max(_AT_LEAST, missing))):
                self._tokens.wake_lane(agent_id, queue_seen=True)
        self._stop.wait(self._period_s)

    def _listen(self) -> None:
        assert self._client is not None  # noqa: S101 - this loop is started with a client only
        database = self._client.connection_pool.connection_kwargs.get("db") or 0
        pubsub: Any = self._client.pubsub(ignore_subscribe_messages=True)  # type: ignore[no-untyped-call]
        with pubsub:
            pubsub.psubscribe(f"__keyspace@{database}__:{AGENT_PREFIX}*")
            while not self._stop.is_set():
                message = pubsub.get_message(timeout=self._period_s)
                if message is not None and message["data"] == b"lpush":
                    _, _, key = message["channel"].partition(b":")
                    agent_id = agent_of_key(key)
                    if agent_id is not None and self._is_first(agent_id):
                        self._tokens.wake_lane(agent_id, queue_seen=True)

    def _is_first(self, agent_id: str) -> bool:
        now = time.monotonic()
        if now - self._seen_at.get(agent_id, -_QUIET_S) < _QUIET_S:
            return False
        if len(self._seen_at) >= _MOST_REMEMBERED:
            self._seen_at.clear()
        self._seen_at[agent_id] = now
        return True


# The first token goes out at once; under load, those of this time go out together.
_PAUSE_S = 0.002


class WakeupPublisher:
    """Publishes what it is given, in order; safe for threads.

    What a killed process had not published yet, the sweeper puts out (queue.md).
    """

    def __init__(self, tokens: Wakeups) -> None:
        """Start the thread."""
        self._tokens = tokens
        self._waiting: SimpleQueue[str | None] = SimpleQueue()
        self._thread = Thread(target=self._run, name="token-outbox", daemon=True)
        self._thread.start()

    def wake_lane(self, agent_id: str) -> None:
        """Have lane workers told that there is work."""
        self._waiting.put(agent_id)

    def close(self) -> None:
        """Publish what still waits, then stop the thread."""
        self._waiting.put(None)
        self._thread.join()

    def _run(self) -> None:
        while True:
            # What has come while the last ones were published goes out together.
            taken = [self._waiting.get()]
            while not self._waiting.empty():
                taken.append(self._waiting.get())
            try:
                self._tokens.wake_lanes([each for each in taken if each is not None])
            except Exception:  # noqa: BLE001 - nothing may end this thread
                _log.exception("tokens not published", count=len(taken))
            if None in taken:
                return
            time.sleep(_PAUSE_S)
