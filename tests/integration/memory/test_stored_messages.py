"""Stored messages that a producer hands to memory by their ids."""

from __future__ import annotations

from uuid import uuid4

import pytest

from memci.domain.job import JobKind
from memci.errors import ConflictError, InvalidInputError
from memci.message import Remember
from memci.queue import lane_control
from tests.support.mailbox import Mailbox


@pytest.fixture
def stored(mailbox: Mailbox) -> Mailbox:
    """A mailbox with five indexed messages, m1 to m5, that are not remembered."""
    texts = [f"{name} of [Grace]" for name in ("one", "two", "three", "four", "five")]
    ids = [f"m{number}" for number in range(1, 6)]
    mailbox.append(*texts, ids=ids, remember=Remember.NEVER)
    mailbox.run()
    assert mailbox.messages() == [("none", True)] * 5
    return mailbox


def states(mailbox: Mailbox) -> list[str]:
    return [state for state, _ in mailbox.messages()]


def memories(mailbox: Mailbox) -> list[str]:
    return sorted(mailbox.ada.memories())


def test_only_requested_messages_are_remembered(stored: Mailbox) -> None:
    assert stored.ask("m4", "m1", "m1")
    assert states(stored) == ["pending", "none", "none", "pending", "none"]
    embedded = len(stored.ada.models.embedder.embedded)
    ((kind, result),) = stored.run()
    assert (kind, result["memories"], result["indexed"]) == (JobKind.CREATE, 2, 0)
    assert len(stored.ada.models.embedder.embedded) == embedded, "vectors of the index serve again"
    assert memories(stored) == ["four", "one"]
    assert states(stored) == ["made", "none", "none", "made", "none"]


def test_a_repeated_request_makes_no_memory_twice(stored: Mailbox) -> None:
    first = uuid4()
    assert stored.ask("m1", "m2", job_id=first)
    assert not stored.ask("m1", "m2", job_id=first), "the same task once more"
    assert not stored.ask("m2", "m1")
    assert stored.ask("m2", "m3")
    assert len(stored.waiting()) == 2
    stored.run()
    assert not stored.ask("m1", "m2", "m3", job_id=first)
    assert memories(stored) == ["one", "three", "two"]


def test_messages_of_the_window_can_be_requested(mailbox: Mailbox) -> None:
    mailbox.append("A [Grace] one", "B [Oslo] two", ids=["a", "b"], remember=Remember.AUTO)
    assert mailbox.ask("b")
    mailbox.run()
    assert states(mailbox) == ["made", "made"]  # the first one has outgrown the window
    assert len(mailbox.ada.nodes("memory")) == 2


def test_messages_can_be_requested_before_they_are_indexed(mailbox: Mailbox) -> None:
    mailbox.append("A [Grace] one", ids=["a"], remember=Remember.NEVER)
    index = mailbox.waiting()[0]
    assert mailbox.ask("a")
    mailbox.decide(lane_control.cancel, index.id)
    mailbox.run()
    assert mailbox.messages() == [("made", True)]


@pytest.mark.parametrize("ids", [["nobody"], ["m1", "nobody"]])
def test_an_unknown_message_is_named_and_nothing_is_done(stored: Mailbox, ids: list[str]) -> None:
    with pytest.raises(
        InvalidInputError, match=rf"1 of {len(ids)} .*message_ids\[{len(ids) - 1}\]"
    ):
        stored.ask(*ids)
    assert stored.waiting() == []
    assert states(stored) == ["none"] * 5


def test_another_agents_messages_are_unknown(stored: Mailbox) -> None:
    stored.ada.execute("UPDATE message SET id = 'mine' WHERE agent_id = %s AND seq = 1")
    with stored.ada.database.agent_transaction("bob") as connection:
        connection.exec_driver_sql(
            "INSERT INTO message (agent_id, seq, id, role, content, said_at, remember)"
            " VALUES ('bob', 1, 'his', 'user', 'secret', now(), 'never')"
        )
    with pytest.raises(InvalidInputError):
        stored.ask("his")


def test_a_task_id_used_for_something_else_is_refused(stored: Mailbox) -> None:
    job = stored.append("six of [Grace]")
    with pytest.raises(ConflictError):
        stored.ask("m1", job_id=job)
    assert states(stored)[0] == "none"


def test_a_task_id_used_for_other_messages_is_refused(stored: Mailbox) -> None:
    job = uuid4()
    stored.ask("m1", job_id=job)
    for others in (["m2"], ["m1", "m2"]):
        with pytest.raises(ConflictError):
            stored.ask(*others, job_id=job)
    assert states(stored)[:2] == ["pending", "none"]


def test_a_cancelled_request_can_be_made_again(stored: Mailbox) -> None:
    job = uuid4()
    stored.ask("m1", "m3", job_id=job)
    between = uuid4()
    stored.ask("m2", job_id=between)
    stored.decide(lane_control.cancel, between)
    assert states(stored)[:3] == ["pending", "none", "pending"]
    stored.decide(lane_control.cancel, job)
    assert states(stored) == ["none"] * 5
    assert not stored.ask("m1", "m3", job_id=job), "the same message, delivered again"
    assert stored.ask("m1")
    stored.run()
    assert memories(stored) == ["one"]


def test_messages_between_the_requested_ones_keep_their_own_job(stored: Mailbox) -> None:
    own = stored.append("six of [Grace]", ids=["m6"])
    stored.append("seven of [Grace]", ids=["m7"], remember=Remember.NEVER)
    asked = uuid4()
    stored.ask("m1", "m7", job_id=asked)
    stored.bury(own)
    stored.run()
    assert states(stored)[5:] == ["pending", "made"]
    stored.decide(lane_control.discard, own)
    assert states(stored)[5:] == ["none", "made"]
    assert memories(stored) == ["one", "seven"]
