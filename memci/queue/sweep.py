"""Periodic work on lanes and jobs: publishes lost wakeups, requests due work, prunes (queue.md).

Beat calls each of these; all are idempotent, so any number may run at once.
"""

from collections.abc import Callable
from dataclasses import dataclass

from memci.broker.app import broker_errors
from memci.broker.intake_queues import AgentQueues
from memci.broker.names import COMPRESS_QUEUE, LANE_QUEUE
from memci.broker.wakeup import Wakeups
from memci.domain.job import JobKind
from memci.queue.lease import IS_FREE
from memci.queue.mailbox import IS_OVERTAKEN
from memci.storage.agents import IS_THERE
from memci.storage.session import Database

# From one head to the next by the index, without the jobs behind it. A locked lane is left for the
# next sweep: a statement that waits for no lock is in no deadlock.
_MARK_LANES = f"""
WITH RECURSIVE head AS (
    (SELECT agent_id, not_before FROM job WHERE state = 'queued' AND NOT {IS_OVERTAKEN}
     ORDER BY agent_id, ordinal LIMIT 1)
    UNION ALL
    SELECT following.* FROM head CROSS JOIN LATERAL (
        SELECT agent_id, not_before FROM job
        WHERE state = 'queued' AND agent_id > head.agent_id AND NOT {IS_OVERTAKEN}
        ORDER BY agent_id, ordinal LIMIT 1) AS following),
asleep AS (
    SELECT lane.agent_id FROM lane JOIN head USING (agent_id)
    WHERE wake_at IS NULL AND (head.not_before IS NULL OR head.not_before <= now()) AND {IS_FREE}
    FOR UPDATE OF lane SKIP LOCKED)
UPDATE lane SET wake_at = clock_timestamp(), not_before = NULL
FROM asleep WHERE lane.agent_id = asleep.agent_id
"""  # noqa: S608 - constants of this package
_MARK_COMPRESS = f"""
WITH asleep AS (
    SELECT agent_id FROM lane
    WHERE compress_at IS NULL AND compress_req > compress_done AND {IS_FREE}
      AND coalesce((compress_cursor->>'retry_at')::timestamptz <= now(), true)
    FOR UPDATE SKIP LOCKED)
UPDATE lane SET compress_at = clock_timestamp()
FROM asleep WHERE lane.agent_id = asleep.agent_id
"""  # noqa: S608 - a constant of this module
_DUE = f"""
SELECT agent_id FROM lane WHERE {{column}} IS NOT NULL AND {IS_FREE}
  AND (not_before IS NULL OR not_before <= now())
ORDER BY {{column}} LIMIT {{most}}
"""  # noqa: S608 - a constant of this module
_MAX_WAKEUPS = 500  # of one sweep; the next one comes soon


@dataclass(frozen=True, slots=True)
class Swept:
    """Numbers of published wakeups."""

    lane: int
    compress: int


def sweep(database: Database, queues: AgentQueues, wakeups: Wakeups) -> Swept:
    """Mark free lanes that have work but no wakeup, and publish the wakeups that are missing.

    A wakeup names no work, so only their number counts, including those that wait in the broker.
    """
    with database.upkeep_transaction() as connection:
        connection.exec_driver_sql(_MARK_LANES)
        connection.exec_driver_sql(_MARK_COMPRESS)
        lanes, compress = (
            list(connection.exec_driver_sql(_DUE.format(column=each, most=_MAX_WAKEUPS)).scalars())
            for each in ("wake_at", "compress_at")
        )
    with broker_errors():
        return Swept(
            lane=_top_up(lanes, queues.depth(LANE_QUEUE), wakeups.wake_lane),
            compress=_top_up(compress, queues.depth(COMPRESS_QUEUE), wakeups.wake_compress),
        )


def _top_up(due: list[str], waiting: int, publish: Callable[[str], bool]) -> int:
    missing = due[: max(0, len(due) - waiting)]
    return sum(1 for agent_id in missing if publish(agent_id))


# In the order of ids, so that the batches together walk once through the lanes. A collection has no
# network (R9). An agent whose pass waits already gets no second one.
_REQUEST_ACTIVE = f"""
WITH due AS (
    SELECT agent_id FROM lane
    WHERE agent_id > %(after)s AND {IS_THERE} AND NOT starts_with(agent_id, 'collection/')
      AND greatest(written_at, read_at) > coalesce(beat_at, '-infinity')
      AND coalesce(beat_at, '-infinity') <= now() - %(quiet_s)s * interval '1 second'
    ORDER BY agent_id LIMIT %(max_lanes)s FOR UPDATE SKIP LOCKED),
requested AS (
    UPDATE lane SET beat_at = now(), compress_req = greatest(compress_req, compress_done + 1)
    FROM due WHERE lane.agent_id = due.agent_id
    RETURNING lane.agent_id)
SELECT agent_id FROM requested ORDER BY agent_id
"""  # noqa: S608 - a constant of another module
_REQUEST_IDLE = """
WITH due AS (
    SELECT agent_id FROM lane
    WHERE compress_req = compress_done AND pass_number > 0
      AND coalesce(beat_at, '-infinity') <= now() - %s * interval '1 second'
    FOR UPDATE SKIP LOCKED)
UPDATE lane SET beat_at = now(), compress_req = compress_req + 1
FROM due WHERE lane.agent_id = due.agent_id
"""
_DAY_S = 86_400
# A beat that comes a little early is still due; two beats in one period request once.
_EARLY = 0.9
_BATCH = 500  # lanes that are locked at once: producers wait for them


def request_due_passes(database: Database, *, period_s: float, idle_passes_per_day: int) -> int:
    """Request a pass for every agent that is due (M16); the sweep wakes the workers.

    Returns for how many. An agent whose lane is locked is due at the next beat.
    """
    requested = _request_active(database, period_s * _EARLY)
    if idle_passes_per_day:
        with database.upkeep_transaction() as connection:
            idle_s = _DAY_S / idle_passes_per_day
            requested += connection.exec_driver_sql(_REQUEST_IDLE, (idle_s,)).rowcount
    return requested


def _request_active(database: Database, quiet_s: float) -> int:
    """Request for agents that were written or read since their last pass, batch by batch."""
    requested, after = 0, ""
    while True:
        with database.upkeep_transaction() as connection:
            values = {"quiet_s": quiet_s, "after": after, "max_lanes": _BATCH}
            batch = list(connection.exec_driver_sql(_REQUEST_ACTIVE, values).scalars())
        requested += len(batch)
        if len(batch) < _BATCH:
            return requested
        after = batch[-1]


# The next request for an agent comes in an hour, whatever becomes of the job: by then the job has
# noted when the next short term ends.
_REQUEST_CONSOLIDATIONS = f"""
WITH due AS (
    SELECT agent_id FROM lane WHERE expire_at <= now() AND {IS_THERE}
    ORDER BY expire_at LIMIT %(max_lanes)s FOR UPDATE SKIP LOCKED),
woken AS (
    UPDATE lane SET expire_at = now() + interval '1 hour',
                    wake_at = coalesce(wake_at, clock_timestamp())
    FROM due WHERE lane.agent_id = due.agent_id),
submitted AS (
    INSERT INTO job (agent_id, id, kind, payload, source)
    SELECT agent_id, gen_random_uuid(), '{JobKind.CONSOLIDATE}', '{{}}', 'beat' FROM due
     WHERE NOT EXISTS (SELECT FROM job WHERE job.agent_id = due.agent_id
                          AND job.state = 'queued' AND job.kind = '{JobKind.CONSOLIDATE}'))
SELECT count(*) FROM due
"""  # noqa: S608 - a constant of this module
_MAX_CONSOLIDATIONS = 20_000  # the sweep waits while this runs


def request_due_consolidations(database: Database) -> int:
    """Submit a job for every agent whose short terms are over (R5); the sweep wakes the workers.

    The longest overdue come first. Returns for how many agents; one whose lane is locked is due at
    the next beat.
    """
    requested, count = 0, _BATCH
    while requested < _MAX_CONSOLIDATIONS and count == _BATCH:
        with database.upkeep_transaction() as connection:
            values = {"max_lanes": _BATCH}
            count = int(connection.exec_driver_sql(_REQUEST_CONSOLIDATIONS, values).scalar_one())
        requested += count
    return requested


_BLOCKS = "SELECT pg_relation_size('job') / current_setting('block_size')::int"
# By the position in the table: an index on the end of jobs would slow down every job, and a walk
# along the primary key takes seven times as long.
_DELETE_ENDED = """
DELETE FROM job
WHERE ctid >= %s::tid AND ctid < %s::tid AND state IN ('done', 'cancelled')
  AND finished_at < now() - %s * interval '1 second'
"""
_BLOCKS_AT_ONCE = 512  # 4 MiB of the table: some milliseconds


def prune_ended_jobs(database: Database, *, keep_s: float) -> int:
    """Delete done and cancelled jobs that ended longer ago; dead ones stay until decided on.

    Walks once through the table. A job that moves within it meanwhile waits for the next run.
    Returns how many.
    """
    with database.upkeep_transaction() as connection:
        blocks = int(connection.exec_driver_sql(_BLOCKS).scalar_one())
    removed = 0
    for first in range(0, blocks, _BLOCKS_AT_ONCE):
        with database.upkeep_transaction() as connection:
            values = (f"({first},0)", f"({first + _BLOCKS_AT_ONCE},0)", keep_s)
            removed += connection.exec_driver_sql(_DELETE_ENDED, values).rowcount
    return removed
