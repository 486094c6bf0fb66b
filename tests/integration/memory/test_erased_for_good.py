"""M25: what was erased does not come back, whoever brings it again or works at it still."""

from __future__ import annotations

import pytest

from memci.errors import ErasedError, FencedOffError
from memci.message import Remember
from memci.queue import lane_control
from tests.support.erasing import Eraser, erased
from tests.support.mailbox import Mailbox


def test_what_was_erased_is_passed_over_when_it_is_erased_again(
    told: Mailbox, eraser: Eraser
) -> None:
    eraser.erase("m1")
    assert eraser.erase("m1", "m2").body["message_ids"] == ["m2"]
    assert eraser.erase("m1").body["rows"] == {}


def test_an_erased_message_is_refused_with_all_that_came_with_it(
    told: Mailbox, eraser: Eraser
) -> None:
    eraser.erase("m1")
    assert erased(told.ada, "m1", "m2", "m9") == {"m1"}
    with pytest.raises(ErasedError, match=r"messages\[1\]: 'm1' was erased") as refused:
        told.append("new", "one is about [Grace] in [Oslo]", ids=["m9", "m1"])
    assert (refused.value.field, refused.value.places) == ("messages[1]", (1,))
    assert len(told.messages()) == 2
    with pytest.raises(ErasedError, match=r"message_ids\[0\]"):
        told.ask("m1", "m2")


def test_the_database_itself_refuses_whatever_brings_it_back(told: Mailbox, eraser: Eraser) -> None:
    eraser.erase("m1")
    statement = (
        "INSERT INTO message (agent_id, seq, id, role, said_at, remember)"
        " VALUES (%s, 9, %s, 'user', now(), 'now')"
    )
    with pytest.raises(Exception, match="erased for good"):
        told.ada.execute(statement, "m1")
    told.ada.execute(statement, "m8")


def test_a_job_that_waits_does_nothing_with_what_was_erased(
    mailbox: Mailbox, eraser: Eraser
) -> None:
    mailbox.append("one [Grace]", "two [Oslo]", ids=["m1", "m2"])
    eraser.erase("m1")
    mailbox.run()
    assert sorted(mailbox.ada.memories()) == ["two"]


def test_a_dead_job_run_again_does_nothing_with_what_was_erased(
    mailbox: Mailbox, eraser: Eraser
) -> None:
    job_id = mailbox.append("one [Grace]", "two [Oslo]", ids=["m1", "m2"])
    mailbox.bury(job_id)
    eraser.erase("m1")
    assert mailbox.decide(lane_control.replay, job_id, at_tail=True)
    mailbox.run()
    assert sorted(mailbox.ada.memories()) == ["two"]


def test_jobs_name_it_no_more(mailbox: Mailbox, eraser: Eraser) -> None:
    mailbox.append("one [Grace]", "two [Oslo]", ids=["m1", "m2"], remember=Remember.NEVER)
    mailbox.run()
    mailbox.ask("m1", "m2")
    eraser.erase("m1")
    assert [job.payload for job in mailbox.waiting()] == [{"seqs": [2]}]


def test_a_job_under_way_is_fenced_off_and_done_anew(mailbox: Mailbox, eraser: Eraser) -> None:
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
