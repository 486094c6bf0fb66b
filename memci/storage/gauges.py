"""What the queue looks like from outside, for operators."""

from __future__ import annotations

from sqlalchemy import Connection

from memci.telemetry.metrics import LaneGauges

# Three reads: queued and dead jobs by their partial indexes, and all lanes (30 ms at 100,000).
_GAUGES = """
SELECT queued.jobs, queued.age_s, queued.lag_s, dead.jobs, lanes.*
FROM (
    SELECT count(*) AS jobs,
           coalesce(extract(epoch FROM now() - min(created_at)), 0) AS age_s,
           coalesce(extract(epoch FROM now() - min(created_at)
               FILTER (WHERE kind = 'memci.memory.create')), 0) AS lag_s
    FROM job WHERE state = 'queued'
) AS queued, (
    SELECT count(*) AS jobs FROM job WHERE state = 'dead'
) AS dead, (
    SELECT count(*) FILTER (WHERE lease_until > now()),
           count(*) FILTER (
               WHERE least(wake_at, compress_at) < now() - make_interval(secs => %s::float8)
               AND (not_before IS NULL OR not_before < now())
               AND (lease_until IS NULL OR lease_until < now())
               AND NOT paused AND halted_by IS NULL),
           count(*) FILTER (WHERE compress_req > compress_done)
    FROM lane
) AS lanes
"""


def lane_gauges(connection: Connection, *, token_stale_s: float) -> LaneGauges:
    """Return the gauges of this moment; wants an upkeep transaction.

    A lane is due and unclaimed when its token has been out for longer than ``token_stale_s``.
    """
    row = connection.exec_driver_sql(_GAUGES, (token_stale_s,)).one()
    queued, age_s, lag_s, dead, leases, unclaimed, compress = row
    return LaneGauges(
        queued_jobs=queued,
        oldest_queued_age_s=float(age_s),
        memory_lag_s=float(lag_s),
        dead_jobs=dead,
        leases=leases,
        lanes_due_unclaimed=unclaimed,
        compress_pending=compress,
    )
