"""Control of lanes and jobs: pause, resume, halt; bury, replay, discard and cancel jobs (M17).

If a creation job will not run, or not soon, a job that indexes its messages takes its place, so
that search finds them.
"""

from dataclasses import dataclass
from uuid import UUID, uuid4

from sqlalchemy import Connection

from memci.domain.agent_id import no_agent
from memci.domain.job import Job, JobKind, JobSource, JobState
from memci.errors import ConflictError, NotFoundError
from memci.queue import mailbox
from memci.storage.agents import IS_THERE

_CHANGED = f"WHERE agent_id = %s AND {IS_THERE} RETURNING paused, halted_by"
_PAUSE = f"UPDATE lane SET paused = true {_CHANGED}"  # noqa: S608 - a constant of this module
_RESUME = f"""
UPDATE lane SET paused = false, halted_by = NULL,
                compress_at = CASE WHEN compress_req > compress_done THEN clock_timestamp() END
{_CHANGED}
"""  # noqa: S608 - a constant of this module
# The pass under way sees that its cursor is gone, and writes nothing more.
_CANCEL_COMPRESSION = f"""
UPDATE lane SET compress_done = compress_req, compress_cursor = NULL, compress_at = NULL
{_CHANGED}
"""  # noqa: S608 - a constant of this module


@dataclass(frozen=True, slots=True)
class LaneState:
    """State of a lane; ``halted_by`` is the dead job that halts it."""

    paused: bool
    halted_by: UUID | None


def pause(connection: Connection, agent_id: str) -> LaneState:
    """Let no job or node begin; the running one ends first."""
    return _change(connection, _PAUSE, agent_id)


def resume(connection: Connection, agent_id: str) -> LaneState:
    """Go on after a pause or a halt; the caller publishes wakeups after COMMIT."""
    state = _change(connection, _RESUME, agent_id)
    mailbox.lock_lane(connection, agent_id)
    return state


def cancel_compression(connection: Connection, agent_id: str) -> LaneState:
    """Drop the pass under way, between two nodes, and all requests that wait."""
    return _change(connection, _CANCEL_COMPRESSION, agent_id)


def _change(connection: Connection, statement: str, agent_id: str) -> LaneState:
    row = connection.exec_driver_sql(statement, (agent_id,)).first()
    if row is None:
        raise no_agent(agent_id)
    return LaneState(*row)


WORKER_LOST = "worker_lost: the process that ran it died each time; its log may say why"

_BURY = """
UPDATE job SET state = 'dead', finished_at = clock_timestamp(), last_error = %s
WHERE agent_id = %s AND id = %s AND ordinal = %s AND state = 'queued'
"""
_HALT = "UPDATE lane SET halted_by = %s WHERE agent_id = %s"
_STATE = "SELECT state FROM job WHERE agent_id = %s AND id = %s FOR UPDATE"
_LOCK_LANE = f"SELECT FROM lane WHERE agent_id = %s AND {IS_THERE} FOR UPDATE"
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
# Which of the messages in its range a job of creation is for.
_TAKES = """
seq BETWEEN {job}.first_seq AND {job}.last_seq
AND remember = coalesce({job}.payload->>'remember', remember)
AND coalesce({job}.payload->'seqs' @> to_jsonb(seq), true)
"""
_OVERLAPPING = """
SELECT job.* FROM job JOIN ended ON job.id <> ended.id AND job.kind = ended.kind
                 AND job.first_seq <= ended.last_seq AND job.last_seq >= ended.first_seq
WHERE job.agent_id = %(agent)s AND job.state = '{state}'
"""
# No job will make memories of these messages, and the window of R19 does not hand them over again.
# Messages of another queued or dead job stay with it. Each state is looked up by its own index: the
# jobs that are done are far more.
_RELEASE = f"""
WITH ended AS MATERIALIZED (
    SELECT * FROM job WHERE agent_id = %(agent)s AND id = %(job)s AND kind = %(create)s),
other AS MATERIALIZED (
    {_OVERLAPPING.format(state="queued")}
    UNION ALL
    {_OVERLAPPING.format(state="dead")})
UPDATE message SET memory_state = 'none', remember = 'never'
FROM ended
WHERE message.agent_id = %(agent)s AND memory_state = 'pending' AND {_TAKES.format(job="ended")}
  AND NOT EXISTS (SELECT FROM other WHERE {_TAKES.format(job="other")})
"""  # noqa: S608 - a constant of this module
_UNINDEXED = """
SELECT min(seq), max(seq) FROM job
JOIN message ON message.agent_id = job.agent_id AND seq BETWEEN job.first_seq AND job.last_seq
WHERE job.agent_id = %(agent)s AND job.id = %(job)s AND job.kind = %(create)s AND NOT indexed
"""
# The lane may have waited for this job: let a worker look at the mailbox again.
_UNBLOCK = """
UPDATE lane SET halted_by = nullif(halted_by, %s), not_before = NULL WHERE agent_id = %s
"""


def bury(connection: Connection, job: Job, error: str, *, halt: bool) -> None:
    """Make a queued job dead; with ``halt`` its agent stops until somebody decides."""
    connection.exec_driver_sql(_BURY, (error, job.agent_id, job.id, job.ordinal))
    if error != WORKER_LOST:  # a job that kills its process may kill the indexing process too
        _index_messages(connection, job.agent_id, job.id)
    if halt:
        halt_lane(connection, job.agent_id, job.id)


def halt_lane(connection: Connection, agent_id: str, job_id: UUID) -> None:
    """Stop an agent at its dead job until somebody decides."""
    connection.exec_driver_sql(_HALT, (job_id, agent_id))


def replay(connection: Connection, agent_id: str, job_id: UUID, *, at_tail: bool) -> UUID:
    """Queue a dead job again: in its own place, or as a new job at the tail.

    Returns the id of the queued job. The caller publishes a wakeup after COMMIT.
    """
    _lock(connection, agent_id, job_id, JobState.DEAD, "replayed")
    _unblock(connection, agent_id, job_id)
    if not at_tail:
        connection.exec_driver_sql(_REQUEUE, (agent_id, job_id))
        return job_id
    new_id = uuid4()
    connection.exec_driver_sql(_COPY_TO_TAIL, (new_id, JobSource.REPLAY, agent_id, job_id))
    connection.exec_driver_sql(_CANCEL, (agent_id, job_id))
    return new_id


def discard(connection: Connection, agent_id: str, job_id: UUID) -> None:
    """Give up a dead job for good; its messages stay stored and searchable."""
    _lock(connection, agent_id, job_id, JobState.DEAD, "discarded")
    _take_out(connection, agent_id, job_id)


def cancel(connection: Connection, agent_id: str, job_id: UUID) -> None:
    """Take a queued job out of the mailbox; one that runs right now writes nothing.

    Its messages stay stored and searchable.
    """
    _lock(connection, agent_id, job_id, JobState.QUEUED, "cancelled")
    _take_out(connection, agent_id, job_id)


def _take_out(connection: Connection, agent_id: str, job_id: UUID) -> None:
    _unblock(connection, agent_id, job_id)
    connection.exec_driver_sql(_CANCEL, (agent_id, job_id))
    values = {"agent": agent_id, "job": job_id, "create": JobKind.CREATE}
    connection.exec_driver_sql(_RELEASE, values)
    _index_messages(connection, agent_id, job_id)


def _index_messages(connection: Connection, agent_id: str, job_id: UUID) -> None:
    """Let search find the messages of a job that will not run, or not soon (R10b)."""
    values = {"agent": agent_id, "job": job_id, "create": JobKind.CREATE}
    first, last = connection.exec_driver_sql(_UNINDEXED, values).one()
    if first is not None:
        job = mailbox.NewJob(agent_id, JobKind.INDEX_MESSAGES, first_seq=first, last_seq=last)
        mailbox.insert_job(connection, job)


def _lock(
    connection: Connection, agent_id: str, job_id: UUID, expected: JobState, verb: str
) -> None:
    # The lane first, as everywhere: its row is the lock of its jobs.
    if connection.exec_driver_sql(_LOCK_LANE, (agent_id,)).first() is None:
        raise no_agent(agent_id)
    state = connection.exec_driver_sql(_STATE, (agent_id, job_id)).scalar()
    if state is None:
        raise NotFoundError(f"agent {agent_id} has no job {job_id}")
    if state != expected:
        raise ConflictError(f"only a job that is {expected} can be {verb}; this one is {state}")


def _unblock(connection: Connection, agent_id: str, job_id: UUID) -> None:
    connection.exec_driver_sql(_UNBLOCK, (job_id, agent_id))
    mailbox.lock_lane(connection, agent_id)
