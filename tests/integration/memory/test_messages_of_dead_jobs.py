"""How search and memory treat the messages of dead, cancelled and discarded jobs."""

from __future__ import annotations

from memci.domain.job import JobKind, JobSource
from memci.message import Remember
from memci.queue import lane_control
from tests.support.mailbox import Mailbox


def test_the_messages_of_a_cancelled_job_are_found_and_not_remembered(mailbox: Mailbox) -> None:
    job = mailbox.append("tomato soup [Kitchen]", "basil [Kitchen]")
    mailbox.append("rain [Oslo]")
    mailbox.decide(lane_control.cancel, job)
    assert mailbox.messages() == [("none", False), ("none", False), ("pending", False)]
    assert [kind for kind, _ in mailbox.run()] == [JobKind.CREATE, JobKind.INDEX_MESSAGES]
    assert mailbox.messages() == [("none", True), ("none", True), ("made", True)]
    assert len(mailbox.ada.nodes("memory")) == 1
    found = mailbox.ada.rows("SELECT seq FROM message_term WHERE agent_id = %s AND term = 'tomato'")
    assert [row.seq for row in found] == [1]


def test_the_messages_of_a_dead_job_are_found_and_may_still_be_remembered(
    mailbox: Mailbox,
) -> None:
    job = mailbox.append("tomato soup [Kitchen]")
    mailbox.bury(job)
    assert mailbox.run() == [(JobKind.INDEX_MESSAGES, {"indexed": 1, "handed_over": 0})]
    assert mailbox.messages() == [("pending", True)]
    mailbox.decide(lane_control.replay, job, at_tail=False)
    ((kind, result),) = mailbox.run()
    assert (kind, result["indexed"], result["memories"]) == (JobKind.CREATE, 0, 1)
    assert mailbox.messages() == [("made", True)]


def test_a_replay_at_the_tail_still_makes_memories(mailbox: Mailbox) -> None:
    job = mailbox.append("tomato soup [Kitchen]")
    mailbox.bury(job)
    mailbox.decide(lane_control.replay, job, at_tail=True)
    assert [kind for kind, _ in mailbox.run()] == [JobKind.INDEX_MESSAGES, JobKind.CREATE]
    assert mailbox.messages() == [("made", True)]


def test_a_discarded_job_leaves_its_messages_found_and_indexes_them_once(mailbox: Mailbox) -> None:
    job = mailbox.append("tomato soup [Kitchen]")
    mailbox.bury(job)
    mailbox.run()
    mailbox.decide(lane_control.discard, job)
    assert mailbox.waiting() == []
    assert mailbox.messages() == [("none", True)]


def test_messages_that_killed_workers_are_not_indexed_before_a_decision(mailbox: Mailbox) -> None:
    job = mailbox.append("tomato soup [Kitchen]")
    mailbox.bury(job, lane_control.WORKER_LOST)
    assert mailbox.waiting() == []
    mailbox.decide(lane_control.discard, job)
    assert [kind for kind, _ in mailbox.run()] == [JobKind.INDEX_MESSAGES]
    assert mailbox.messages() == [("none", True)]


def test_a_cancelled_hand_over_is_not_submitted_again(mailbox: Mailbox) -> None:
    """Otherwise messages with ``auto`` would outgrow the window again."""
    mailbox.append("A [Grace] one", "B [Oslo] two", remember=Remember.AUTO)
    (index,) = mailbox.waiting()
    effect = mailbox.indexing.prepare(index)
    with mailbox.ada.lease().effect() as connection:
        effect(connection)
        connection.exec_driver_sql("UPDATE job SET state = 'done' WHERE id = %s", (index.id,))
    (hand_over,) = mailbox.waiting()
    assert (hand_over.kind, hand_over.source) == (JobKind.CREATE, JobSource.LANE)
    mailbox.decide(lane_control.cancel, hand_over.id)
    mailbox.append("C [Luigi] three", remember=Remember.AUTO)
    mailbox.run()
    assert [state for state, _ in mailbox.messages()] == ["none", "made", "none"]


def test_cancelling_a_hand_over_changes_only_its_own_messages(mailbox: Mailbox) -> None:
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
    mailbox.decide(lane_control.cancel, hand_over.id)
    assert [state for state, _ in mailbox.messages()] == ["none", "pending", "none", "none"]
    mailbox.run()
    assert [state for state, _ in mailbox.messages()] == ["none", "made", "none", "none"]
