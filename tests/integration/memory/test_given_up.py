"""What search and memory make of the messages of dead, cancelled and discarded jobs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

import pytest

from memci.domain.lane.job import Job, JobSource
from memci.domain.message import NewMessage, Remember, Role
from memci.jobs.create import MEMORY_CREATE
from memci.jobs.index import MESSAGE_INDEX, MessageIndexing, WindowLimits
from memci.queue import dead_letter
from memci.queue.intake import Append, append_in
from memci.queue.submit import submit_follow_up
from memci.storage.session import Database
from tests.support.network import AgentUnderTest


class Mailbox:
    """Appends messages as producers do, and runs the jobs that wait."""

    def __init__(self, ada: AgentUnderTest) -> None:
        self.ada = ada
        # All that is not of the last interaction outgrows the window at once.
        self.indexing = MessageIndexing(
            ada.database, ada.models, WindowLimits(1, 1), submit_follow_up
        )

    def append(self, *texts: str, remember: Remember = Remember.NOW) -> UUID:
        said = [NewMessage(Role.USER, text) for text in texts]
        with self.ada.database.agent_transaction("ada") as connection:
            append_in(connection, Append("ada", said, remember=remember))
        return self.waiting()[-1].id

    def waiting(self) -> list[Job]:
        rows = self.ada.rows(
            "SELECT agent_id, id, ordinal, kind, payload, source, first_seq, last_seq, attempts,"
            " started, traceparent FROM job WHERE agent_id = %s AND state = 'queued'"
            " ORDER BY ordinal"
        )
        return [Job(**row._mapping) for row in rows]

    def run(self) -> list[tuple[str, Mapping[str, Any]]]:
        """Run what waits, and what that leads to; return what was done, by kind."""
        done = []
        while waiting := self.waiting():
            job = waiting[0]
            creates = job.kind == MEMORY_CREATE
            effect = (self.ada.creation() if creates else self.indexing).prepare(job)
            with self.ada.lease().effect() as connection:
                done.append((job.kind, effect(connection)))
                connection.exec_driver_sql("UPDATE job SET state = 'done' WHERE id = %s", (job.id,))
        return done

    def bury(self, job_id: UUID, error: str = "a bug") -> None:
        (job,) = (each for each in self.waiting() if each.id == job_id)
        with self.ada.lease().effect() as connection:
            dead_letter.bury(connection, job, error, halt=False)

    def decide(self, decision: Any, job_id: UUID, **how: Any) -> Any:
        with self.ada.database.agent_transaction("ada") as connection:
            return decision(connection, "ada", job_id, **how)

    def messages(self) -> list[tuple[str, bool]]:
        """The memory state of each message, and whether search finds it by the index."""
        rows = self.ada.rows(
            "SELECT memory_state, indexed FROM message WHERE agent_id = %s ORDER BY seq"
        )
        return [(row.memory_state, row.indexed) for row in rows]


@pytest.fixture
def mailbox(database: Database) -> Mailbox:
    return Mailbox(AgentUnderTest(database))


def test_the_messages_of_a_cancelled_job_are_found_and_not_remembered(mailbox: Mailbox) -> None:
    job = mailbox.append("tomato soup [Kitchen]", "basil [Kitchen]")
    mailbox.append("rain [Oslo]")
    mailbox.decide(dead_letter.cancel, job)
    assert mailbox.messages() == [("none", False), ("none", False), ("pending", False)]
    assert [kind for kind, _ in mailbox.run()] == [MEMORY_CREATE, MESSAGE_INDEX]
    assert mailbox.messages() == [("none", True), ("none", True), ("made", True)]
    assert len(mailbox.ada.nodes("memory")) == 1
    found = mailbox.ada.rows("SELECT seq FROM message_term WHERE agent_id = %s AND term = 'tomato'")
    assert [row.seq for row in found] == [1]


def test_the_messages_of_a_dead_job_are_found_and_may_still_be_remembered(
    mailbox: Mailbox,
) -> None:
    job = mailbox.append("tomato soup [Kitchen]")
    mailbox.bury(job)
    assert mailbox.run() == [(MESSAGE_INDEX, {"indexed": 1, "handed_over": 0})]
    assert mailbox.messages() == [("pending", True)]
    mailbox.decide(dead_letter.replay, job, at_tail=False)
    ((kind, result),) = mailbox.run()
    assert (kind, result["indexed"], result["memories"]) == (MEMORY_CREATE, 0, 1)
    assert mailbox.messages() == [("made", True)]


def test_a_replay_at_the_tail_takes_no_memory_work_away(mailbox: Mailbox) -> None:
    job = mailbox.append("tomato soup [Kitchen]")
    mailbox.bury(job)
    mailbox.decide(dead_letter.replay, job, at_tail=True)
    assert [kind for kind, _ in mailbox.run()] == [MESSAGE_INDEX, MEMORY_CREATE]
    assert mailbox.messages() == [("made", True)]


def test_a_discarded_job_leaves_its_messages_found_and_indexes_them_once(mailbox: Mailbox) -> None:
    job = mailbox.append("tomato soup [Kitchen]")
    mailbox.bury(job)
    mailbox.run()
    mailbox.decide(dead_letter.discard, job)
    assert mailbox.waiting() == []
    assert mailbox.messages() == [("none", True)]


def test_what_killed_workers_is_not_read_again_before_somebody_decides(mailbox: Mailbox) -> None:
    job = mailbox.append("tomato soup [Kitchen]")
    mailbox.bury(job, dead_letter.WORKER_LOST)
    assert mailbox.waiting() == []
    mailbox.decide(dead_letter.discard, job)
    assert [kind for kind, _ in mailbox.run()] == [MESSAGE_INDEX]
    assert mailbox.messages() == [("none", True)]


def test_a_cancelled_hand_over_does_not_come_back(mailbox: Mailbox) -> None:
    """Messages of ``auto`` that outgrew the window once would outgrow it again."""
    mailbox.append("A [Grace] one", "B [Oslo] two", remember=Remember.AUTO)
    (index,) = mailbox.waiting()
    effect = mailbox.indexing.prepare(index)
    with mailbox.ada.lease().effect() as connection:
        effect(connection)
        connection.exec_driver_sql("UPDATE job SET state = 'done' WHERE id = %s", (index.id,))
    (hand_over,) = mailbox.waiting()
    assert (hand_over.kind, hand_over.source) == (MEMORY_CREATE, JobSource.LANE)
    mailbox.decide(dead_letter.cancel, hand_over.id)
    mailbox.append("C [Luigi] three", remember=Remember.AUTO)
    mailbox.run()
    assert [state for state, _ in mailbox.messages()] == ["none", "made", "none"]


def test_a_hand_over_takes_only_its_own_messages_with_it(mailbox: Mailbox) -> None:
    mailbox.append("A [Grace] one", remember=Remember.AUTO)
    now = mailbox.append("N [Grace] now")
    mailbox.append("B [Oslo] two", "C [Oslo] three", remember=Remember.AUTO)
    waiting = mailbox.waiting()
    first, last = waiting[0], waiting[-1]
    assert now == waiting[1].id
    for job in (first, last):
        effect = mailbox.indexing.prepare(job)
        with mailbox.ada.lease().effect() as connection:
            effect(connection)
            connection.exec_driver_sql("UPDATE job SET state = 'done' WHERE id = %s", (job.id,))
    hand_over = mailbox.waiting()[-1]
    assert (hand_over.first_seq, hand_over.last_seq) == (1, 3)
    mailbox.decide(dead_letter.cancel, hand_over.id)
    assert [state for state, _ in mailbox.messages()] == ["none", "pending", "none", "none"]
    mailbox.run()
    assert [state for state, _ in mailbox.messages()] == ["none", "made", "none", "none"]
