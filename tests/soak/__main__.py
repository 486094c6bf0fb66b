"""``python -m tests.soak``: load and faults, a drain, checks and the report."""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path

import httpx
import psycopg
import redis

from benchmarks.compare import say
from memci.broker.redis_queues import RedisAgentQueues
from memci.errors import ConfigurationError
from memci.queue.lane_control import WORKER_LOST
from tests.soak.checks import OPEN_LANES, check_stored
from tests.soak.faults import Faults
from tests.soak.ledger import Ledger, Success
from tests.soak.load import QUIET, Load, Rates
from tests.soak.report import Outcome
from tests.soak.stack import Stack, running

# Its jobs were created and finished at these moments; a restarted job began more than once.
_JOBS = """
SELECT extract(epoch FROM coalesce(started_at, created_at))::float8,
       extract(epoch FROM finished_at)::float8 FROM job WHERE state = 'done'
"""
_LAGS = """
SELECT extract(epoch FROM finished_at - created_at)::float8 FROM job
 WHERE agent_id = %(agent)s AND kind = 'memci.memory.create' AND state = 'done'
"""
_LOST = "SELECT agent_id, id FROM job WHERE state = 'dead' AND last_error LIKE %(why)s"
_LOOK_EVERY_S = 2.0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run once; return 1 if a law is broken."""
    given = _parser().parse_args(arguments)
    with running(given.folder, given.broker_url, given.lease_ms) as stack:
        say(f"seed {given.seed}, {given.minutes:g} minutes; data: {stack.folder}")
        outcome = _run(stack, given)
        stack.stop()
    broken = outcome.broken
    report = outcome.markdown()
    sys.stdout.write(report)
    given.report.write_text(report, encoding="utf-8")
    for each in broken:
        say(f"BROKEN: {each}")
    if broken:
        say(f"{len(broken)} breaches; data and logs: {stack.folder}")
    else:
        stack.remove()
    return int(bool(broken))


def _run(stack: Stack, given: argparse.Namespace) -> Outcome:
    faults, ledger = Faults(stack, random.Random(given.seed)), Ledger()
    rates = Rates(given.bulk_rate, given.chat_rate)
    load = Load(stack, ledger, rates, given.seed, faults.data_faults)
    load.start()
    faults.run(given.minutes * 60, given.period)
    say(f"{len(faults.made)} faults; waiting until all is acknowledged and the lanes are empty")
    load.finish(faults.look, given.drain_minutes * 60)
    began = time.monotonic()
    stuck = _drain(stack, faults, ledger, given.drain_minutes * 60)
    ledger.add("starts of memci up that ended", len(faults.ended))
    lags = [lag for (lag,) in stack.rows(_LAGS, {"agent": QUIET})]
    if lags and max(lags) > given.quiet_lag:
        ledger.breaks(f"the quiet agent waited {max(lags):.0f} s, more than {given.quiet_lag:g} s")
    return Outcome(
        given.seed,
        given.minutes,
        time.monotonic() - began,
        faults.made,
        ledger,
        check_stored(stack, ledger),
        [Success(*row) for row in stack.rows(_JOBS)],
        lags,
        stuck,
        # A server that dies while `memci up` starts ends that start, with a reason.
        [
            *(each for each in faults.ended if each.startswith("memci up, ready")),
            *(each for code in (1, 2, 3) for each in stack.log_lines(f"exited with code {code}")),
        ],
    )


def _drain(stack: Stack, faults: Faults, ledger: Ledger, limit_s: float) -> list[str]:
    """Wait until no lane has work or a lease; return those that still have."""
    ends = time.monotonic() + limit_s
    while (left := _open_lanes(stack)) and time.monotonic() < ends:
        faults.look()
        stack.hurry()
        _replay_lost(stack, ledger)
        time.sleep(_LOOK_EVERY_S)
    return left


def _replay_lost(stack: Stack, ledger: Ledger) -> None:
    """Do as an operator: run jobs again whose process was killed in all of their five starts."""
    with suppress(psycopg.Error, ConfigurationError, httpx.TransportError):
        for agent, job in stack.rows(_LOST, {"why": f"{WORKER_LOST}%"}):
            answer = httpx.post(f"{stack.url}/v1/agents/{agent}/jobs/{job}/replay")
            ledger.add("jobs replayed whose process was killed five times", answer.is_success)


def _open_lanes(stack: Stack) -> list[str]:
    try:
        lanes = [
            f"{agent}: {jobs} jobs, {passes} passes, lease until {lease}"
            for agent, jobs, passes, lease in stack.rows(OPEN_LANES)
        ]
        if not stack.has_redis:
            return lanes
        with closing(redis.Redis.from_url(stack.broker_url)) as client:
            queues = RedisAgentQueues(client).waiting()
    except (psycopg.Error, redis.RedisError, ConfigurationError) as error:
        return [f"not known: {type(error).__name__}"]
    return [*lanes, *(f"{agent}: messages in its Celery queue" for agent in queues)]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tests.soak",
        description="Runs memci under load while it is broken by chance, and checks that nothing "
        "is lost, doubled or reordered. Exit status 1: something was.",
    )
    number = parser.add_argument
    number("--minutes", type=float, default=10, help="of load and faults (default: 10)")
    number("--seed", type=int, default=1, help="of all choices (default: 1)")
    number("--period", type=float, default=3.5, help="seconds between faults (default: 3.5)")
    number("--bulk-rate", type=float, default=150, help="messages/s stored and indexed only")
    number("--chat-rate", type=float, default=25, help="messages/s made into memories")
    number("--lease-ms", type=int, default=6_000, help="MEMCI_QUEUE_LEASE_MS (default: 6000)")
    number("--quiet-lag", type=float, default=120, help="most seconds of the quiet agent's lag")
    number("--drain-minutes", type=float, default=60, help="limit of the drain (default: 60)")
    number("--folder", type=Path, help="where the run's folder is made: on a file system of at "
           "most 16 GiB, it is also filled up")  # fmt: skip
    number("--broker-url", help="an empty broker of your own, which is not broken")
    number("--report", type=Path, default=Path("soak-report.md"), help="file of the report")
    return parser


if __name__ == "__main__":
    sys.exit(main())
