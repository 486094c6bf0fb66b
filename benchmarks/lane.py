"""The lane: jobs of one worker process against bare Celery tasks (queue.md)."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

from benchmarks.celery_messages import CeleryMessages
from benchmarks.compare import Size, alternate, say
from benchmarks.draining import drain, lane_tokens
from benchmarks.idle_jobs import NOTHING, WAITING
from benchmarks.plain_app import NOTHING_TASK
from benchmarks.report import Bar, Finding
from benchmarks.stage import LANE_POOL, Process, Stage
from memci.broker.names import LANE_QUEUE
from memci.broker.wakeup import MAX_LANE_WAKEUPS
from memci.testing import wait_until

PLAIN_QUEUE = "bench.plain"
IDLE_AGENTS = 100_000
_TIMEOUT_S = 180.0

_FILL = """
WITH agents AS (SELECT 'agent-' || n AS id FROM generate_series(1, %(agents)s) AS n),
     lanes AS (INSERT INTO lane (agent_id, wake_at, written_at)
               SELECT id, clock_timestamp(), now() FROM agents)
INSERT INTO job (agent_id, id, kind, payload, source)
SELECT id, gen_random_uuid(), %(kind)s, '{}', 'http'
FROM generate_series(1, %(each)s) AS n, agents ORDER BY n, id
"""
_FILL_IDLE = """
WITH lanes AS (INSERT INTO lane (agent_id, written_at)
               SELECT 'idle-' || n, now() FROM generate_series(1, %(n)s) AS n)
INSERT INTO job (agent_id, id, kind, payload, source, state, finished_at)
SELECT 'idle-' || n, gen_random_uuid(), %(kind)s, '{}', 'http', 'done', now()
FROM generate_series(1, %(n)s) AS n
"""
_COMMITS = """
SELECT (SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()),
       (SELECT sum(fsyncs) FROM pg_stat_io WHERE object = 'wal')
"""


@dataclass
class Lanes:
    """Fills mailboxes and publishes the tokens, as so many accepts would."""

    stage: Stage

    def __post_init__(self) -> None:
        self._tokens = lane_tokens(self.stage)

    def rate(self, agents: int, jobs: int, kind: str = NOTHING, *, idle: int = 0) -> float:
        """Return jobs per second, from the publishing of the tokens to the end of the last job."""
        self._fill(agents, jobs, kind, idle)
        names = [f"agent-{n}" for n in range(1, min(agents, MAX_LANE_WAKEUPS) + 1)]
        return jobs / drain(self.stage, self._tokens, names)

    def commits(self, agents: int, jobs: int) -> tuple[float, float]:
        """Return transactions and flushes of the log, each per job."""
        with self.stage.owner() as connection:
            before = connection.execute(_COMMITS).fetchone()
            self.rate(agents, jobs)
            # Backends report their counts after they were idle for a moment.
            time.sleep(1.5)
            after = connection.execute(_COMMITS).fetchone()
        assert before is not None
        assert after is not None
        return float(after[0] - before[0]) / jobs, float(after[1] - before[1]) / jobs

    def _fill(self, agents: int, jobs: int, kind: str, idle: int) -> None:
        self.stage.clear()
        with self.stage.owner() as connection:
            if idle:
                connection.execute(_FILL_IDLE, {"n": idle, "kind": kind})
            values = {"agents": agents, "each": jobs // agents, "kind": kind}
            connection.execute(_FILL, values)
            connection.execute("VACUUM ANALYZE lane, job")
            connection.execute("CHECKPOINT")


class PlainCelery:
    """Bare Celery tasks that do nothing."""

    def __init__(self, stage: Stage) -> None:
        """Work on the stage's broker."""
        self._stage = stage
        self._messages = CeleryMessages(stage.broker_url, NOTHING_TASK)

    def rate(self, agents: int, tasks: int) -> float:
        """Return tasks per second, from their publishing to the last acknowledgement."""
        self._messages.prepare([f"agent-{n % agents}" for n in range(tasks)])
        with self._stage.redis() as client:
            began = time.perf_counter()
            self._messages.release(PLAIN_QUEUE)
            wait_until(
                lambda: not client.llen(PLAIN_QUEUE) and not client.hlen("unacked"),
                "all tasks are done",
                timeout_s=_TIMEOUT_S,
            )
            return tasks / (time.perf_counter() - began)


@contextmanager
def _plain_worker(stage: Stage) -> Iterator[PlainCelery]:
    worker = stage.start_worker("benchmarks.plain_app", PLAIN_QUEUE, *LANE_POOL, name="plain")
    plain = PlainCelery(stage)
    plain.rate(10, 200)  # connections are made, code is loaded
    yield plain
    stage.stop([worker])


def _lane_workers(stage: Stage, count: int) -> Sequence[Process]:
    return [
        stage.start_worker("benchmarks.worker_app", LANE_QUEUE, *LANE_POOL, name=f"lane{n}")
        for n in range(count)
    ]


def measure(stage: Stage, *, size: Size) -> Iterator[Finding]:
    """Measure the lane."""
    runs, jobs = size.pick((1, 60), (3, 2_000), (5, 5_000))
    many = size.pick(60, 10_000, 10_000)
    idle = size.pick(20, IDLE_AGENTS, IDLE_AGENTS)
    lanes = Lanes(stage)
    workers = _lane_workers(stage, 1)
    lanes.rate(10, 500)
    with _plain_worker(stage) as plain:
        for agents, count in ((10, jobs), (many, many)):
            compared = alternate(
                partial(lanes.rate, agents, count),
                partial(plain.rate, agents, jobs),
                runs,
                f"lane, {agents:,} agents",
            )
            transactions, flushes = lanes.commits(agents, count)
            yield compared.finding(
                f"lane: no-op jobs, {agents:,} agents",
                "/s",
                "bare Celery no-op tasks",
                Bar(0.8),
                f"{transactions:.2f} commits a job, {flushes:.2f} flushes of the log",
            )
    # In a run of a second or two, noise of the machine hides a difference of 10 %.
    for agents, count in ((10, 3 * jobs), (many, many)):
        compared = alternate(
            partial(lanes.rate, agents, count, idle=idle),
            partial(lanes.rate, agents, count),
            runs,
            f"lane, {agents:,} agents beside {idle:,} idle ones",
        )
        yield compared.finding(
            f"lane: {agents:,} agents beside {idle:,} idle ones",
            "/s",
            "the same without them",
            Bar(0.9),
        )
    yield _keys_of_idle_agents(stage, lanes, idle)
    yield from _two_workers(stage, lanes, workers, runs, jobs)


def _keys_of_idle_agents(stage: Stage, lanes: Lanes, idle: int) -> Finding:
    """Count the keys of idle agents in the broker."""
    lanes.rate(10, 100, idle=idle)
    with stage.redis() as client:
        keys = [key for key in client.scan_iter(count=1000) if b"agent" in key]
    return Finding(
        f"lane: keys in the broker for {idle:,} idle agents",
        len(keys),
        "keys",
        bar=Bar(0, at_most=True),
    )


def _two_workers(
    stage: Stage, lanes: Lanes, one: Sequence[Process], runs: int, jobs: int
) -> Iterator[Finding]:
    """Compare two workers with one; the second is stopped for each run of one alone."""
    agents = min(500, jobs)

    def both() -> float:
        second = _lane_workers(stage, 1)
        lanes.rate(agents, agents, WAITING)
        rate = lanes.rate(agents, jobs, WAITING)
        stage.stop(second)
        return rate

    compared = alternate(both, lambda: lanes.rate(agents, jobs, WAITING), runs, "lane, two workers")
    yield compared.finding("lane: two workers, jobs that wait 20 ms", "/s", "one worker", Bar(1.7))
    say("the bound of one worker: 8 threads ÷ 20 ms = 400/s")
    stage.stop(one)
