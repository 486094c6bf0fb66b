"""The mailbox of one agent, listed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from memci.domain.lane.job import JobState
from memci.errors import NotFoundError
from memci.reading.page import page_of, place_after
from memci.shapes.agent import JobAnswer, JobList
from memci.storage.erasure.gone import snapshot_of
from memci.storage.reading.jobs import list_jobs, read_job
from memci.storage.session import Database


class JobListings:
    """Reads jobs, waiting and done."""

    def __init__(self, database: Database) -> None:
        """Take where it all is."""
        self._database = database

    def jobs(
        self, agent_id: str, *, state: JobState | None, cursor: str | None, limit: int
    ) -> JobList:
        """List jobs in the order of the mailbox, in one state or in all."""
        (after,) = place_after(cursor)
        with snapshot_of(self._database, agent_id) as connection:
            rows = list_jobs(connection, agent_id, state=state, after=after, limit=limit + 1)
        page, following = page_of(rows, limit, lambda row: row["ordinal"])
        return JobList(jobs=[_answer(row) for row in page], next_cursor=following)

    def job(self, agent_id: str, job_id: UUID) -> JobAnswer:
        """Return one job, or raise ``NotFoundError``: done ones are pruned."""
        with snapshot_of(self._database, agent_id) as connection:
            row = read_job(connection, agent_id, job_id)
        if row is None:
            raise NotFoundError("there is no such job; finished jobs are kept for some days only")
        return _answer(row)


def _answer(row: Mapping[Any, Any]) -> JobAnswer:
    """Put what language models took beside what the job did; it is known before the job ends."""
    fields: dict[str, Any] = dict(row)
    models = fields.pop("models")
    if models:
        fields["result"] = {**(fields["result"] or {}), "models": models}
    return JobAnswer(**fields)
