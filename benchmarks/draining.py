"""Measures how long workers take to empty full mailboxes after their tokens appear."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import redis

from benchmarks.celery_messages import CeleryMessages
from benchmarks.stage import Stage
from memci.broker.names import LANE_QUEUE, LANE_RUN_TASK
from memci.testing import wait_until

_TIMEOUT_S = 240.0
# The same by an index: the check costs the busy server almost nothing.
_LOOK = "SET enable_seqscan = off; SET enable_bitmapscan = off"
_WORKING = "SELECT EXISTS (SELECT FROM job WHERE state = 'queued')"
_FAILED = "SELECT count(*) FROM job WHERE state <> 'done'"
_LAST = "SELECT max(finished_at) FROM job"


def drain(stage: Stage, tokens: CeleryMessages, agents: Sequence[str]) -> float:
    """Publish one token for each agent; return the seconds until the last job is done.

    The database's clock gives the end of each job. All tokens must be used up, too: those that
    find no work are part of the cost.
    """
    tokens.prepare(agents)
    with stage.owner() as connection:
        connection.execute(_LOOK.encode())
        began = _only(connection.execute("SELECT clock_timestamp()").fetchone())
        tokens.release(LANE_QUEUE)
        wait_until(
            lambda: not _only(connection.execute(_WORKING).fetchone()),
            "all jobs are done",
            timeout_s=_TIMEOUT_S,
        )
        done_at = _only(connection.execute(_LAST).fetchone())
        with stage.redis() as client:
            tokens_left = bool(client.llen(LANE_QUEUE))
            wait_until(
                lambda: not client.llen(LANE_QUEUE) and not _in_hand(client),
                "all tokens are used up",
                timeout_s=_TIMEOUT_S,
            )
        if tokens_left:
            done_at = _only(connection.execute("SELECT clock_timestamp()").fetchone())
        assert not _only(connection.execute(_FAILED).fetchone()), "a job is dead"
    assert isinstance(began, datetime)
    assert isinstance(done_at, datetime)
    return (done_at - began).total_seconds()


def lane_tokens(stage: Stage) -> CeleryMessages:
    """Return tokens as an accept publishes them."""
    return CeleryMessages(stage.broker_url, LANE_RUN_TASK)


def _in_hand(client: redis.Redis) -> bool:
    """Tell whether a worker has a token of a lane; one of compression lasts a whole slice."""
    kept: Any = client.hvals("unacked")
    return any(LANE_RUN_TASK.encode() in each for each in kept)


def _only(row: tuple[object, ...] | None) -> object:
    assert row is not None
    return row[0]
