"""M25: erased messages do not come back from producers, queued jobs or running jobs."""

from __future__ import annotations

import pytest

from memci.errors import ErasedError, FencedOffError
from memci.message import Remember
from memci.queue import lane_control
from tests.support.erasing import Eraser, erased
from tests.support.mailbox import Mailbox


def test_a_message_that_was_erased_before_is_skipped(seeded: Mailbox, eraser: Eraser) -> None:
    eraser.erase("m1")
    assert eraser.erase("m1", "m2").body["message_ids"] == ["m2"]
    assert eraser.erase("m1").body["rows"] == {}


def test_an_append_with_an_erased_message_is_refused_completely(
    seeded: Mailbox, eraser: Eraser
) -> None:
    eraser.erase("m1")
    assert erased(seeded.ada, "m1", "m2", "m9") == {"m1"}
    with pytest.raises(ErasedError, match=r"messages\[1\]: 'm1' was erased") as refused:
        seeded.append("new", "one is about [Grace] in [Oslo]", ids=["m9", "m1"])
    assert (refused.value.field, refused.value.places) == ("messages[1]", (1,))
    assert len(seeded.messages()) == 2
    with pytest.raises(ErasedError, match=r"message_ids\[0\]"):
        seeded.ask("m1", "m2")


def test_the_database_refuses_to_insert_an_erased_message(seeded: Mailbox, eraser: Eraser) -> None:
    eraser.erase("m1")
    statement = (
        "INSERT INTO message (agent_id, seq, id, role, said_at, remember)"
        " VALUES (%s, 9, %s, 'user', now(), 'now')"
    )
    with pytest.raises(Exception, match="erased for good"):
        seeded.ada.execute(statement, "m1")
    seeded.ada.execute(statement, "m8")


def test_a_queued_job_ignores_erased_messages(mailbox: Mailbox, eraser: Eraser) -> None:
    mailbox.append("one [Grace]", "two [Oslo]", ids=["m1", "m2"])
    eraser.erase("m1")
    mailbox.run()
    assert sorted(mailbox.ada.memories()) == ["two"]


def test_a_replayed_dead_job_ignores_erased_messages(mailbox: Mailbox, eraser: Eraser) -> None:
    job_id = mailbox.append("one [Grace]", "two [Oslo]", ids=["m1", "m2"])
    mailbox.bury(job_id)
    eraser.erase("m1")
    assert mailbox.decide(lane_control.replay, job_id, at_tail=True)
    mailbox.run()
    assert sorted(mailbox.ada.memories()) == ["two"]


def test_an_erased_message_is_removed_from_job_payloads(mailbox: Mailbox, eraser: Eraser) -> None:
    mailbox.append("one [Grace]", "two [Oslo]", ids=["m1", "m2"], remember=Remember.NEVER)
    mailbox.run()
    mailbox.ask("m1", "m2")
    eraser.erase("m1")
    assert [job.payload for job in mailbox.waiting()] == [{"seqs": [2]}]


def test_a_running_job_is_fenced_off_and_runs_again(mailbox: Mailbox, eraser: Eraser) -> None:
    mailbox.append("one [Grace]", "two [Oslo]", ids=["m1", "m2"])
    (job,) = mailbox.waiting()
    lease = mailbox.ada.lease()
    effect = mailbox.ada.creation().prepare(job)
    eraser.erase("m1")
    with pytest.raises(FencedOffError), lease.effect() as connection:
        effect(connection)
    assert mailbox.ada.lane().wake_at is not None, "somebody is called to do it"
    mailbox.run()
    assert sorted(mailbox.ada.memories()) == ["two"]
