"""Connections to an AMQP broker, each lent to one thread at a time."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

from celery import Celery


class AmqpLines:
    """A pool that grows as far as it is used at once; safe for threads.

    The broker closes a connection that is silent for about two heartbeats and puts back what it
    was holding. That frees what a frozen process has taken; a connection that lay idle for one
    heartbeat is therefore not trusted, but replaced.
    """

    def __init__(self, app: Celery, heartbeat_s: int) -> None:
        """Connect as ``app`` does, with this heartbeat."""
        self._app = app
        self._heartbeat_s = heartbeat_s
        self._idle: deque[tuple[float, Any]] = deque()
        self._lock = Lock()

    @contextmanager
    def lend(self) -> Iterator[Any]:
        """Lend a kombu connection; one that leaves by an exception is not used again."""
        connection = self._fresh() or self._dial()
        try:
            yield connection
        except BaseException:
            connection.collect()
            raise
        with self._lock:
            self._idle.append((time.monotonic(), connection))

    def close(self) -> None:
        """Close what is idle."""
        with self._lock:
            closing, self._idle = self._idle, deque()
        for _, connection in closing:
            connection.collect()

    def _fresh(self) -> Any | None:
        trusted_from = time.monotonic() - self._heartbeat_s
        with self._lock:
            while self._idle and self._idle[0][0] < trusted_from:
                self._idle.popleft()[1].collect()
            return self._idle.pop()[1] if self._idle else None

    def _dial(self) -> Any:
        connection = self._app.connection_for_read(heartbeat=self._heartbeat_s)
        connection.connect()
        return connection
