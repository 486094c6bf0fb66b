"""Indexing of messages that are not handed to memory, and the hand-over of R19."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memci.domain.job import Job
from memci.jobs.index import MessageIndexing, WindowLimits
from memci.storage.session import Connection
from tests.support.network import AgentUnderTest


class Mailbox:
    """Takes the jobs that an effect submits."""

    def __init__(self) -> None:
        self.jobs: list[tuple[str, str, Mapping[str, Any], int, int]] = []

    def __call__(
        self,
        connection: Connection,
        agent_id: str,
        kind: str,
        payload: Mapping[str, Any],
        first_seq: int,
        last_seq: int,
    ) -> None:
        self.jobs.append((agent_id, kind, payload, first_seq, last_seq))


def index(ada: AgentUnderTest, job: Job, mailbox: Mailbox, tokens: int, recent: int) -> Any:
    limits = WindowLimits(tokens, recent)
    handler = MessageIndexing(ada.database, ada.models, limits, mailbox)
    effect = handler.prepare(job)
    with ada.lease().effect() as connection:
        return effect(connection)


def test_messages_become_searchable_and_no_memories(ada: AgentUnderTest) -> None:
    mailbox = Mailbox()
    job = ada.say("tomato soup", "basil and tomato", remember="never")
    assert index(ada, job, mailbox, tokens=1, recent=0) == {"indexed": 2, "handed_over": 0}
    assert ada.nodes() == []
    terms = ada.rows(
        "SELECT term, seq, tf, length FROM message_term WHERE agent_id = %s AND term = %s", "tomato"
    )
    assert [tuple(row) for row in terms] == [("tomato", 1, 1, 2), ("tomato", 2, 1, 3)]
    assert (ada.lane().indexed_messages, ada.lane().indexed_terms) == (2, 5)
    assert index(ada, job, mailbox, tokens=1, recent=0)["indexed"] == 0
    assert (ada.lane().indexed_messages, ada.lane().indexed_terms) == (2, 5)
    assert mailbox.jobs == []


def test_what_outgrows_the_window_is_handed_over_once(ada: AgentUnderTest) -> None:
    mailbox = Mailbox()
    first = ada.say("A [Grace] one", "B two", remember="auto")
    assert index(ada, first, mailbox, tokens=30, recent=2)["handed_over"] == 0
    ada.say("now [Oslo]", remember="now")
    more = ada.say(*(f"{name} [Luigi] three" for name in "CDE"), remember="auto")
    assert index(ada, more, mailbox, tokens=30, recent=2)["handed_over"] == 3
    assert index(ada, more, mailbox, tokens=30, recent=2)["handed_over"] == 0
    (job,) = mailbox.jobs
    assert job == ("ada", "memci.memory.create", {"remember": "auto"}, 1, 4)
    embedded = list(ada.models.embedder.embedded)
    result = ada.create(ada.job(1, 4, {"remember": "auto"}))
    assert ada.models.embedder.embedded == embedded  # vectors of the index serve the memories
    assert result["memories"] == 3
    states = ada.rows("SELECT memory_state FROM message WHERE agent_id = %s ORDER BY seq")
    assert [row.memory_state for row in states] == [
        "made", "made", "pending", "made", "none", "none",
    ]  # fmt: skip


def test_within_the_recent_interactions_nothing_is_handed_over(ada: AgentUnderTest) -> None:
    mailbox = Mailbox()
    job = ada.say("word " * 100, remember="auto")
    assert index(ada, job, mailbox, tokens=10, recent=8)["handed_over"] == 0


def test_an_interaction_goes_whole(ada: AgentUnderTest) -> None:
    mailbox = Mailbox()
    ada.say("question one", remember="auto")
    ada.say("answer one", role="assistant", remember="auto")
    ada.say("question two", remember="auto")
    job = ada.say("answer two", role="assistant", remember="auto")
    assert index(ada, job, mailbox, tokens=1, recent=1)["handed_over"] == 2
    assert mailbox.jobs[0][3:] == (1, 2)
