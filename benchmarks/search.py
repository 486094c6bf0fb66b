"""Search and context against the bare exact vector search, by size and by number of agents.

Calls are those of a context worker, in this process, without the Celery hop, and with a given
vector and tokens of the question. The bare search uses the same pool, role and row-level security;
only its statement is timed. All ask the same questions in turn, so that other load on the machine
slows all of them.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from statistics import fmean, median
from typing import Any, Protocol, TypeAlias

import psycopg

from benchmarks.compare import Size, percentile, say
from benchmarks.corpus import Corpus, session_of
from benchmarks.filling import fill, multiply
from benchmarks.report import Bar, Finding
from benchmarks.stage import Stage
from memci.config.settings import load_settings
from memci.domain.search.late_interaction import QuestionTokens
from memci.runtime import Runtime, tune_garbage_collection
from memci.schemas.reads import ContextRequest, SearchRequest
from memci.smallmodel.offline.e5_embedder import MODEL
from memci.smallmodel.vector_space import Vectors
from memci.storage.search.vectors import to_text
from memci.testing import database_copy

BARE = """
SELECT seq FROM message_vector WHERE agent_id = %s AND model = %s
 ORDER BY embedding <#> %s::halfvec LIMIT 200
"""
_BUDGET = 2_000
_AS_DEEP = 12  # hits for which a search reads about as much as a context of that budget
_SPREAD = 1.2  # the number of agents may change the time of one by this factor
_EXPLAINED = 4  # one of so many reads is repeated to measure its parts
_ADDED_MS = 10.0  # assembling may add this to the time of search

# Agent, question, its vector and tokens.
_Asked: TypeAlias = tuple[str, str, Vectors, QuestionTokens]


class _Read(Protocol):
    """A read. Returns milliseconds: of its parts if explained, and under "" its own total."""

    def __call__(self, asked: _Asked, *, explain: bool) -> Mapping[str, float]: ...


@dataclass(frozen=True, slots=True)
class Sizes:
    """The amounts of rows and of questions."""

    messages: tuple[int, ...] = (1_000, 10_000, 100_000)
    agents: int = 10_000
    different: int = 100  # different agents; the others are copies of these
    each: int = 100
    questions: int = 200


FULL = Sizes()
QUICK = Sizes(messages=(1_000, 10_000), agents=1_000, questions=60)
SMALL = Sizes(messages=(60,), agents=6, different=3, each=20, questions=4)


@dataclass
class Took:
    """Milliseconds of each call by name, and of its parts as ``explain`` reports them."""

    calls: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    parts: dict[str, dict[str, list[float]]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(list))
    )

    def p50(self, name: str) -> float:
        return percentile(self.calls[name], 0.5)

    def p95(self, name: str) -> float:
        return percentile(self.calls[name], 0.95)

    def parts_of(self, name: str) -> str:
        """Return the mean time of each part as text."""
        means = {part: fmean(values) for part, values in self.parts[name].items()}
        return ", ".join(f"{part} {mean:.1f}" for part, mean in means.items() if mean >= 0.05)


def measure(stage: Stage, *, size: Size) -> Iterator[Finding]:
    """Measure growing agents one by one; then one small agent alone, and among all others."""
    sizes = size.pick(SMALL, QUICK, FULL)
    settings = load_settings(database_url=stage.database_url, broker_url=stage.broker_url)
    with closing(Runtime(settings)) as runtime, stage.owner() as owner:
        for count in sizes.messages:
            corpus = _filled(runtime, owner, f"one-{count}", count)
            asked = _questions(f"one-{count}", corpus, sizes.questions)
            yield from _by_size(f"{count:,} messages", _alternate([_reads(runtime)], asked)[0])
        yield from _by_agents(stage, runtime, owner, sizes)


def _filled(runtime: Runtime, owner: psycopg.Connection, agent_id: str, count: int) -> Corpus:
    say(f"filling {count:,} messages")
    corpus = Corpus.written(count, seed=count)
    fill(runtime.database, owner, agent_id, corpus)
    owner.execute("VACUUM ANALYZE")
    return corpus


def _questions(agent_id: str, corpus: Corpus, count: int) -> list[_Asked]:
    return [(agent_id, *each) for each in corpus.questions(count, seed=5)]


def _by_size(size: str, took: Took) -> Iterator[Finding]:
    for name in ("search", "context"):
        yield Finding(
            f"{name}, {size}: p50",
            took.p50(name),
            "ms",
            baseline=took.p50("bare"),
            against="bare exact vector search",
            ratio=took.p50(name) / took.p50("bare"),
            note=f"p95 {took.p95(name):.1f} ms, bare {took.p95('bare'):.1f} ms; "
            f"parts, ms: {took.parts_of(name)}",
        )
    for name, against in (("deep", f"a search for {_AS_DEEP} hits"), ("search", "search")):
        pairs = zip(took.calls["context"], took.calls[name], strict=True)
        yield Finding(
            f"context minus {against}, {size}",
            median(context - search for context, search in pairs),
            "ms",
            bar=Bar(_ADDED_MS, at_most=True) if name == "deep" else None,
            note=f"budget {_BUDGET:,} tokens, receipt included",
        )


def _by_agents(
    stage: Stage, runtime: Runtime, owner: psycopg.Connection, sizes: Sizes
) -> Iterator[Finding]:
    """Compare an agent alone in its database with agents among many, in alternation."""
    corpora = [Corpus.written(sizes.each, seed=900 + n) for n in range(sizes.different)]
    say(f"filling {sizes.agents:,} agents of {sizes.each} messages")
    for number, corpus in enumerate(corpora):
        fill(runtime.database, owner, f"many-{number}", corpus)
    firsts = [f"many-{number}" for number in range(sizes.different)]
    everyone = multiply(owner, firsts, sizes.agents // sizes.different)
    owner.execute("VACUUM ANALYZE")
    among: list[_Asked] = []
    # Any agent is asked, so mostly one whose rows were not read recently.
    step = max(1, len(everyone) // sizes.questions)
    for number in range(sizes.questions):
        place = number * step % len(everyone)
        question = next(corpora[place % sizes.different].questions(1, seed=number))
        among.append((everyone[place], *question))
    with database_copy(stage.servers.postgres) as url:
        settings = load_settings(database_url=url, broker_url=stage.broker_url)
        with (
            closing(Runtime(settings)) as lone,
            stage.servers.postgres.connect_as_superuser(
                url.partition("?")[0].rpartition("/")[2]
            ) as its_owner,
        ):
            fill(lone.database, its_owner, "many-0", corpora[0])
            its_owner.execute("VACUUM ANALYZE")
            alone = _questions("many-0", corpora[0], sizes.questions)
            one, many = _alternate([_reads(lone), _reads(runtime)], alone, among)
    for name in ("bare", "search", "context"):
        yield Finding(
            f"{name}, {sizes.each} messages, one of {len(everyone):,} agents: p50",
            many.p50(name),
            "ms",
            baseline=one.p50(name),
            against="the only agent there is",
            ratio=many.p50(name) / one.p50(name),
            bar=None if name == "bare" else Bar(_SPREAD, at_most=True),
            note=f"p95 {many.p95(name):.1f} ms against {one.p95(name):.1f} ms"
            + (f"; parts, ms: {many.parts_of(name)}" if many.parts_of(name) else ""),
        )


def _reads(runtime: Runtime) -> Mapping[str, _Read]:
    readings = runtime.readings

    def bare(asked: _Asked, *, explain: bool) -> Mapping[str, float]:
        del explain
        agent_id, _, vector, _ = asked
        text = to_text(vector[None])[0]
        with runtime.database.agent_snapshot(agent_id) as connection:
            began = time.perf_counter()
            connection.exec_driver_sql(BARE, (agent_id, MODEL, text)).all()
            return {"": (time.perf_counter() - began) * 1000}

    def search(asked: _Asked, *, explain: bool, k: int | None = None) -> Mapping[str, float]:
        agent_id, question, vector, tokens = asked
        request = SearchRequest(query=question, k=k, explain=explain)
        return _parts(readings.search.run(agent_id, request, vector=vector, tokens=tokens))

    def deep(asked: _Asked, *, explain: bool) -> Mapping[str, float]:
        return search(asked, explain=explain, k=_AS_DEEP)

    def context(asked: _Asked, *, explain: bool) -> Mapping[str, float]:
        agent_id, question, vector, tokens = asked
        request = ContextRequest(
            query=question, budget_tokens=_BUDGET, session_id=session_of(1), explain=explain
        )
        return _parts(readings.assemble.run(agent_id, request, vector=vector, tokens=tokens))

    return {"bare": bare, "search": search, "deep": deep, "context": context}


def _parts(answer: Any) -> Mapping[str, float]:
    return answer.explain["timings_ms"] if answer.explain else {}


def _alternate(sides: Sequence[Mapping[str, _Read]], *asked: Sequence[_Asked]) -> list[Took]:
    """Ask each side its questions in turn, each time starting with another call."""
    # As in a worker.
    tune_garbage_collection()
    took = [Took() for _ in sides]
    for place in range(len(asked[0])):
        for side, reads in enumerate(sides):
            names = list(reads)
            for name in names[place % len(names) :] + names[: place % len(names)]:
                # The first questions warm up, and are then asked again like the others.
                if place == 0:
                    reads[name](asked[side][place], explain=False)
                _time(took[side], name, reads[name], asked[side][place])
    return took


def _time(took: Took, name: str, read: _Read, asked: _Asked) -> None:
    """Time a read with the defaults, and sometimes its parts with extra reads."""
    began = time.perf_counter()
    times = read(asked, explain=False)
    whole = (time.perf_counter() - began) * 1000
    # A read that times itself leaves out the code around it.
    took.calls[name].append(times.get("", whole))
    if not times and len(took.calls[name]) % _EXPLAINED == 0:
        for part, took_ms in read(asked, explain=True).items():
            took.parts[name][part].append(took_ms)
