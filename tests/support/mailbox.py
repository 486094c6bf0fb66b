"""One agent's mailbox in a real database, with its jobs run in order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import zip_longest
from typing import Any
from uuid import UUID, uuid4

from memci.domain.job import Job, JobKind, JobSource
from memci.jobs.index import MessageIndexing
from memci.message import NewMessage, Remember, Role
from memci.queue import lane_control
from memci.queue.intake import Append, append_in, remember_stored
from memci.queue.mailbox import NewJob
from tests.support.network import AgentUnderTest


class Mailbox:
    """Appends messages as producers do, and runs the queued jobs."""

    def __init__(self, ada: AgentUnderTest) -> None:
        self.ada = ada
        # Only the last interaction fits in the window.
        self.indexing = MessageIndexing(ada.database, ada.models, 1, 1)

    def append(
        self,
        *texts: str,
        ids: Sequence[str] = (),
        remember: Remember = Remember.NOW,
        said_at: datetime | None = None,
    ) -> UUID:
        """Return the id of the job."""
        named = zip_longest(texts, ids)
        said = [
            NewMessage(Role.USER, text, id=message_id, said_at=said_at)
            for text, message_id in named
        ]
        with self.ada.database.agent_transaction("ada") as connection:
            append_in(connection, Append("ada", said, remember=remember))
        return self.waiting()[-1].id

    def ask(self, *ids: str, job_id: UUID | None = None) -> bool:
        """Request that memories are made of stored messages."""
        job = NewJob("ada", JobKind.CREATE, JobSource.CELERY, job_id or uuid4())
        with self.ada.database.agent_transaction("ada") as connection:
            return remember_stored(connection, job, ids)

    def waiting(self) -> list[Job]:
        """The queued jobs of memory, without those of pages."""
        rows = self.ada.rows(
            "SELECT agent_id, id, ordinal, kind, payload, source, first_seq, last_seq, attempts,"
            " started, traceparent FROM job WHERE agent_id = %s AND state = 'queued' AND kind <> %s"
            " ORDER BY ordinal",
            JobKind.NAME_PAGES,
        )
        return [Job(**row._mapping) for row in rows]

    def run(self) -> list[tuple[str, Mapping[str, Any]]]:
        """Run queued jobs and those that follow from them; return their kinds and results."""
        done = []
        while waiting := self.waiting():
            job = waiting[0]
            creates = job.kind == JobKind.CREATE
            effect = (self.ada.creation() if creates else self.indexing).prepare(job)
            with self.ada.lease().effect() as connection:
                done.append((job.kind, effect(connection)))
                connection.exec_driver_sql("UPDATE job SET state = 'done' WHERE id = %s", (job.id,))
        return done

    def bury(self, job_id: UUID, error: str = "a bug") -> None:
        (job,) = (each for each in self.waiting() if each.id == job_id)
        with self.ada.lease().effect() as connection:
            lane_control.bury(connection, job, error, halt=False)

    def decide(self, decision: Any, job_id: UUID, **how: Any) -> Any:
        with self.ada.database.agent_transaction("ada") as connection:
            return decision(connection, "ada", job_id, **how)

    def messages(self) -> list[tuple[str, bool]]:
        """The memory state of each message, and whether the search index has it."""
        rows = self.ada.rows(
            "SELECT memory_state, indexed FROM message WHERE agent_id = %s ORDER BY seq"
        )
        return [(row.memory_state, row.indexed) for row in rows]
