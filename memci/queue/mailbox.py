"""Statements on the jobs of one lane, inside transactions of its lease holder."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection

from memci.domain.job import Job, JobSource
from memci.queue.handler import STEPS_ASIDE
from memci.queue.lease import Lease
from memci.storage.agents import IS_AGENT
from memci.storage.session import Database

# The head alone may run, and only when it is due: nobody overtakes a head that backs off. It is
# found by a subquery that runs once: joined, a plan that believes in short mailboxes looks for it
# anew at each job of the agent.
_BEGIN_HEAD = f"""
UPDATE job SET started = started + 1, started_at = clock_timestamp()
WHERE job.agent_id = %(agent_id)s AND job.id = (
    SELECT head.id FROM job AS head WHERE head.agent_id = %(agent_id)s AND head.state = 'queued'
      AND NOT {STEPS_ASIDE} ORDER BY head.ordinal LIMIT 1)
  AND (job.not_before IS NULL OR job.not_before <= now())
  AND EXISTS (SELECT FROM lane WHERE lane.agent_id = job.agent_id AND NOT paused
              AND halted_by IS NULL AND fence = %(fence)s AND lease_owner = %(nonce)s)
RETURNING job.id, ordinal, kind, payload, source, first_seq, last_seq, attempts, started,
          traceparent, started_at
"""  # noqa: S608 - a constant of this package
_BEGUN = (
    "id", "ordinal", "kind", "payload", "source", "first_seq", "last_seq", "attempts", "started",
    "traceparent", "started_at",
)  # fmt: skip
_LOOK = """
SELECT NOT paused AND halted_by IS NULL, compress_req > compress_done FROM lane
WHERE agent_id = %s AND fence = %s AND lease_owner = %s
"""
# Where the state is asked for, so is the ordinal: by the agent alone, the index of heads would
# lead through the whole mailbox.
_FINISH = """
UPDATE job SET state = 'done', finished_at = clock_timestamp(), result = %s, last_error = NULL,
               started = 0
WHERE agent_id = %s AND id = %s AND ordinal = %s AND state = 'queued'
"""
_TRIGGER_COMPRESS = f"""
UPDATE lane SET compress_req = compress_req + 1
WHERE agent_id = %s AND {IS_AGENT}
"""  # noqa: S608 - a constant of this module
_BACK_OFF = """
UPDATE job SET attempts = %s, last_error = %s, started = 0,
               not_before = clock_timestamp() + %s * interval '1 second'
WHERE agent_id = %s AND id = %s AND ordinal = %s AND state = 'queued'
"""
# The attempts that are written take in the starts that came to nothing before this one.
_COUNT_FAILURE = """
UPDATE job SET attempts = %s, last_error = %s, started = 1
WHERE agent_id = %s AND id = %s AND ordinal = %s AND state = 'queued'
"""
# Others may have begun it since: theirs still count, and the last one does whatever else is taken
# back. This one may be gone already, with a lane that was seized or a failure that was written.
_UNBEGIN = """
UPDATE job SET started = greatest(started - 1,
                                  CASE WHEN started_at > %s THEN least(started, 1) ELSE 0 END)
WHERE agent_id = %s AND id = %s AND ordinal = %s AND state = 'queued'
"""
# The job that the holder of the lane is at is the one that was begun last.
_UNBEGIN_CURRENT = """
UPDATE job SET started = started - 1
WHERE job.agent_id = %(agent)s AND job.id = (
    SELECT begun.id FROM job AS begun
    WHERE begun.agent_id = %(agent)s AND begun.state = 'queued' AND begun.started > 0
    ORDER BY begun.started_at DESC LIMIT 1)
  AND EXISTS (SELECT FROM lane WHERE lane.agent_id = job.agent_id AND lease_owner IS NOT NULL
                                 AND lease_until > clock_timestamp())
"""
# Nobody waits for what steps aside; the sweep wakes the lane when its time has come.
# A pass whose nodes all wait for a model is offered again when the first of them is due.
# A token of compression may have come while the lane was held, and was worth nothing then: whether
# the lane is marked already or not, who frees it publishes one more.
_FREE = f"""
UPDATE lane
SET lease_owner = NULL, lease_until = NULL, not_before = head.not_before,
    wake_at = CASE WHEN head.waits AND head.not_before IS NULL THEN clock_timestamp() END,
    compress_at = CASE WHEN compress_req > compress_done
                        AND coalesce((compress_cursor->>'retry_at')::timestamptz <= now(), true)
                       THEN coalesce(compress_at, clock_timestamp()) END
FROM (SELECT %(agent_id)s AS agent_id) AS freed LEFT JOIN LATERAL (
    SELECT true AS waits, CASE WHEN job.not_before > now() THEN job.not_before END AS not_before
    FROM job WHERE job.agent_id = freed.agent_id AND state = 'queued'
      AND NOT {STEPS_ASIDE} ORDER BY ordinal LIMIT 1
) AS head ON true
WHERE lane.agent_id = freed.agent_id
RETURNING wake_at IS NOT NULL, compress_at IS NOT NULL, written_at IS NULL
"""  # noqa: S608 - a constant of this package
# A claim makes the lane of whoever the bell names; that alone makes nobody an agent.
_FORGET = """
DELETE FROM lane WHERE agent_id = %(agent_id)s AND NOT paused AND compress_req = 0 AND epoch = 0
AND NOT EXISTS (SELECT FROM job WHERE job.agent_id = lane.agent_id)
"""


@dataclass(frozen=True, slots=True)
class Freed:
    """Which tokens are to be published after COMMIT."""

    wake_lane: bool
    wake_compress: bool


@dataclass(frozen=True, slots=True)
class Look:
    """Whether the lane is held, not paused and not halted, and whether compression is wanted."""

    held: bool
    compress_pending: bool


def begin_head(connection: Connection, lease: Lease) -> Job | None:
    """Count a start of the first job and return it.

    None when there is none, when it backs off, or when the lane is paused, halted or another's.
    """
    row = connection.exec_driver_sql(_BEGIN_HEAD, _held(lease)).first()
    return _begun(lease, tuple(row)) if row else None


def begin_head_of(lease: Lease) -> Job | None:
    """Begin the first job in a transaction of its own; it need not be durable (queue.md)."""
    rows = lease.database.lane_flight(_BEGIN_HEAD, _held(lease))
    return _begun(lease, rows[0]) if rows else None


def _held(lease: Lease) -> dict[str, Any]:
    return {"agent_id": lease.agent_id, "fence": lease.fence, "nonce": lease.nonce}


def _begun(lease: Lease, row: tuple[Any, ...]) -> Job:
    columns = dict(zip(_BEGUN, row, strict=True))
    return Job(**{**columns, "agent_id": lease.agent_id, "source": JobSource(columns["source"])})


def unbegin(database: Database, job: Job) -> None:
    """Take back one start of a job that ended without an outcome, its process alive."""
    with database.lane_transaction(durable=False) as connection:
        values = (job.started_at, job.agent_id, job.id, job.ordinal)
        connection.exec_driver_sql(_UNBEGIN, values)


def unbegin_current(connection: Connection, agent_id: str) -> None:
    """Take back the last start of the job that somebody, whose lease has not run out, is at.

    For who takes the lane away, and has locked it in an earlier statement. A process that has only
    just died of the job looks the same, and that start is taken back, too: one for each order.
    """
    connection.exec_driver_sql(_UNBEGIN_CURRENT, {"agent": agent_id})


def look(lease: Lease) -> Look:
    """Look at the lane without touching it."""
    held = (lease.agent_id, lease.fence, lease.nonce)
    with lease.database.lane_transaction(durable=False) as connection:
        row = connection.exec_driver_sql(_LOOK, held).first()
    return Look(*row) if row else Look(held=False, compress_pending=False)


def finish(connection: Connection, job: Job, result: Mapping[str, Any]) -> bool:
    """Mark a job done; False when it was cancelled meanwhile, and then nothing may be written."""
    values = (json.dumps(dict(result)), job.agent_id, job.id, job.ordinal)
    return connection.exec_driver_sql(_FINISH, values).rowcount == 1


def trigger_compress(connection: Connection, agent_id: str) -> bool:
    """Ask for a pass, in the transaction of what triggers it (M16).

    False when there is no such agent: one exists from its first message on.
    """
    return connection.exec_driver_sql(_TRIGGER_COMPRESS, (agent_id,)).rowcount == 1


def back_off(connection: Connection, job: Job, *, attempts: int, error: str, wait_s: float) -> None:
    """Note a failure that is worth another try, and when."""
    values = (attempts, error, wait_s, job.agent_id, job.id, job.ordinal)
    connection.exec_driver_sql(_BACK_OFF, values)


def count_failure(connection: Connection, job: Job, *, attempts: int, error: str) -> None:
    """Note a failure after which the job goes on."""
    values = (attempts, error, job.agent_id, job.id, job.ordinal)
    connection.exec_driver_sql(_COUNT_FAILURE, values)


def free(connection: Connection, agent_id: str) -> Freed:
    """Free the lane, which the caller has locked in an earlier statement of this transaction.

    Looks for waiting work in a new statement: what was committed before the lock is seen, and
    what comes later sees a lane without a token and publishes one. In one statement with the
    lock it would look at an old snapshot, and a wake-up could be lost.
    """
    values = {"agent_id": agent_id}
    *freed, unwritten = connection.exec_driver_sql(_FREE, values).one()
    if unwritten:
        connection.exec_driver_sql(_FORGET, values)
    return Freed(*freed)


_RECENT = "SELECT agent_id FROM lane ORDER BY written_at DESC NULLS LAST LIMIT 1000"


def recent_agents(database: Database) -> list[str]:
    """Return at most a thousand agents, the last written first."""
    with database.upkeep_transaction() as connection:
        return [row[0] for row in connection.exec_driver_sql(_RECENT)]
