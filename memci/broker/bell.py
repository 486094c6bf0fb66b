"""The bell: tells the lanes that something lies in an agent's Celery queue (queue.md)."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from threading import Event, Thread
from typing import Any

import redis
import structlog

from memci.broker.agent_queues import AgentQueues
from memci.broker.errors import BROKER_ERRORS
from memci.broker.names import AGENT_PREFIX, LANE_QUEUE
from memci.broker.redis_queues import agent_of_key
from memci.broker.token import Tokens
from memci.errors import UnavailableError

_log = structlog.get_logger(__name__)

_SCAN_PERIOD_S = 1.0
# A burst of messages to one agent rings once; what comes just after is found by the scan.
_QUIET_S = 0.1
_MOST_REMEMBERED = 10_000
_AT_LEAST = 8
_AWAY: tuple[type[Exception], ...] = (*BROKER_ERRORS, UnavailableError)


class Bell:
    """Two threads: keyspace notifications for speed, a scan each second for certainty.

    Any number of bells may run: a token that comes twice is dropped.
    """

    def __init__(
        self,
        queues: AgentQueues,
        tokens: Tokens,
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
        self._rung: dict[str, float] = {}

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
                self._tokens.wake_lane(agent_id, rung=True)
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
                        self._tokens.wake_lane(agent_id, rung=True)

    def _is_first(self, agent_id: str) -> bool:
        now = time.monotonic()
        if now - self._rung.get(agent_id, -_QUIET_S) < _QUIET_S:
            return False
        if len(self._rung) >= _MOST_REMEMBERED:
            self._rung.clear()
        self._rung[agent_id] = now
        return True
