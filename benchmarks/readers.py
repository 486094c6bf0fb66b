"""Contexts over HTTP for one reader and for sixteen, from one pair of processes and from two.

A pair is an API process and a context worker. Readers are another process, on the same cores.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from typing import Any

import uvloop

from benchmarks.compare import Size, percentile, say
from benchmarks.concurrency import FULL, QUICK, SMALL, filled
from benchmarks.load_client import answer, post
from benchmarks.report import Bar, Finding
from benchmarks.stage import Process, Stage
from memci.broker.names import READ_QUEUE
from memci.config.settings import load_settings
from memci.runtime import Runtime

READERS = 16
_BUDGET = 2_000
_POOL = ("-P", "threads", "-c", "8")
# Two pairs on two cores, which the readers share.
_FASTER, _DEARER = 1.3, 1.1


@dataclass(frozen=True, slots=True)
class Load:
    """The questions of (agent, text) to ask in turn until the time is over."""

    ports: Sequence[int]
    readers: int
    seconds: float
    questions: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Answers:
    """Milliseconds of each answer, answers a second, and the processor time of one in ms."""

    took_ms: Sequence[float]
    rate: float
    cpu_ms: float

    def note(self) -> str:
        """Return the times of answers in words."""
        p50, p95 = percentile(self.took_ms, 0.5), percentile(self.took_ms, 0.95)
        return f"p50 {p50:.0f} ms, p95 {p95:.0f} ms; processor time {self.cpu_ms:.0f} ms an answer"


def measure(stage: Stage, *, size: Size) -> Iterator[Finding]:
    """Fill agents; ask one pair of processes, then two."""
    sizes, seconds = size.pick((SMALL, 1.0), (QUICK, 6.0), (FULL, 15.0))
    settings = load_settings(database_url=stage.database_url, broker_url=stage.broker_url)
    with closing(Runtime(settings)) as runtime:
        questions = [(agent_id, text) for agent_id, text, *_ in filled(stage, runtime, sizes)]
    one = _measured(stage, 1, seconds, questions)
    two = _measured(stage, 2, seconds, questions)
    say(f"{READERS} readers: {one[READERS].rate:.1f}/s, from two pairs {two[READERS].rate:.1f}/s")
    yield Finding("contexts over HTTP, 1 reader", one[1].rate, "/s", note=one[1].note())
    yield Finding(
        f"contexts over HTTP, {READERS} readers, two pairs of processes",
        two[READERS].rate,
        "/s",
        baseline=one[READERS].rate,
        against="one API process and one context worker",
        ratio=two[READERS].rate / one[READERS].rate,
        bar=Bar(_FASTER),
        note=f"{two[READERS].note()}; from one pair {one[READERS].note()}",
    )
    yield Finding(
        "processor time of a context from two pairs",
        two[READERS].cpu_ms,
        "ms",
        baseline=one[READERS].cpu_ms,
        against="one pair",
        ratio=two[READERS].cpu_ms / one[READERS].cpu_ms,
        bar=Bar(_DEARER, at_most=True),
    )


def _measured(
    stage: Stage, pairs: int, seconds: float, questions: Sequence[tuple[str, str]]
) -> dict[int, Answers]:
    """Return what one reader and many get from pairs of processes."""
    apis = [stage.start_api() for _ in range(pairs)]
    workers = [
        stage.start_worker("workers", READ_QUEUE, *_POOL, name=f"context-{number}")
        for number in range(pairs)
    ]
    processes = [*(process for process, _ in apis), *workers]
    ports = [port for _, port in apis]
    _asked(stage, processes, Load(ports, READERS, min(2.0, seconds), questions[::-1]))  # warm
    found = {
        readers: _asked(stage, processes, Load(ports, readers, seconds, questions))
        for readers in (1, READERS)
    }
    stage.stop(processes)
    return found


def _asked(stage: Stage, processes: Sequence[Process], load: Load) -> Answers:
    before = sum(each.cpu_s for each in processes)
    found = stage.call("benchmarks.readers", **asdict(load))
    spent_s = sum(each.cpu_s for each in processes) - before
    took_ms = found["took_ms"]
    return Answers(took_ms, len(took_ms) / found["seconds"], spent_s * 1000 / len(took_ms))


async def run(load: Load) -> dict[str, Any]:
    """Ask from as many connections as there are readers; return seconds and milliseconds."""
    took_ms: list[float] = []
    began = time.perf_counter()

    async def reader(number: int) -> None:
        at = number
        port = load.ports[number % len(load.ports)]
        answers, requests = await asyncio.open_connection("127.0.0.1", port)
        while time.perf_counter() - began < load.seconds:
            agent_id, text = load.questions[at % len(load.questions)]
            body = json.dumps({"query": text, "budget_tokens": _BUDGET}).encode()
            sent = time.perf_counter()
            requests.write(post(f"/v1/agents/{agent_id}/context", body))
            await answer(answers, 200)
            took_ms.append((time.perf_counter() - sent) * 1000)
            at += load.readers
        requests.close()

    await asyncio.gather(*(reader(number) for number in range(load.readers)))
    return {"seconds": time.perf_counter() - began, "took_ms": took_ms}


if __name__ == "__main__":
    print(json.dumps(uvloop.run(run(Load(**json.loads(sys.argv[1]))))))
