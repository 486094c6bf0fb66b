"""Speed of reads while lanes are busy; no read waits for a write.

Readers are threads of this process, as in a context worker. They read agents whose lanes keep a
real worker busy. For the comparison with idle lanes, the worker is stopped in alternate runs,
maybe in the middle of a write.
"""

from __future__ import annotations

import signal
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import TypeAlias

from benchmarks.compare import Size, percentile, say
from benchmarks.corpus import Corpus, session_of
from benchmarks.draining import lane_tokens
from benchmarks.filling import fill
from benchmarks.report import Bar, Finding
from benchmarks.search import BARE
from benchmarks.sentences import conversation
from benchmarks.stage import LANE_POOL, Process, Stage
from memci.broker.names import LANE_QUEUE
from memci.config.settings import load_settings
from memci.domain.search.late_interaction import QuestionTokens
from memci.queue.intake import Append, append_in
from memci.runtime import Runtime
from memci.schemas.reads import ContextRequest, SearchRequest
from memci.smallmodel.offline.e5_embedder import MODEL
from memci.smallmodel.vector_space import Vectors
from memci.storage.search.vectors import to_text
from memci.testing import wait_until

READERS = (1, 4, 16)
_EACH_REQUEST = 20
_BUDGET = 2_000
# A read that waited for a lock would wait until the write ends: until the timeout of 20 s.
_AT_ONCE_MS = 5_000.0
_DONE = "SELECT count(*) FROM job WHERE state = 'done'"
_LEFT = "SELECT count(*) FROM job WHERE state <> 'done'"
# All locks of a lane's writes at once: every other writer would wait.
_WRITES = (
    "SELECT FROM lane WHERE agent_id = %s FOR UPDATE",
    "UPDATE message SET indexed = indexed WHERE agent_id = %s",
    "UPDATE message_vector SET model = model WHERE agent_id = %s",
    "UPDATE message_term SET tf = tf WHERE agent_id = %s",
)

_Asked: TypeAlias = tuple[str, str, Vectors, QuestionTokens]
_Read: TypeAlias = Callable[[_Asked], object]


@dataclass(frozen=True, slots=True)
class Sizes:
    """The amounts to read and to write; ``reads`` is per kind and round."""

    agents: int
    messages: int  # stored messages of each agent
    waiting: int  # queued messages of all agents
    reads: int
    rounds: int


FULL = Sizes(agents=8, messages=2_000, waiting=8_000, reads=48, rounds=3)
QUICK = Sizes(agents=4, messages=1_000, waiting=4_000, reads=20, rounds=2)
SMALL = Sizes(agents=2, messages=40, waiting=200, reads=4, rounds=1)


@dataclass
class Took:
    """Milliseconds of reads, and the time of all, by kind of read and number of readers."""

    each_ms: dict[tuple[str, int], list[float]] = field(default_factory=lambda: defaultdict(list))
    seconds: dict[tuple[str, int], float] = field(default_factory=lambda: defaultdict(float))

    def add(self, name: str, readers: int, took: tuple[list[float], float]) -> None:
        self.each_ms[name, readers] += took[0]
        self.seconds[name, readers] += took[1]

    def p95(self, name: str, readers: int) -> float:
        return percentile(self.each_ms[name, readers], 0.95)

    def rate(self, name: str, readers: int) -> float:
        return len(self.each_ms[name, readers]) / self.seconds[name, readers]


def measure(stage: Stage, *, size: Size) -> Iterator[Finding]:
    """Measure reads of agents with a full mailbox, and during an open write."""
    sizes = size.pick(SMALL, QUICK, FULL)
    settings = load_settings(database_url=stage.database_url, broker_url=stage.broker_url)
    with closing(Runtime(settings)) as runtime:
        questions = filled(stage, runtime, sizes)
        yield from during_a_write(runtime, questions)
        reads = _reads(runtime)
        with _busy_lanes(stage, runtime, sizes) as worker:
            idle, busy = _in_turn(worker, reads, questions, sizes)
            written = _count(stage, _DONE)
            assert _count(stage, _LEFT), "the lanes ran out of work: give them more"
        for name in reads:
            if name != "bare":
                yield from (_finding(name, readers, idle, busy, written) for readers in READERS)


def filled(stage: Stage, runtime: Runtime, sizes: Sizes) -> list[_Asked]:
    """Fill the agents; return questions for them in turn."""
    each = max(1, 4 * sizes.reads // sizes.agents)
    asked: list[list[_Asked]] = []
    with stage.owner() as owner:
        for number in range(sizes.agents):
            corpus = Corpus.written(sizes.messages, seed=300 + number)
            fill(runtime.database, owner, _name(number), corpus)
            asked.append([(_name(number), *one) for one in corpus.questions(each, seed=6)])
        owner.execute("VACUUM ANALYZE")
    return [one for turn in zip(*asked, strict=True) for one in turn]


def _name(number: int) -> str:
    return f"agent-{number}"


@contextmanager
def _busy_lanes(stage: Stage, runtime: Runtime, sizes: Sizes) -> Iterator[Process]:
    """Start a worker with more jobs than it can finish."""
    tokens = lane_tokens(stage)
    messages = conversation(seed=77)
    for number in range(sizes.waiting // _EACH_REQUEST):
        agent_id = _name(number % sizes.agents)
        request = Append(agent_id, list(islice(messages, _EACH_REQUEST)), session_id="later")
        with runtime.database.agent_transaction(agent_id) as connection:
            append_in(connection, request)
    tokens.prepare([_name(number) for number in range(sizes.agents)])
    worker = stage.start_worker("workers", LANE_QUEUE, *LANE_POOL, name="lane")
    tokens.release(LANE_QUEUE)
    wait_until(lambda: _count(stage, _DONE), "the lanes are at work", timeout_s=120.0)
    try:
        yield worker
    finally:
        worker.popen.send_signal(signal.SIGCONT)
        stage.stop([worker])


def _in_turn(
    worker: Process, reads: Mapping[str, _Read], questions: Sequence[_Asked], sizes: Sizes
) -> tuple[Took, Took]:
    """Return the times of reads with a stopped worker, and with a busy one."""
    idle, busy = Took(), Took()
    for number in range(sizes.rounds):
        for readers in READERS:
            for name, read in reads.items():
                asked = questions[: sizes.reads * min(readers, 4)]
                for signalled, took in ((signal.SIGSTOP, idle), (signal.SIGCONT, busy)):
                    worker.popen.send_signal(signalled)
                    took.add(name, readers, _time_all(read, asked, readers))
        say(f"readers, round {number + 1} of {sizes.rounds}")
    return idle, busy


def _finding(name: str, readers: int, idle: Took, busy: Took, jobs: int) -> Finding:
    p95, before = busy.p95(name, readers), idle.p95(name, readers)
    bare = busy.p95("bare", readers) / idle.p95("bare", readers)
    return Finding(
        f"{name}, {readers} reader{'s' * (readers > 1)}, lanes busy: p95",
        p95,
        "ms",
        baseline=before,
        against="the same with the lane worker halted",
        ratio=p95 / before,
        note=f"{busy.rate(name, readers):.0f} answers/s against {idle.rate(name, readers):.0f}; "
        f"the bare vector search, which waits for nothing, slows down {bare:.2f} times; "
        f"{jobs} jobs of {_EACH_REQUEST} messages were done meanwhile",
    )


def during_a_write(runtime: Runtime, questions: Sequence[_Asked]) -> Iterator[Finding]:
    """Read an agent during an open transaction of its lane that has written all its rows."""
    reads = _reads(runtime)
    agent_id = questions[0][0]
    mine = [each for each in questions if each[0] == agent_id][:40]
    for name, read in reads.items():
        if name == "bare":
            continue
        before, _ = _time_all(read, mine, 1)
        with runtime.database.agent_transaction(agent_id, durable=False) as connection:
            for statement in _WRITES:
                connection.exec_driver_sql(statement, (agent_id,))
            during, _ = _time_all(read, mine, 1)
        yield Finding(
            f"{name} beside an open write of the same agent: slowest",
            max(during),
            "ms",
            baseline=max(before),
            against="before the write",
            ratio=max(during) / max(before),
            bar=Bar(_AT_ONCE_MS, at_most=True, of="ours"),
            note=f"{len(mine)} reads; the write holds the lane, the messages and their index",
        )


def _reads(runtime: Runtime) -> dict[str, _Read]:
    readings = runtime.readings

    def bare(asked: _Asked) -> object:
        agent_id, _, vector, _ = asked
        with runtime.database.agent_snapshot(agent_id) as connection:
            values = (agent_id, MODEL, to_text(vector[None])[0])
            return connection.exec_driver_sql(BARE, values).all()

    def search(asked: _Asked) -> object:
        agent_id, question, vector, tokens = asked
        return readings.search.run(
            agent_id, SearchRequest(query=question), vector=vector, tokens=tokens
        )

    def context(asked: _Asked) -> object:
        agent_id, question, vector, tokens = asked
        request = ContextRequest(query=question, budget_tokens=_BUDGET, session_id=session_of(1))
        return readings.assemble.run(agent_id, request, vector=vector, tokens=tokens)

    return {"bare": bare, "search": search, "context": context}


def _time_all(read: _Read, asked: Sequence[_Asked], readers: int) -> tuple[list[float], float]:
    """Return the milliseconds of each read, and the seconds of all."""
    began = time.perf_counter()
    with ThreadPoolExecutor(readers) as pool:
        took = list(pool.map(lambda each: _time(partial(read, each)), asked))
    return took, time.perf_counter() - began


def _time(call: Callable[[], object]) -> float:
    began = time.perf_counter()
    call()
    return (time.perf_counter() - began) * 1000


def _count(stage: Stage, statement: str) -> int:
    with stage.owner() as owner:
        row = owner.execute(statement.encode()).fetchone()
    assert row is not None
    return int(row[0])
