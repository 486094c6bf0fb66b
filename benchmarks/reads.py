"""Reads of an agent with ten thousand messages and memories, and the Celery hop apart."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import psycopg

from benchmarks.compare import Size, percentile, say
from benchmarks.library import AGENT, Library, fill
from benchmarks.plain_app import RESULT_TASK
from benchmarks.report import Finding
from benchmarks.stage import Stage
from memci.broker.app import make_app
from memci.broker.names import READ_QUEUE, queue
from memci.broker.read_calls import RedisReads
from memci.config.settings import load_settings
from memci.runtime import Runtime
from memci.schemas.reads import ContextRequest, RecallRequest, SearchRequest
from memci.smallmodel.vector_space import Vectors
from memci.storage.search.vectors import to_text

CALLERS = (1, 16)
_CONTEXT_POOL = ("-P", "threads", "-c", "8")
_PLAIN_QUEUE = "bench.plain"
_BARE = """
SELECT seq FROM message_vector WHERE agent_id = %s
ORDER BY embedding <#> %s::halfvec LIMIT 200
"""
_Question: TypeAlias = tuple[str, Vectors]
_Ask: TypeAlias = Callable[[_Question], object]


def measure(stage: Stage, *, size: Size) -> Iterator[Finding]:
    """Measure each read in this process with a given vector of the question, then the hop."""
    count = size.pick(4, 60, 200)
    with stage.owner() as connection:
        library = fill(connection, size.pick(200, 10_000, 10_000))
    settings = load_settings(database_url=stage.database_url, broker_url=stage.broker_url)
    with closing(Runtime(settings)) as runtime:
        for name, ask in _reads(runtime, library).items():
            yield from _compare(name, ask, stage, library, count)
    yield from _hop(stage, count)


def _reads(runtime: Runtime, library: Library) -> dict[str, _Ask]:
    readings = runtime.readings

    def recall(question: _Question) -> object:
        text, vector = question
        words = tuple(text.split()[:3])
        vectors = np.repeat(vector[None], len(words), axis=0)
        return readings.recall.run(AGENT, RecallRequest(keywords=words), vectors=vectors)

    def search(question: _Question) -> object:
        text, vector = question
        return readings.search.run(AGENT, SearchRequest(query=text), vector=vector)

    def context(question: _Question) -> object:
        text, vector = question
        request = ContextRequest(
            query=text, budget_tokens=2_000, session_id=f"s{library.size // 50}"
        )
        return readings.assemble.run(AGENT, request, vector=vector)

    return {"recall": recall, "search": search, "context": context}


def _compare(name: str, ask: _Ask, stage: Stage, library: Library, count: int) -> Iterator[Finding]:
    for callers in CALLERS:
        questions = list(library.questions(count * min(callers, 4)))
        _time_all(ask, questions[:20], callers)
        bare_ms = _bare(stage, questions[:count])
        took_ms, seconds = _time_all(ask, questions, callers)
        p50, p95 = percentile(took_ms, 0.5), percentile(took_ms, 0.95)
        against = percentile(bare_ms, 0.5)
        say(f"{name}, {callers} callers: p50 {p50:.1f} ms, p95 {p95:.1f} ms")
        yield Finding(
            f"{name}, {callers} caller{'s' * (callers > 1)}: p50",
            p50,
            "ms",
            baseline=against,
            against="one bare exact vector search, 1 caller",
            ratio=p50 / against,
            note=f"p95 {p95:.1f} ms; {len(questions) / seconds:.0f}/s; "
            f"{library.size:,} messages, {library.size:,} memories",
        )


def _bare(stage: Stage, questions: Sequence[_Question]) -> list[float]:
    with psycopg.connect(stage.owner_conninfo) as connection:
        texts = [to_text(vector[None])[0] for _, vector in questions]

        def ask(text: str) -> object:
            return connection.execute(_BARE, (AGENT, text)).fetchall()

        return [_time(partial(ask, text)) for text in texts]


def _hop(stage: Stage, count: int) -> Iterator[Finding]:
    """Compare a read that does nothing with a bare Celery result."""
    context = stage.start_worker(
        "benchmarks.worker_app", READ_QUEUE, *_CONTEXT_POOL, name="context"
    )
    plain = stage.start_worker("benchmarks.plain_app", _PLAIN_QUEUE, *_CONTEXT_POOL, name="plain")
    with make_app(stage.broker_url) as app:
        reads = RedisReads(app, stage.broker_url, 10_000)

        def ours(_: Any) -> object:
            return reads.call("search", AGENT, {"query": "anything"})

        backends = set()  # Celery opens one for each thread, and closes none

        def bare(_: Any) -> object:
            backends.add(app.backend)
            result = app.send_task(
                RESULT_TASK, (AGENT,), queue=queue(_PLAIN_QUEUE), ignore_result=False
            )
            return result.get(timeout=10)

        for callers in CALLERS:
            for ask in (ours, bare):
                _time_all(ask, range(30), callers)
            ours_ms, _ = _time_all(ours, range(count * min(callers, 4)), callers)
            bare_ms, _ = _time_all(bare, range(count * min(callers, 4)), callers)
            p50, against = percentile(ours_ms, 0.5), percentile(bare_ms, 0.5)
            yield Finding(
                f"the Celery hop of a read, {callers} caller{'s' * (callers > 1)}: p50",
                p50,
                "ms",
                baseline=against,
                against="send_task(…).get()",
                ratio=p50 / against,
                note=f"p95 {percentile(ours_ms, 0.95):.1f} ms",
            )
        for each in backends:
            each.result_consumer.stop()
            each.client.connection_pool.disconnect()
    stage.stop([context, plain])


def _time_all(
    ask: Callable[[Any], object], questions: Sequence[Any], callers: int
) -> tuple[list[float], float]:
    """Return the milliseconds of each call, and the seconds of all."""
    began = time.perf_counter()
    with ThreadPoolExecutor(callers) as pool:
        took = list(pool.map(lambda each: _time(partial(ask, each)), questions))
    return took, time.perf_counter() - began


def _time(call: Callable[[], object]) -> float:
    began = time.perf_counter()
    call()
    return (time.perf_counter() - began) * 1000
