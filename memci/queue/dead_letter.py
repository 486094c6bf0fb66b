"""Dead jobs: how they come about, and what can be done with them."""

from __future__ import annotations

from uuid import UUID, uuid4

from sqlalchemy import Connection

from memci.domain.lane.job import Job, JobSource, JobState
from memci.errors import ConflictError, NotFoundError
from memci.queue import submit

WORKER_LOST = "worker_lost: the process that ran it died each time; its log may say why"

_BURY = """
UPDATE job SET state = 'dead', finished_at = clock_timestamp(), last_error = %s
WHERE agent_id = %s AND id = %s AND ordinal = %s AND state = 'queued'
"""
_HALT = "UPDATE lane SET halted_by = %s WHERE agent_id = %s"
_STATE = "SELECT state FROM job WHERE agent_id = %s AND id = %s FOR UPDATE"
_LOCK_LANE = "SELECT 1 FROM lane WHERE agent_id = %s FOR UPDATE"
_REQUEUE = """
UPDATE job SET state = 'queued', attempts = 0, started = 0, not_before = NULL,
               finished_at = NULL
WHERE agent_id = %s AND id = %s
"""
_COPY_TO_TAIL = """
INSERT INTO job (agent_id, id, kind, payload, source, first_seq, last_seq, traceparent)
SELECT agent_id, %s, kind, payload, %s, first_seq, last_seq, traceparent
FROM job WHERE agent_id = %s AND id = %s
"""
_CANCEL = """
UPDATE job SET state = 'cancelled', finished_at = clock_timestamp() WHERE agent_id = %s AND id = %s
"""
# What it waited for may have been this job: let a worker look at the mailbox anew.
_UNBLOCK = """
UPDATE lane SET halted_by = nullif(halted_by, %s), not_before = NULL WHERE agent_id = %s
"""


def bury(connection: Connection, job: Job, error: str, *, halt: bool) -> None:
    """Make a queued job dead; with ``halt`` its agent stops until somebody decides."""
    connection.exec_driver_sql(_BURY, (error, job.agent_id, job.id, job.ordinal))
    if halt:
        connection.exec_driver_sql(_HALT, (job.id, job.agent_id))


def replay(connection: Connection, agent_id: str, job_id: UUID, *, at_tail: bool) -> UUID:
    """Queue a dead job again: in its own place, or anew at the tail. Returns the id to watch.

    The caller publishes a token after COMMIT.
    """
    _lock(connection, agent_id, job_id, {JobState.DEAD}, "replayed")
    _unblock(connection, agent_id, job_id)
    if not at_tail:
        connection.exec_driver_sql(_REQUEUE, (agent_id, job_id))
        return job_id
    new_id = uuid4()
    connection.exec_driver_sql(_COPY_TO_TAIL, (new_id, JobSource.REPLAY, agent_id, job_id))
    connection.exec_driver_sql(_CANCEL, (agent_id, job_id))
    return new_id


def discard(connection: Connection, agent_id: str, job_id: UUID) -> None:
    """Give a dead job up for good; its messages stay stored."""
    _lock(connection, agent_id, job_id, {JobState.DEAD}, "discarded")
    _unblock(connection, agent_id, job_id)
    connection.exec_driver_sql(_CANCEL, (agent_id, job_id))


def cancel(connection: Connection, agent_id: str, job_id: UUID) -> None:
    """Take a queued job out of the mailbox; one that runs right now writes nothing."""
    _lock(connection, agent_id, job_id, {JobState.QUEUED}, "cancelled")
    _unblock(connection, agent_id, job_id)
    connection.exec_driver_sql(_CANCEL, (agent_id, job_id))


def _lock(
    connection: Connection, agent_id: str, job_id: UUID, wanted: set[JobState], verb: str
) -> None:
    # The lane first, as everybody does: its row is the lock of all that the lane owns.
    connection.exec_driver_sql(_LOCK_LANE, (agent_id,))
    row = connection.exec_driver_sql(_STATE, (agent_id, job_id)).first()
    if row is None:
        raise NotFoundError(f"agent {agent_id} has no job {job_id}")
    if JobState(row.state) not in wanted:
        allowed = " or ".join(sorted(wanted))
        raise ConflictError(f"only a job that is {allowed} can be {verb}; this one is {row.state}")


def _unblock(connection: Connection, agent_id: str, job_id: UUID) -> None:
    connection.exec_driver_sql(_UNBLOCK, (job_id, agent_id))
    submit.lock_lane(connection, agent_id)
