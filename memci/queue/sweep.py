"""Sweep: publishes missing wakeups, and removes ended jobs (queue.md).

Marks lanes that have work, are free and lost their token, and puts out as many tokens as are
missing. Tokens mean "there is work", so it is their number that counts: what already waits in
the broker will do, however many lanes are due.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy import Connection

from memci.broker.agent_queues import AgentQueues
from memci.broker.health import broker_errors
from memci.broker.names import COMPRESS_QUEUE, LANE_QUEUE
from memci.broker.wakeup import Wakeups
from memci.queue.handler import STEPS_ASIDE
from memci.storage.session import Database

_FREE = """NOT paused AND halted_by IS NULL
      AND (lease_until IS NULL OR lease_until < now())"""
# From one head to the next by the index: what stands behind a head is not looked at. A lane that
# somebody holds is left for the next sweep: who waits for nobody is in no deadlock.
_MARK_LANES = f"""
WITH RECURSIVE head AS (
    (SELECT agent_id, not_before FROM job WHERE state = 'queued' AND NOT {STEPS_ASIDE}
     ORDER BY agent_id, ordinal LIMIT 1)
    UNION ALL
    SELECT following.* FROM head CROSS JOIN LATERAL (
        SELECT agent_id, not_before FROM job
        WHERE state = 'queued' AND agent_id > head.agent_id AND NOT {STEPS_ASIDE}
        ORDER BY agent_id, ordinal LIMIT 1) AS following),
asleep AS (
    SELECT lane.agent_id FROM lane JOIN head USING (agent_id)
    WHERE wake_at IS NULL AND (head.not_before IS NULL OR head.not_before <= now()) AND {_FREE}
    FOR UPDATE OF lane SKIP LOCKED)
UPDATE lane SET wake_at = clock_timestamp(), not_before = NULL
FROM asleep WHERE lane.agent_id = asleep.agent_id
"""  # noqa: S608 - constants of this package
_MARK_COMPRESS = f"""
WITH asleep AS (
    SELECT agent_id FROM lane
    WHERE compress_at IS NULL AND compress_req > compress_done AND {_FREE}
      AND coalesce((compress_cursor->>'retry_at')::timestamptz <= now(), true)
    FOR UPDATE SKIP LOCKED)
UPDATE lane SET compress_at = clock_timestamp()
FROM asleep WHERE lane.agent_id = asleep.agent_id
"""  # noqa: S608 - a constant of this module
_DUE = f"""
SELECT agent_id FROM lane WHERE {{column}} IS NOT NULL AND {_FREE}
  AND (not_before IS NULL OR not_before <= now())
ORDER BY {{column}} LIMIT {{most}}
"""  # noqa: S608 - a constant of this module
# More are not put out at once; the next sweep comes soon.
_MOST = 500


@dataclass(frozen=True, slots=True)
class Swept:
    """How many tokens were put out."""

    lane: int
    compress: int


def sweep(database: Database, queues: AgentQueues, tokens: Wakeups) -> Swept:
    """Put out missing tokens. Idempotent: any number of sweepers may run at once."""
    with database.upkeep_transaction() as connection:
        connection.exec_driver_sql(_MARK_LANES)
        connection.exec_driver_sql(_MARK_COMPRESS)
        lanes, compress = (
            [row[0] for row in connection.exec_driver_sql(_DUE.format(column=column, most=_MOST))]
            for column in ("wake_at", "compress_at")
        )
    with broker_errors():
        return Swept(
            lane=_top_up(lanes, queues.depth(LANE_QUEUE), tokens.wake_lane),
            compress=_top_up(compress, queues.depth(COMPRESS_QUEUE), tokens.wake_compress),
        )


def _top_up(due: list[str], waiting: int, publish: Callable[[str], bool]) -> int:
    missing = due[: max(0, len(due) - waiting)]
    return sum(1 for agent_id in missing if publish(agent_id))


_BLOCKS = "SELECT pg_relation_size('job') / current_setting('block_size')::int"
# By the place in the table: an index on the end of jobs would cost every job, and a walk along the
# primary key seven times as much as this one.
_DELETE = """
DELETE FROM job
WHERE ctid >= %s::tid AND ctid < %s::tid AND state IN ('done', 'cancelled')
  AND finished_at < now() - %s * interval '1 second'
"""


def job_blocks(connection: Connection) -> int:
    """Return how many blocks the table of jobs has."""
    return int(connection.exec_driver_sql(_BLOCKS).scalar_one())


def delete_ended_jobs(connection: Connection, blocks: range, *, keep_s: float) -> int:
    """Delete jobs in these blocks that are done or cancelled for longer; return how many."""
    places = (f"({blocks.start},0)", f"({blocks.stop},0)")
    return connection.exec_driver_sql(_DELETE, (*places, keep_s)).rowcount
