"""The mailbox of an agent: statements that submit, begin and end its jobs (queue.md).

Whoever submits locks the lane's row first, so that seqs and ordinals follow the order of commits.
Whoever begins or ends a job holds the lease.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import Connection

from memci.broker.wakeup import Wakeups
from memci.domain.agent_id import no_agent
from memci.domain.job import Job, JobKind, JobSource
from memci.queue.lease import Lease
from memci.storage.agents import IS_AGENT, IS_THERE
from memci.storage.session import Database

# The first wakeup of a lane wins: wake_at stays as it was while one is believed to be out.
_LOCK_LANE = """
INSERT INTO lane (agent_id, wake_at, written_at) VALUES (%s, clock_timestamp(), now())
ON CONFLICT (agent_id) DO UPDATE
SET wake_at = coalesce(lane.wake_at, excluded.wake_at),
    written_at = CASE WHEN lane.epoch > 0 AND lane.message_seq = lane.erased_messages
                      THEN lane.written_at ELSE now() END
RETURNING wake_at >= now(), message_seq
"""
_IS_AGENT = f"SELECT {IS_AGENT} FROM lane WHERE agent_id = %s"  # noqa: S608 - a constant
_UNWAKE = "UPDATE lane SET wake_at = NULL WHERE agent_id = %s"
_LOCK_IDLE = f"SELECT FROM lane WHERE agent_id = %s AND {IS_THERE} FOR NO KEY UPDATE SKIP LOCKED"
_WAKE = "UPDATE lane SET wake_at = coalesce(wake_at, clock_timestamp()) WHERE agent_id = %s"
_PAYLOAD = "SELECT payload FROM job WHERE agent_id = %s AND id = %s"
_INSERT_JOB = """
INSERT INTO job (agent_id, id, kind, payload, source, first_seq, last_seq, traceparent)
VALUES (%s, %s, %s, %s, %s, %s, %s, %s)
ON CONFLICT (agent_id, id) DO NOTHING
"""
_REQUEST_COMPRESS = f"""
UPDATE lane SET compress_req = compress_req + 1,
                compress_at = coalesce(compress_at, clock_timestamp())
WHERE agent_id = %s AND {IS_THERE}
RETURNING pass_number + 1, compress_at >= now(),
          compress_req - 1 > coalesce((compress_cursor->>'req')::bigint, compress_done)
"""  # noqa: S608 - a constant of this module


@dataclass(frozen=True, slots=True)
class NewJob:
    """A job to put at the end of a mailbox."""

    agent_id: str
    kind: str
    source: JobSource = JobSource.LANE
    id: UUID = field(default_factory=uuid4)
    first_seq: int | None = None
    last_seq: int | None = None
    payload: Mapping[str, Any] = field(default_factory=dict)
    traceparent: str | None = None


def lock_lane(connection: Connection, agent_id: str) -> tuple[bool, int]:
    """Lock the lane's row, created if needed, and mark it as woken.

    Returns whether this call woke it, so that a wakeup has to be published after COMMIT, and the
    seq of the agent's last message.
    """
    woken, seq = connection.exec_driver_sql(_LOCK_LANE, (agent_id,)).one()
    return bool(woken), int(seq)


def lock_agent(connection: Connection, agent_id: str) -> bool:
    """Lock the lane of an agent that exists; return whether this call woke it.

    Raises ``NotFoundError`` for no agent, and for one that was erased (M25): the transaction must
    then be rolled back, since it has made or marked the lane.
    """
    woken, _ = lock_lane(connection, agent_id)
    if not connection.exec_driver_sql(_IS_AGENT, (agent_id,)).scalar_one():
        raise no_agent(agent_id)
    return woken


def unlock_lane(connection: Connection, agent_id: str, *, woken: bool) -> None:
    """Take back the mark of ``lock_lane`` when there is nothing to do after all."""
    if woken:
        connection.exec_driver_sql(_UNWAKE, (agent_id,))


def lock_idle(connection: Connection, agent_id: str) -> bool:
    """Lock the lane of an agent that exists if it is not locked: reads wait for no lock."""
    return connection.exec_driver_sql(_LOCK_IDLE, (agent_id,)).first() is not None


def mark_woken(connection: Connection, agent_id: str) -> None:
    """Mark a locked lane as woken, without a wakeup: the sweep wakes a worker."""
    connection.exec_driver_sql(_WAKE, (agent_id,))


def payload_of(connection: Connection, agent_id: str, job_id: UUID) -> dict[str, Any] | None:
    """Return the payload of a job in any state; None when there is no such job."""
    row = connection.exec_driver_sql(_PAYLOAD, (agent_id, job_id)).first()
    return None if row is None else dict(row.payload)


def insert_job(connection: Connection, job: NewJob) -> bool:
    """Put a job into the mailbox; False when its id is already there."""
    payload = json.dumps(dict(job.payload))
    values = (
        job.agent_id, job.id, job.kind, payload, job.source, job.first_seq, job.last_seq,
        job.traceparent,
    )  # fmt: skip
    return connection.exec_driver_sql(_INSERT_JOB, values).rowcount == 1


# A job that has begun may have looked for its work already, so it does not count as waiting.
_SUBMIT_ONCE = """
WITH waiting AS (
    SELECT id FROM job WHERE agent_id = %(agent)s AND state = 'queued' AND kind = %(kind)s::text
       AND started = 0 AND payload @> %(payload)s::jsonb ORDER BY ordinal LIMIT 1),
submitted AS (
    INSERT INTO job (agent_id, id, kind, payload, source)
    SELECT %(agent)s, %(id)s::uuid, %(kind)s::text, %(payload)s::jsonb, %(source)s
    WHERE NOT EXISTS (SELECT FROM waiting))
SELECT coalesce((SELECT id FROM waiting), %(id)s::uuid)
"""


def submit_once(
    connection: Connection,
    agent_id: str,
    kind: str,
    source: JobSource = JobSource.LANE,
    payload: Mapping[str, Any] | None = None,
) -> tuple[UUID, bool]:
    """Submit a job unless one of the same kind and payload waits; the lane must be locked.

    Returns the id of the job that will run, and whether it is new.
    """
    job_id = uuid4()
    values = {
        "agent": agent_id, "id": job_id, "kind": kind, "source": source,
        "payload": json.dumps(payload or {}),
    }  # fmt: skip
    running_id = connection.exec_driver_sql(_SUBMIT_ONCE, values).scalar_one()
    return running_id, running_id == job_id


def request_compress(connection: Connection, agent_id: str) -> tuple[int, bool, bool]:
    """Count one more request for compression; ``NotFoundError`` for no agent.

    Returns the number of the pass that will do it, whether another request waits for that pass, and
    whether to publish a wakeup after COMMIT.
    """
    row = connection.exec_driver_sql(_REQUEST_COMPRESS, (agent_id,)).first()
    if row is None:
        raise no_agent(agent_id)
    number, woken, coalesced = row
    return int(number), bool(coalesced), bool(woken)


# Jobs of these kinds are overtaken while they wait for another try, and a dead one halts no lane:
# nothing waits for their result. Each looks for its work when it runs, so their order is free.
UNORDERED_KINDS = frozenset(
    {
        JobKind.INDEX_DOCUMENT,
        JobKind.INDEX_ITEMS,
        JobKind.NAME_PAGES,
        JobKind.SUMMARISE,
        JobKind.TRACK_MESSAGES,
    }
)
_LISTED = ", ".join(f"'{each}'" for each in sorted(UNORDERED_KINDS))
# A condition on ``job``: it waits for another try, and the next job in the mailbox goes first.
IS_OVERTAKEN = f"(kind IN ({_LISTED}) AND coalesce(not_before > now(), false))"

_STARTED_COLUMNS = (
    "id", "ordinal", "kind", "payload", "source", "first_seq", "last_seq", "attempts", "started",
    "traceparent", "started_at",
)  # fmt: skip
# Only the head may run, and only when it is due: nothing overtakes a head that backs off. The
# subquery finds it once; joined, a plan made for short mailboxes finds it anew for each job.
_BEGIN_HEAD = f"""
UPDATE job SET started = started + 1, started_at = clock_timestamp()
WHERE job.agent_id = %(agent_id)s AND job.id = (
    SELECT head.id FROM job AS head WHERE head.agent_id = %(agent_id)s AND head.state = 'queued'
      AND NOT {IS_OVERTAKEN} ORDER BY head.ordinal LIMIT 1)
  AND (job.not_before IS NULL OR job.not_before <= now())
  AND EXISTS (SELECT FROM lane WHERE lane.agent_id = job.agent_id AND NOT paused
              AND halted_by IS NULL AND fence = %(fence)s AND lease_owner = %(nonce)s)
RETURNING {", ".join(_STARTED_COLUMNS)}
"""  # noqa: S608 - constants of this package
_WANTS_COMPRESSION = f"""
SELECT NOT paused AND halted_by IS NULL AND compress_req > compress_done AND NOT coalesce(
    (SELECT not_before IS NULL OR not_before <= now() FROM job
     WHERE job.agent_id = lane.agent_id AND state = 'queued' AND NOT {IS_OVERTAKEN}
     ORDER BY ordinal LIMIT 1), false)
FROM lane WHERE agent_id = %s AND fence = %s AND lease_owner = %s
"""  # noqa: S608 - a constant of this package
# With the ordinal: by the agent and the state alone, the index of heads would lead through the
# whole mailbox.
_FINISH = """
UPDATE job SET state = 'done', finished_at = clock_timestamp(), result = %s, last_error = NULL,
               started = 0
WHERE agent_id = %s AND id = %s AND ordinal = %s AND state = 'queued'
"""
_TRIGGER_COMPRESS = f"""
UPDATE lane SET compress_req = compress_req + 1
WHERE agent_id = %s AND {IS_AGENT}
"""  # noqa: S608 - a constant of this module
# The new number of attempts includes the starts without an outcome before this one.
_COUNT_FAILURE = """
UPDATE job SET attempts = %s, last_error = %s, started = %s,
               not_before = clock_timestamp() + %s * interval '1 second'
WHERE agent_id = %s AND id = %s AND ordinal = %s AND state = 'queued'
"""
_SET_STARTED = """
UPDATE job SET started = %s WHERE agent_id = %s AND id = %s AND ordinal = %s AND state = 'queued'
"""
# No worker waits for an overtaken job, nor for a pass whose nodes all wait for a model: the sweep
# wakes the lane when the time has come. A wakeup for compression may have come while the lane was
# held and was dropped then: so who frees the lane publishes one more, marked already or not.
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
      AND NOT {IS_OVERTAKEN} ORDER BY ordinal LIMIT 1
) AS head ON true
WHERE lane.agent_id = freed.agent_id
RETURNING wake_at IS NOT NULL, compress_at IS NOT NULL, written_at IS NULL
"""  # noqa: S608 - a constant of this package
# A claim makes the lane of any agent that a wakeup names; without messages it goes again.
_DROP_EMPTY_LANE = """
DELETE FROM lane WHERE agent_id = %(agent_id)s AND NOT paused AND compress_req = 0 AND epoch = 0
AND NOT EXISTS (SELECT FROM job WHERE job.agent_id = lane.agent_id)
"""


@dataclass(frozen=True, slots=True)
class Freed:
    """A freed lane: which wakeups to publish after COMMIT."""

    wake_lane: bool
    wake_compress: bool

    def publish(self, wakeups: Wakeups, agent_id: str) -> None:
        """Publish them."""
        if self.wake_lane:
            wakeups.wake_lane(agent_id)
        if self.wake_compress:
            wakeups.wake_compress(agent_id)


def begin_head(connection: Connection, lease: Lease) -> Job | None:
    """Count a start of the first job and return it.

    None when there is none, when it backs off, or when the lane is paused, halted or not held.
    """
    row = connection.exec_driver_sql(_BEGIN_HEAD, _lease_values(lease)).first()
    return _started_job(lease, tuple(row)) if row else None


def begin_next(lease: Lease) -> Job | None:
    """Do as ``begin_head`` in a separate transaction, which need not be durable (queue.md)."""
    rows = lease.database.run_on_lanes(_BEGIN_HEAD, _lease_values(lease))
    return _started_job(lease, rows[0]) if rows else None


def _lease_values(lease: Lease) -> dict[str, Any]:
    return {"agent_id": lease.agent_id, "fence": lease.fence, "nonce": lease.nonce}


def _started_job(lease: Lease, row: tuple[Any, ...]) -> Job:
    columns = dict(zip(_STARTED_COLUMNS, row, strict=True))
    return Job(**{**columns, "agent_id": lease.agent_id, "source": JobSource(columns["source"])})


def wants_compression(lease: Lease) -> bool:
    """Return True if compression is requested and no job is due.

    False too when the lane is not held, paused or halted.
    """
    values = (lease.agent_id, lease.fence, lease.nonce)
    with lease.database.lane_transaction(durable=False) as connection:
        return bool(connection.exec_driver_sql(_WANTS_COMPRESSION, values).scalar())


def finish(connection: Connection, job: Job, result: Mapping[str, Any]) -> bool:
    """Mark a job done; False when it was cancelled meanwhile, and then nothing may be written."""
    values = (json.dumps(dict(result)), job.agent_id, job.id, job.ordinal)
    return connection.exec_driver_sql(_FINISH, values).rowcount == 1


def trigger_compress(connection: Connection, agent_id: str) -> bool:
    """Request a pass in the transaction of what triggers it (M16); False for no agent."""
    return connection.exec_driver_sql(_TRIGGER_COMPRESS, (agent_id,)).rowcount == 1


def count_failure(
    connection: Connection, job: Job, *, attempts: int, error: str, wait_s: float | None = None
) -> None:
    """Record a failure, and how long the job waits; None: its process tries again."""
    started = int(wait_s is None)
    values = (attempts, error, started, wait_s, job.agent_id, job.id, job.ordinal)
    connection.exec_driver_sql(_COUNT_FAILURE, values)


def set_started(lease: Lease, job: Job, started: int) -> None:
    """Correct how often a job was started without an outcome."""
    with lease.effect(durable=False) as connection:
        values = (started, job.agent_id, job.id, job.ordinal)
        connection.exec_driver_sql(_SET_STARTED, values)


def free(connection: Connection, agent_id: str) -> Freed:
    """Free the lane; an earlier statement of this transaction must have locked it.

    A separate statement sees all work that was committed before the lock; later work finds a lane
    without a wakeup and publishes one. A single statement would use an older snapshot, and a
    wakeup could be lost.
    """
    values = {"agent_id": agent_id}
    *freed, unwritten = connection.exec_driver_sql(_FREE, values).one()
    if unwritten:
        connection.exec_driver_sql(_DROP_EMPTY_LANE, values)
    return Freed(*freed)


_RECENT = "SELECT agent_id FROM lane ORDER BY written_at DESC NULLS LAST LIMIT 1000"


def recent_agents(database: Database) -> list[str]:
    """Return at most a thousand agents, the last written first."""
    with database.upkeep_transaction() as connection:
        return [row[0] for row in connection.exec_driver_sql(_RECENT)]
