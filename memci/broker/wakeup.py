"""Wakeups: small broker messages that tell workers that an agent has work (queue.md).

A wakeup may be lost, doubled or reordered without harm, so publishing one never raises and never
makes its caller wait long: the sweep publishes what is missing.
"""

import base64
import json
import random
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from threading import Event, Lock, Thread
from typing import Any
from uuid import UUID, uuid4

import redis
import structlog
from celery import Celery
from kombu import Queue
from redis.backoff import NoBackoff
from redis.retry import Retry

from memci.broker import names
from memci.broker.app import BROKER_ERRORS
from memci.broker.intake_queues import AgentQueues
from memci.broker.redis_queues import agent_of_key
from memci.errors import UnavailableError

_LANE = names.queue(names.LANE_QUEUE)
_COMPRESS = names.queue(names.COMPRESS_QUEUE)
_UPKEEP = names.queue(names.UPKEEP_QUEUE)

# Seconds without another try after a failure: a request must not wait for the broker each time.
_REST_S = 1.0
# A frozen broker takes connections and never answers.
_TIMEOUT_S = 2
# A wakeup that finds more work publishes another, so more of them than there are workers say
# nothing new; each would cost a claim that finds nothing.
MAX_LANE_WAKEUPS = 256

_log = structlog.get_logger(__name__)


class Wakeups:
    """Publishes wakeups; safe for threads."""

    def __init__(self, app: Celery) -> None:
        """Publish through ``app``'s pool of connections."""
        self._app = app
        self._rest_until = 0.0
        self._lock = Lock()

    def wake_lane(self, agent_id: str, *, queue_seen: bool = False) -> bool:
        """Publish a wakeup of lane workers; they look at this agent first.

        ``queue_seen``: the queue watch has seen a message in the agent's own queue. Returns False
        if the broker did not take it.
        """
        seen = {"queue_seen": True} if queue_seen else {}
        return self._publish(names.LANE_RUN_TASK, _LANE, [{"agent_id": agent_id, **seen}])

    def wake_lanes(self, agent_ids: Sequence[str]) -> bool:
        """Publish a wakeup of lane workers for each of these agents."""
        return self._publish(names.LANE_RUN_TASK, _LANE, [{"agent_id": each} for each in agent_ids])

    def wake_compress(self, agent_id: str) -> bool:
        """Publish a wakeup of compress workers."""
        return self._publish(names.LANE_COMPRESS_TASK, _COMPRESS, [{"agent_id": agent_id}])

    def wake_webhooks(self, webhook_ids: Sequence[UUID]) -> bool:
        """Publish a wakeup of upkeep workers for each webhook that is due."""
        arguments = [{"webhook_id": str(each)} for each in webhook_ids]
        return self._publish(names.DELIVER_TASK, _UPKEEP, arguments)

    def close(self) -> None:
        """Close the connections that were opened for publishing."""

    def _publish(self, task: str, where: Queue, wakeups: Sequence[Mapping[str, Any]]) -> bool:
        if time.monotonic() < self._rest_until:
            return False
        try:
            self._send(task, where, wakeups)
        except BROKER_ERRORS as error:
            with self._lock:
                self._rest_until = time.monotonic() + _REST_S
            _log.warning("wakeup not published", task=task, error=type(error).__name__)
            return False
        return True

    def _send(self, task: str, where: Queue, wakeups: Sequence[Mapping[str, Any]]) -> None:
        for arguments in wakeups:
            # With a result Celery would subscribe to it, and wait for its broker.
            self._app.send_task(
                task, kwargs=arguments, queue=where, retry=False, ignore_result=True
            )


class RedisWakeups(Wakeups):
    """Puts wakeups onto Redis lists, in the format of kombu.

    Every accepted message publishes one; Celery and kombu would need more processor time than all
    its SQL.
    """

    def __init__(self, app: Celery, broker_url: str) -> None:
        """Take the app, which formats the messages, and open a client."""
        super().__init__(app)
        self._client = redis.Redis.from_url(
            broker_url,
            socket_timeout=_TIMEOUT_S,
            socket_connect_timeout=_TIMEOUT_S,
            # Replace a connection that a restart has cut; try no broker that is away or frozen.
            retry=Retry(NoBackoff(), 1, supported_errors=(redis.ConnectionError,)),
        )

    def close(self) -> None:
        """Close the client."""
        self._client.close()

    def _send(self, task: str, where: Queue, wakeups: Sequence[Mapping[str, Any]]) -> None:
        queue_seen = any("queue_seen" in arguments for arguments in wakeups)
        if where is _LANE and not queue_seen:
            wakeups = wakeups[: max(0, MAX_LANE_WAKEUPS - self._client.llen(where.name))]
        if wakeups:
            # Workers take from the right. No other wakeup leads to what the queue watch has seen.
            push = self._client.rpush if queue_seen else self._client.lpush
            push(where.name, *(self._envelope(task, where.name, each) for each in wakeups))

    def _envelope(self, task: str, queue_name: str, arguments: Mapping[str, Any]) -> str:
        """Write a Celery message as kombu's Redis transport does."""
        message = self._app.amqp.create_task_message(
            str(uuid4()),
            task,
            kwargs=arguments,
            argsrepr="()",
            kwargsrepr=repr(arguments),
            ignore_result=True,
        )
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


# A burst of messages to one agent gives one wakeup; the scan finds what comes just after.
_QUIET_S = 0.1
_MAX_REMEMBERED = 10_000
_MIN_PUBLISHED = 8
_AWAY: tuple[type[Exception], ...] = (*BROKER_ERRORS, UnavailableError)


@dataclass(eq=False)
class QueueWatch:
    """Watches agents' own queues: keyspace notifications for speed, a scan each second to be sure.

    Any number of watches may run: a wakeup that comes twice is dropped.
    """

    queues: AgentQueues  # scanned in any case
    wakeups: Wakeups
    client: redis.Redis | None  # listens, if the broker is a Redis
    period_s: float = field(default=1.0, kw_only=True)
    _stop: Event = field(default_factory=Event, init=False)
    _threads: list[Thread] = field(default_factory=list, init=False)
    _seen_at: dict[str, float] = field(default_factory=dict, init=False)

    def start(self) -> None:
        """Start the threads."""
        loops = [self._scan] if self.client is None else [self._scan, self._listen]
        for loop in loops:
            name = f"queue-watch-{loop.__name__}"
            thread = Thread(target=self._repeat, args=(loop,), name=name, daemon=True)
            thread.start()
            self._threads.append(thread)

    def stop(self) -> None:
        """Stop; return when the threads have ended."""
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _repeat(self, loop: Callable[[], None]) -> None:
        while not self._stop.is_set():
            try:
                loop()
            except _AWAY as error:
                _log.warning("queue watch failed", error=type(error).__name__)
                self._stop.wait(self.period_s)

    def _scan(self) -> None:
        waiting = self.queues.waiting()
        if waiting:
            # The wakeups that still wait serve that many agents. But they may be for others,
            # so a few are drawn in any case: no agent is passed over for ever.
            missing = max(_MIN_PUBLISHED, len(waiting) - self.queues.depth(names.LANE_QUEUE))
            for agent_id in random.sample(waiting, min(len(waiting), missing)):
                self.wakeups.wake_lane(agent_id, queue_seen=True)
        self._stop.wait(self.period_s)

    def _listen(self) -> None:
        assert self.client is not None  # noqa: S101 - this loop is started with a client only
        database = self.client.connection_pool.connection_kwargs.get("db") or 0
        pubsub: Any = self.client.pubsub(ignore_subscribe_messages=True)  # type: ignore[no-untyped-call]
        with pubsub:
            pubsub.psubscribe(f"__keyspace@{database}__:{names.AGENT_PREFIX}*")
            while not self._stop.is_set():
                message = pubsub.get_message(timeout=self.period_s)
                if message is not None and message["data"] == b"lpush":
                    _, _, key = message["channel"].partition(b":")
                    agent_id = agent_of_key(key)
                    if agent_id is not None and self._is_first(agent_id):
                        self.wakeups.wake_lane(agent_id, queue_seen=True)

    def _is_first(self, agent_id: str) -> bool:
        now = time.monotonic()
        if now - self._seen_at.get(agent_id, -_QUIET_S) < _QUIET_S:
            return False
        if len(self._seen_at) >= _MAX_REMEMBERED:
            self._seen_at.clear()
        self._seen_at[agent_id] = now
        return True


# The first wakeup goes out at once; under load, those of this time go out together.
_PAUSE_S = 0.002
# A broker that starts again is there within a second; the sweep may come seconds later.
_AGAIN_S = 0.5


class WakeupPublisher:
    """Publishes wakeups in a thread of its own, in order; safe for threads.

    Those that the broker does not take are published again soon, as many as say something new. The
    sweep publishes those that a killed process had not published yet (queue.md).
    """

    def __init__(self, wakeups: Wakeups) -> None:
        """Start the thread."""
        self._wakeups = wakeups
        self._waiting: SimpleQueue[str | None] = SimpleQueue()
        self._thread = Thread(target=self._run, name="wakeup-publisher", daemon=True)
        self._thread.start()

    def wake_lane(self, agent_id: str) -> None:
        """Publish a wakeup soon."""
        self._waiting.put(agent_id)

    def close(self) -> None:
        """Publish those that still wait, then stop the thread."""
        self._waiting.put(None)
        self._thread.join()

    def _run(self) -> None:
        unsent: list[str] = []
        while True:
            taken = self._take(_AGAIN_S if unsent else None)
            unsent += [each for each in taken if each is not None]
            try:
                sent = self._wakeups.wake_lanes(unsent)
            except Exception:  # noqa: BLE001 - nothing may end this thread
                _log.exception("wakeups not published", count=len(unsent))
                sent = True
            if None in taken:
                return
            unsent = [] if sent else unsent[:MAX_LANE_WAKEUPS]
            time.sleep(_PAUSE_S)

    def _take(self, timeout_s: float | None) -> list[str | None]:
        """Return all that waits; wait for the first one."""
        taken: list[str | None] = []
        with suppress(Empty):
            taken.append(self._waiting.get(timeout=timeout_s))
        while not self._waiting.empty():
            taken.append(self._waiting.get())
        return taken
