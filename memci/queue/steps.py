"""Jobs that take no messages out of the sequence: restores, and the steps of a rebuild (M24)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID, uuid4, uuid5

from sqlalchemy import Connection

from memci.domain.lane.job import JobSource, JobState
from memci.queue.submit import NewJob, insert_job

RESTORE_KIND = "memci.memory.restore"
REBUILD_KIND = "memci.memory.rebuild"

# Ids of jobs that restore a node live in this name space: asked twice, there is one job.
_NAMESPACE = UUID("6d656d63-6900-5000-8000-000000000002")
_STATE = "SELECT state FROM job WHERE agent_id = %s AND id = %s"


def submit_restore(connection: Connection, agent_id: str, payload: Mapping[str, Any]) -> UUID:
    """Queue the restoring of ``payload["node"]``; the lane must be locked.

    While such a job waits, or is dead, it stays the only one. One that has ended, and the node
    is forgotten still, is followed by another.
    """
    job_id = uuid5(_NAMESPACE, f"{agent_id}/{payload['node']}")
    state = connection.exec_driver_sql(_STATE, (agent_id, job_id)).scalar()
    if state in {JobState.DONE, JobState.CANCELLED}:
        job_id = uuid4()
    insert_job(connection, NewJob(agent_id, job_id, RESTORE_KIND, JobSource.HTTP, payload=payload))
    return job_id


def submit_step(
    connection: Connection, agent_id: str, number: int, source: JobSource = JobSource.LANE
) -> UUID:
    """Queue the next step of the rebuild of an edition; the lane must be locked."""
    payload = {"edition": number}
    job = NewJob(agent_id, uuid4(), REBUILD_KIND, source, payload=payload)
    insert_job(connection, job)
    return job.id
