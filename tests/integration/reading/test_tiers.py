"""Reads see memories by tier, session, user and time (R5, R6)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from memci.domain.memory.parameters import MemoryParameters
from memci.domain.memory.recall import Miss
from memci.errors import InvalidInputError, NotFoundError
from memci.reading.context import ContextReader
from memci.reading.lists.listings import Listings
from memci.reading.recall import Recall
from memci.reading.search import Search
from memci.schemas.reads import (
    ContextRequest,
    RecallAnswer,
    RecallRequest,
    RecallText,
    SearchRequest,
)
from memci.storage.sessions import end_session
from tests.support.stored import BEGIN, Reader, Stored

MAY = BEGIN + timedelta(days=60)
JULY = datetime(2026, 7, 1, tzinfo=UTC)
_SUPERSEDE = """
UPDATE node SET superseded_at = '2026-05-01', superseded_by = %s
 WHERE agent_id = 'alice' AND id = %s
"""
_VERSION = """
INSERT INTO node_version (agent_id, node_id, replaced_by, reason, content, phrase, keywords,
                          language, type, message_seqs, said_at, until)
SELECT agent_id, id, %s, 'superseded', content, phrase, keywords, language, type, message_seqs,
       said_at, '2026-05-01' FROM node WHERE agent_id = 'alice' AND id = %s
"""


def stable_id(value: object) -> str:
    """Return a test id that is the same in every process: sets have no order."""
    return str(sorted(value) if isinstance(value, set) else value)


@pytest.fixture
def filled(alice: Stored) -> Stored:
    """Four memories at the entity `pump`: short- and long-term, of sessions and users."""
    pump = alice.entity("pump")
    for text, session, user, tier in (
        ("short pump here", "s1", "ann", "short"),
        ("short pump there", "s2", "ann", "short"),
        ("long pump here", "s1", "ann", "long"),
        ("long pump of bob", "s3", "bob", "long"),
    ):
        node = alice.remember(text, session=session, user=user)
        if tier == "short":
            alice.execute("UPDATE node SET tier = 'short' WHERE agent_id = %s AND id = %s", node)
        alice.link(pump, node)
        alice.link(node, pump)
    return alice


SEEN = [
    ({}, {"short pump here", "short pump there", "long pump here", "long pump of bob"}),
    ({"session_id": "s1"}, {"short pump here", "long pump here", "long pump of bob"}),
    ({"session_id": "s9"}, {"long pump here", "long pump of bob"}),
    ({"user_id": "ann"}, {"long pump here"}),
    ({"user_id": "bob"}, {"long pump of bob"}),
    ({"session_id": "s2", "user_id": "ann"}, {"short pump there", "long pump here"}),
]


@pytest.mark.parametrize(("scope", "expected"), SEEN, ids=stable_id)
class TestTiers:
    @pytest.mark.parametrize("keywords", [["pump"], []])
    def test_recall(self, reader: Reader, filled: Stored, scope: Any, expected: Any, keywords: Any):
        request = RecallRequest(keywords=keywords, format="structured", **scope)
        answer = Recall(*reader.parts).run("alice", request)
        assert isinstance(answer, RecallAnswer)
        assert {each.content for each in answer.memories} == expected

    def test_search(self, reader: Reader, filled: Stored, scope: Any, expected: Any):
        answer = Search(*reader.parts).run("alice", SearchRequest(query="pump", k=10, **scope))
        assert {each.text for each in answer.hits} == expected

    @pytest.mark.parametrize("query", ["pump", None])
    def test_context(self, reader: Reader, filled: Stored, scope: Any, expected: Any, query: Any):
        request = ContextRequest(query=query, budget_tokens=2_000, **scope)
        answer = ContextReader(*reader.parts).run("alice", request)
        given = " ".join(item.text for item in answer.items if item.section != "query")
        everything = SEEN[0][1]
        assert {text for text in everything if text in given} == expected


def test_an_invisible_memory_counts_as_never_known(reader: Reader, filled: Stored):
    request = RecallRequest(keywords=["there"], session_id="s1", format="structured")
    answer = Recall(*reader.parts).run("alice", request)
    assert answer.miss is Miss.NEVER_KNOWN


@pytest.fixture
def forgotten(reader: Reader, filled: Stored) -> Stored:
    """Forgotten memories of a salary, with dangling links from the focus."""
    for name, user, session, tier in [
        ("ann here", "ann", "s1", "long"), ("ann there", "ann", "s2", "short"),
        ("bob there", "bob", "s2", "long"), ("nobody", None, None, "long"),
    ]:  # fmt: skip
        seq = filled.say(f"salary {name}", user=user, session=session)
        node = filled.remember(f"salary {name}", [seq], user=user, session=session)
        if tier == "short":
            filled.execute("UPDATE node SET tier = 'short' WHERE agent_id = %s AND id = %s", node)
        filled.link(1, node, hint=f"salary {name}")
        filled.forget(node)
    return filled


@pytest.mark.parametrize(
    ("scope", "expected"),
    [
        ({}, {"ann here", "ann there", "bob there", "nobody"}),
        ({"session_id": "s2"}, {"ann here", "ann there", "bob there", "nobody"}),
        ({"session_id": "s1"}, {"ann here", "bob there", "nobody"}),
        ({"user_id": "ann"}, {"ann here"}),
        ({"user_id": "ann", "session_id": "s2"}, {"ann here", "ann there"}),
        ({"user_id": "bob"}, {"bob there"}),
        ({"user_id": "eve"}, set()),
        ({"as_of": "2020-01-01T00:00:00Z"}, set()),
    ],
    ids=stable_id,
)
@pytest.mark.parametrize("keywords", [["salary"], ["salary", "pump"]], ids=stable_id)
def test_forgotten_memories_are_reported_only_to_their_viewers(
    reader: Reader, forgotten: Stored, scope: Any, expected: Any, keywords: Any
):
    """This holds for dangling links, and for the miss if nothing matches."""
    request = RecallRequest(keywords=keywords, format="structured", **scope)
    answer = Recall(*reader.parts).run("alice", request)
    assert isinstance(answer, RecallAnswer)
    assert {each.hint for each in answer.forgotten} == {f"salary {each}" for each in expected}
    if not answer.memories:
        assert answer.miss is (Miss.FORGOTTEN if expected else Miss.NEVER_KNOWN)


def test_without_a_tier_in_the_trail_a_memory_was_short_term(reader: Reader, forgotten: Stored):
    forgotten.execute("UPDATE trail SET details = '{}' WHERE agent_id = %s AND event = 'forgotten'")
    request = RecallRequest(keywords=["salary"], format="structured", session_id="s2")
    answer = Recall(*reader.parts).run("alice", request)
    assert isinstance(answer, RecallAnswer)
    assert {each.hint for each in answer.forgotten} == {"salary ann there", "salary bob there"}


@pytest.mark.parametrize(
    ("scope", "miss"),
    [
        ({}, Miss.PENDING),
        ({"user_id": "ann"}, Miss.PENDING),
        ({"user_id": "ann", "session_id": "s1"}, Miss.PENDING),
        ({"user_id": "bob"}, Miss.NEVER_KNOWN),
        # It may become a long-term memory, which all sessions see.
        ({"session_id": "s2"}, Miss.PENDING),
        ({"user_id": "bob", "session_id": "s1"}, Miss.NEVER_KNOWN),
        ({"as_of": "2020-01-01T00:00:00Z"}, Miss.NEVER_KNOWN),
    ],
    ids=stable_id,
)
def test_pending_messages_are_reported_only_to_their_viewers(
    reader: Reader, filled: Stored, scope: Any, miss: Any
):
    seq = filled.say("the salary of ann", user="ann", session="s1", state="pending")
    filled.queue(seq, seq)
    request = RecallRequest(keywords=["salary"], format="structured", **scope)
    answer = Recall(*reader.parts).run("alice", request)
    assert isinstance(answer, RecallAnswer)
    assert answer.miss is miss


def test_messages_of_other_sessions_are_found(reader: Reader, alice: Stored):
    alice.say("the pump is broken", session="s2")
    answer = Search(*reader.parts).run("alice", SearchRequest(query="pump", session_id="s1"))
    assert [each.text for each in answer.hits] == ["the pump is broken"]


# Superseded memories


@pytest.fixture
def moved(alice: Stored) -> tuple[int, int, int]:
    """Ann lived in Paris, and lives in Rome since May; Paris matches questions better."""
    ann = alice.entity("Ann")
    old = alice.say("Ann lives in Paris, a home by the river", said_at=BEGIN)
    new = alice.say("Ann lives in Rome", said_at=MAY)
    paris = alice.remember("Ann lives in Paris, a home by the river", [old], said_at=BEGIN)
    dog = alice.remember("Ann has a dog", said_at=BEGIN)
    rome = alice.remember("Ann lives in Rome", [new], said_at=MAY)
    for node, strength in ((paris, 1.0), (dog, 0.9), (rome, 0.2)):
        alice.link(ann, node, strength=strength)
        alice.link(node, ann, strength=strength)
    for statement, values in (
        (_SUPERSEDE, (rome, paris)),
        (_VERSION, (rome, paris)),
    ):
        with alice.reader.database.agent_transaction("alice") as connection:
            connection.exec_driver_sql(statement, values)
    return paris, dog, rome


def recall(reader: Reader, **fields: Any) -> list[tuple[int, int | None]]:
    request = RecallRequest(format="structured", **fields)
    answer = Recall(*reader.parts).run("alice", request)
    assert isinstance(answer, RecallAnswer)
    return [(each.node_id, each.superseded_by) for each in answer.memories]


def test_recall_puts_current_memories_first_and_marks_superseded_ones(reader: Reader, moved: Any):
    paris, dog, rome = moved
    assert recall(reader, keywords=["Ann"]) == [(rome, None), (paris, rome), (dog, None)]
    # The newer memory is given although it does not match.
    assert recall(reader, keywords=["Paris"]) == [(rome, None), (paris, rome)]
    assert recall(reader, keywords=["Paris"], limit=1) == [(rome, None)]


def test_recall_follows_a_chain_of_superseded_memories(reader: Reader, alice: Stored, moved: Any):
    paris, _, rome = moved
    oslo = alice.remember("Ann lives in Oslo", said_at=JULY)
    alice.link(1, oslo, strength=0.1)
    alice.execute("UPDATE node SET superseded_at = '2026-07-01', superseded_by = 5"
                  " WHERE agent_id = %s AND id = %s", rome)  # fmt: skip
    assert recall(reader, keywords=["Paris"]) == [(oslo, None), (rome, oslo), (paris, rome)]
    june = datetime(2026, 6, 1, tzinfo=UTC)
    assert recall(reader, keywords=["Paris"], as_of=june) == [(rome, None), (paris, rome)]


def test_the_text_of_a_superseded_memory_has_its_end(reader: Reader, moved: Any):
    answer = Recall(*reader.parts).run("alice", RecallRequest(keywords=["Ann"]))
    assert isinstance(answer, RecallText)
    first, second, _ = answer.text.split("\n---\n")
    assert first == "[memory] Ann lives in Rome"
    assert second.startswith("[memory] (until 2026-05-01) Ann lives in Paris")


def test_recall_as_of_a_time_gives_the_memories_that_held_then(reader: Reader, moved: Any):
    paris, dog, rome = moved
    april = datetime(2026, 4, 1, tzinfo=UTC)
    assert recall(reader, keywords=[], as_of=april) == [(paris, None), (dog, None)]
    request = RecallRequest(keywords=["Ann"], as_of=april)
    answer = Recall(*reader.parts).run("alice", request)
    assert isinstance(answer, RecallText)
    assert "until" not in answer.text
    assert recall(reader, keywords=[], as_of=BEGIN - timedelta(days=1)) == []
    assert rome in [node for node, _ in recall(reader, keywords=[], as_of=MAY)]


@pytest.mark.parametrize("sources", [["memory"], ["chat", "memory"]])
def test_search_puts_current_memories_first(reader: Reader, moved: Any, sources: list[str]):
    paris, _, rome = moved
    request = SearchRequest(query="Ann lives Paris home by the river", sources=sources)
    hits = Search(*reader.parts).run("alice", request).hits
    assert "Rome" in hits[0].text
    assert "Paris" in hits[1].text
    assert [each.score for each in hits] == sorted((each.score for each in hits), reverse=True)
    old = [each for each in hits if each.node_id == paris]
    assert [each.superseded_by for each in old] == [rome] * len(old)


def test_search_as_of_a_time_gives_no_later_memories(reader: Reader, moved: Any):
    request = SearchRequest(query="where Ann lives", as_of=datetime(2026, 4, 1, tzinfo=UTC))
    hits = Search(*reader.parts).run("alice", request).hits
    assert hits
    assert not any("Rome" in each.text for each in hits)
    assert all(each.superseded_by is None for each in hits)


def test_context_has_the_current_memory(reader: Reader, moved: Any):
    request = ContextRequest(query="Ann Paris river home", budget_tokens=400, sources=["memory"])
    answer = ContextReader(*reader.parts).run("alice", request)
    given = "".join(item.text for item in answer.items)
    assert given.index("Rome") > -1


def test_context_as_of_a_time_has_no_later_memories(reader: Reader, moved: Any):
    request = ContextRequest(budget_tokens=400, as_of=datetime(2026, 4, 1, tzinfo=UTC))
    answer = ContextReader(*reader.parts).run("alice", request)
    given = "".join(item.text for item in answer.items)
    assert "Paris" in given
    assert "Rome" not in given


# Histories and lists


def test_the_history_of_either_node_has_both_versions(reader: Reader, moved: Any):
    paris, dog, rome = moved
    listings = Listings(reader.database)
    for node in (paris, rome):
        versions = listings.history("alice", node, None).versions
        assert [(each.node_id, each.state, each.holds) for each in versions] == [
            (paris, "superseded", False),
            (rome, "current", True),
        ]
    assert [each.node_id for each in listings.history("alice", dog, None).versions] == [dog]
    (version,) = listings.history("alice", rome, datetime(2026, 4, 1, tzinfo=UTC)).versions
    assert (version.node_id, version.holds, version.message_ids) == (paris, True, ["m1"])
    with pytest.raises(NotFoundError, match="never was"):
        listings.history("alice", 99, None)


def test_the_history_keeps_forgotten_versions(reader: Reader, alice: Stored, moved: Any):
    paris, dog, rome = moved
    for node in moved:
        alice.forget(node)
    listings = Listings(reader.database)
    versions = listings.history("alice", paris, None).versions
    assert {each.node_id: (each.state, each.content) for each in versions} == {
        paris: ("superseded", "Ann lives in Paris, a home by the river"),
        rome: ("forgotten", None),
    }
    (version,) = listings.history("alice", dog, None).versions
    assert (version.state, version.holds) == ("forgotten", False)


def test_nodes_as_of_a_time_are_the_memories_that_held(reader: Reader, moved: Any):
    paris, dog, rome = moved

    def listed(**fields: Any) -> set[int]:
        listings = Listings(reader.database)
        found = listings.nodes("alice", fields, cursor=None, limit=10)
        return {each.id for each in found.nodes}

    assert listed(as_of=datetime(2026, 4, 1, tzinfo=UTC)) == {paris, dog}
    assert listed(as_of=datetime(2026, 6, 1, tzinfo=UTC)) == {dog, rome}
    assert listed(tier="short") == set()
    assert listed(tier="long") >= {paris, dog, rome}


class TestSessions:
    def listed(self, reader: Reader, now: datetime, **page: Any) -> Any:
        listings = Listings(reader.database)
        fields = {"cursor": None, "limit": 10, **page}
        return listings.sessions("alice", MemoryParameters(), now=now, **fields)

    def test_sessions_are_paged_by_id(self, reader: Reader, alice: Stored):
        for session in ("s3", "s1", None, "s2", "s1"):
            alice.say("hello", session=session)
        now = datetime.now(UTC)
        first = self.listed(reader, now, limit=2)
        second = self.listed(reader, now, limit=2, cursor=first.next_cursor)
        found = [(each.session_id, each.messages, each.first_seq, each.last_seq)
                 for each in (*first.sessions, *second.sessions)]  # fmt: skip
        assert found == [("s1", 2, 2, 5), ("s2", 1, 4, 4), ("s3", 1, 1, 1)]
        assert second.next_cursor is None
        with pytest.raises(InvalidInputError):
            self.listed(reader, now, cursor="s1")

    def test_a_session_ends_by_call_or_by_silence(self, reader: Reader, alice: Stored):
        alice.say("hello")
        now = datetime.now(UTC)
        assert self.listed(reader, now).sessions[0].ended_at is None
        late = self.listed(reader, now + timedelta(hours=25)).sessions[0]
        # Silence begins when the last message was received, not when it was said.
        assert (late.began_at, late.last_at) == (BEGIN + timedelta(minutes=1),) * 2
        assert late.ended_at is not None
        assert timedelta(hours=23) < late.ended_at - now <= timedelta(hours=24)
        with reader.database.agent_transaction("alice") as connection:
            ended = end_session(connection, "alice", "s1")
        with reader.database.agent_transaction("alice") as connection:
            assert end_session(connection, "alice", "s1") == ended  # a second call changes nothing
            assert end_session(connection, "alice", "s9") is None
        assert ended is not None
        assert self.listed(reader, now).sessions[0].ended_at == ended[1]
        alice.say("one more thing")  # the session continues
        assert self.listed(reader, now).sessions[0].ended_at is None
