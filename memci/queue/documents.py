"""The job that indexes a document."""

from __future__ import annotations

from uuid import UUID

from sqlalchemy import Connection

from memci.domain.lane.job import JobSource
from memci.queue.submit import NewJob, insert_job

DOCUMENT_KIND = "memci.document.index"


def submit_document(
    connection: Connection, owner: str, job_id: UUID, document_id: int, traceparent: str | None
) -> None:
    """Queue it; the lane must be locked."""
    payload = {"document": document_id}
    job = NewJob(
        owner, job_id, DOCUMENT_KIND, JobSource.HTTP, payload=payload, traceparent=traceparent
    )
    insert_job(connection, job)
