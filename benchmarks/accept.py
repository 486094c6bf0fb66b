"""Accepting messages over HTTP, against the same rows inserted by bare psycopg."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from statistics import median
from threading import Event, Thread
from typing import Any

from benchmarks.compare import Size, alternate, percentile
from benchmarks.report import Bar, Finding
from benchmarks.stage import Process, Stage
from memci.broker.names import LANE_QUEUE
from memci.broker.wakeup import MAX_LANE_WAKEUPS

CONNECTIONS = 16
_TAKE_S = 0.01
_BARS = {1: 0.15, 20: 0.4}


def measure(stage: Stage, *, size: Size) -> Iterator[Finding]:
    """Measure requests with one and with twenty messages."""
    runs = size.pick(1, 3, 5)
    api, port = stage.start_api()
    for messages, bar in _BARS.items():
        requests = size.pick(40, 1_500, 3_000) // (1 if messages == 1 else 2)
        load = _Load(stage, api, port, requests, messages)
        load.accept()  # connections are made, statements are prepared
        load.insert()
        load.forget()
        compared = alternate(load.accept, load.insert, runs, f"accept, {messages} a request")
        p50, p95 = (percentile(load.latencies_ms, share) for share in (0.5, 0.95))
        yield compared.finding(
            f"accept: {messages} message{'s' * (messages > 1)} a request",
            "messages/s",
            "bare psycopg, the same rows",
            Bar(bar),
            f"{CONNECTIONS} connections; p50 {p50:.1f} ms, p95 {p95:.1f} ms; "
            f"{median(load.cpu_ms):.2f} ms of the API's processor time a request",
        )
    stage.stop([api])


@contextmanager
def _taken_tokens(stage: Stage) -> Iterator[Callable[[], int]]:
    """Remove the tokens as workers would, so that accepts have to publish them.

    Lends a function that returns their number once no more come.
    """
    taken = 0
    done = Event()

    def take() -> None:
        nonlocal taken
        with stage.redis() as client:
            came = True
            while came or not done.is_set():
                time.sleep(_TAKE_S)
                tokens = client.rpop(LANE_QUEUE, MAX_LANE_WAKEUPS) or ()
                came = bool(tokens)
                taken += len(tokens)

    thread = Thread(target=take)
    thread.start()

    def count() -> int:
        done.set()
        thread.join()
        return taken

    try:
        yield count
    finally:
        count()


class _Load:
    """The same load for both sides; each run begins with empty tables and an empty broker."""

    def __init__(self, stage: Stage, api: Process, port: int, requests: int, messages: int) -> None:
        self.latencies_ms: list[float] = []
        self.cpu_ms: list[float] = []
        self._stage = stage
        self._api = api
        self._port = port
        self._requests = requests
        self._messages = messages

    def accept(self) -> float:
        """Return messages a second over HTTP."""
        before_s = self._api.cpu_s
        with _taken_tokens(self._stage) as taken:
            answer = self._run("benchmarks.load_client", port=self._port)
            published = taken()
        # If the removal was delayed for a moment, enough tokens were published already.
        assert published > self._requests * 0.9, f"{published} tokens"
        self.cpu_ms.append((self._api.cpu_s - before_s) * 1000 / self._requests)
        self.latencies_ms += answer["latencies_ms"]
        return self._rate(answer)

    def forget(self) -> None:
        """Drop the measurements of the warm-up."""
        self.latencies_ms.clear()
        self.cpu_ms.clear()

    def insert(self) -> float:
        """Return messages a second by bare inserts."""
        conninfo = self._stage.owner_conninfo
        return self._rate(self._run("benchmarks.bare_inserts", conninfo=conninfo))

    def _run(self, program: str, **settings: object) -> dict[str, Any]:
        self._stage.clear()
        with self._stage.owner() as connection, self._stage.redis() as client:
            connection.execute("CHECKPOINT")
            client.delete(LANE_QUEUE)
        answer: dict[str, Any] = self._stage.call(
            program,
            **settings,
            connections=CONNECTIONS,
            requests=self._requests,
            messages=self._messages,
            prefix="agent",
        )
        return answer

    def _rate(self, answer: dict[str, Any]) -> float:
        with self._stage.owner() as connection:
            row = connection.execute("SELECT count(*) FROM message").fetchone()
        assert row == (self._requests * self._messages,), row
        return self._requests * self._messages / float(answer["seconds"])
