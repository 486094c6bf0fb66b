"""Summaries of an agent's sessions, made by jobs on a real database."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from memci.domain.job import Job, JobKind
from memci.domain.pages.tree import UNRESTRICTED_VIEWER, Viewer
from memci.jobs.consolidate import utc_now
from memci.jobs.summarise import MAX_TOKENS, SessionSummaries, SummaryRequests
from memci.message import Message
from memci.smallmodel.offline.summarizer import OfflineSummarizer
from memci.smallmodel.offline.token_counter import OfflineTokenCounter
from memci.smallmodel.ports import Summarizer
from memci.storage.summaries import StoredSummary, read_summary
from tests.support.network import AgentUnderTest

COUNTER = OfflineTokenCounter()


@dataclass
class Listing(OfflineSummarizer):
    """Appends the seqs of the messages to the previous summary, and records its calls.

    ``beside`` is called each time, for changes that happen meanwhile.
    """

    beside: Callable[[], None] = lambda: None
    given: list[list[Message]] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def summarize(self, messages: Sequence[Message], previous: str, target: int) -> str:
        self.given.append(list(messages))
        self.beside()
        seqs = " ".join(str(each.seq) for each in messages)
        return f"{previous} {seqs}".strip()[:target]


@dataclass
class SummariesUnderTest:
    ada: AgentUnderTest
    summarizer: Summarizer = field(default_factory=OfflineSummarizer)
    most_tokens: int = MAX_TOKENS
    clock: Callable[[], datetime] = utc_now

    @property
    def handler(self) -> SessionSummaries:
        return SessionSummaries(
            self.ada.database,
            self.summarizer,
            COUNTER,
            "offline",
            self.ada.parameters,
            max_job_tokens=self.most_tokens,
            clock=self.clock,
        )

    def say(self, *texts: str, **how: Any) -> Job:
        """Append messages and request a summary, as the lane does after memory creation."""
        job = self.ada.say(*texts, **how)
        with self.ada.lease().effect() as connection:
            SummaryRequests(self.ada.parameters, self.clock).of_messages(connection, job)
        return job

    def exchange(self, count: int, text: str = "word " * 20, **how: Any) -> None:
        """Add so many interactions with one question and one answer."""
        for _ in range(count):
            self.say(text, **how)
            self.say(text, role="assistant", **how)

    def end_silent(self) -> None:
        """End silent sessions, as consolidation does."""
        with self.ada.lease().effect() as connection:
            SummaryRequests(self.ada.parameters, self.clock).of_sessions(
                connection, self.ada.job(0, 0)
            )

    def waiting(self) -> list[Job]:
        rows = self.ada.rows(
            "SELECT agent_id, id, ordinal, kind, payload, source, first_seq, last_seq, attempts,"
            " started, traceparent FROM job WHERE agent_id = %s AND state = 'queued' AND kind = %s"
            " ORDER BY ordinal",
            JobKind.SUMMARISE,
        )
        return [Job(**row._mapping) for row in rows]

    def job(self, *seqs: int, now: bool = False) -> Job:
        return replace(
            self.ada.job(0, 0, {"seqs": list(seqs), "now": now}),
            kind=JobKind.SUMMARISE, first_seq=None, last_seq=None,
        )  # fmt: skip

    def run_one(self, job: Job) -> Mapping[str, Any]:
        """Run a job as the lane does."""
        self.ada.execute("UPDATE job SET started = 1 WHERE agent_id = %s AND id = %s", job.id)
        effect = self.handler.prepare(job)
        with self.ada.lease().effect() as connection:
            result = effect(connection)
        self.ada.execute("UPDATE job SET state = 'done' WHERE agent_id = %s AND id = %s", job.id)
        return result

    def run(self) -> list[Mapping[str, Any]]:
        """Run queued jobs and those that follow from them."""
        done = []
        while waiting := self.waiting():
            done.append(self.run_one(waiting[0]))
        return done

    def read(
        self, session: str | None = "s1", viewer: Viewer = UNRESTRICTED_VIEWER
    ) -> StoredSummary | None:
        with self.ada.database.agent_snapshot(self.ada.agent_id) as connection:
            return read_summary(connection, self.ada.agent_id, session, viewer)

    def text(self, session: str | None = "s1", viewer: Viewer = UNRESTRICTED_VIEWER) -> str:
        found = self.read(session, viewer)
        return "" if found is None else found.text
