"""Indexing of messages that are not handed to memory, and the hand-over of R19."""

from __future__ import annotations

from typing import Any

from memci.commands.erase_search import Words, find_messages
from memci.domain.job import Job, JobKind
from memci.jobs.index import MessageIndexing
from memci.storage.network.edits import withhold
from tests.support.network import AgentUnderTest


def handed_over(ada: AgentUnderTest) -> list[Any]:
    """Return the jobs of creation that indexing has submitted."""
    return [
        (ada.agent_id, JobKind.CREATE, row.payload, row.first_seq, row.last_seq)
        for row in ada.rows(
            "SELECT payload, first_seq, last_seq FROM job WHERE agent_id = %s AND kind = %s"
            " AND source = 'lane' ORDER BY ordinal",
            JobKind.CREATE,
        )
    ]


def index(ada: AgentUnderTest, job: Job, tokens: int, recent: int) -> Any:
    handler = MessageIndexing(ada.database, ada.models, tokens, recent)
    effect = handler.prepare(job)
    with ada.lease().effect() as connection:
        return effect(connection)


def test_messages_become_searchable_and_no_memories(ada: AgentUnderTest) -> None:
    job = ada.say("tomato soup", "basil and tomato", remember="never")
    assert index(ada, job, tokens=1, recent=0) == {"indexed": 2, "handed_over": 0}
    assert ada.nodes() == []
    terms = ada.rows(
        "SELECT term, seq, tf, length FROM message_term WHERE agent_id = %s AND term = %s", "tomato"
    )
    assert [tuple(row) for row in terms] == [("tomato", 1, 1, 2), ("tomato", 2, 1, 3)]
    assert (ada.lane().indexed_messages, ada.lane().indexed_terms) == (2, 5)
    assert index(ada, job, tokens=1, recent=0)["indexed"] == 0
    assert (ada.lane().indexed_messages, ada.lane().indexed_terms) == (2, 5)
    assert handed_over(ada) == []


def test_what_was_withheld_before_is_found_for_erasure(ada: AgentUnderTest) -> None:
    job = ada.say("tomato soup")
    with ada.database.agent_transaction(ada.agent_id) as connection:
        withhold(connection, ada.agent_id, {1: [(0, 11)]})
    assert index(ada, job, tokens=100, recent=8)["indexed"] == 1
    words = Words.of("tomato", ada.models.lexicon)
    assert len(find_messages(ada.database, ada.agent_id, words, most=5)) == 1


def test_messages_that_outgrow_the_window_are_handed_over_once(ada: AgentUnderTest) -> None:
    first = ada.say("A [Grace] one", "B two", remember="auto")
    assert index(ada, first, tokens=30, recent=2)["handed_over"] == 0
    ada.say("now [Oslo]", remember="now")
    more = ada.say(*(f"{name} [Luigi] three" for name in "CDE"), remember="auto")
    assert index(ada, more, tokens=30, recent=2)["handed_over"] == 3
    assert index(ada, more, tokens=30, recent=2)["handed_over"] == 0
    (job,) = handed_over(ada)
    assert job == ("ada", "memci.memory.create", {"remember": "auto"}, 1, 4)
    embedded = list(ada.models.embedder.embedded)
    result = ada.create(ada.job(1, 4, {"remember": "auto"}))
    assert ada.models.embedder.embedded == embedded  # memories reuse the vectors of the index
    assert result["memories"] == 3
    states = ada.rows("SELECT memory_state FROM message WHERE agent_id = %s ORDER BY seq")
    assert [row.memory_state for row in states] == [
        "made", "made", "pending", "made", "none", "none",
    ]  # fmt: skip


def test_recent_interactions_are_not_handed_over(ada: AgentUnderTest) -> None:
    job = ada.say("word " * 100, remember="auto")
    assert index(ada, job, tokens=10, recent=8)["handed_over"] == 0


def test_an_interaction_is_handed_over_whole(ada: AgentUnderTest) -> None:
    ada.say("question one", remember="auto")
    ada.say("answer one", role="assistant", remember="auto")
    ada.say("question two", remember="auto")
    job = ada.say("answer two", role="assistant", remember="auto")
    assert index(ada, job, tokens=1, recent=1)["handed_over"] == 2
    assert handed_over(ada)[0][3:] == (1, 2)
