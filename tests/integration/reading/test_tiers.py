"""Which memories a read sees: of which tier, of whom, and as of when (R5, R6)."""

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
_CLAIM = """
INSERT INTO claim (agent_id, node_id, subject, attribute, seq, value, said_at)
VALUES ('alice', %s, 'ann', 'lives in', %s, 'Paris', '2026-03-02')
"""
_VERSION = """
INSERT INTO node_version (agent_id, node_id, replaced_by, reason, content, phrase, keywords,
                          language, type, message_seqs, said_at, until)
SELECT agent_id, id, %s, 'superseded', content, phrase, keywords, language, type, message_seqs,
       said_at, '2026-05-01' FROM node WHERE agent_id = 'alice' AND id = %s
"""


def shown(value: object) -> str:
    """The same in every process: sets have no order."""
    return str(sorted(value) if isinstance(value, set) else value)


@pytest.fixture
def filled(alice: Stored) -> Stored:
    """Four memories of a pump: short and long, of two sessions and two users, at one entity."""
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


@pytest.mark.parametrize(("asked", "expected"), SEEN, ids=shown)
class TestTiers:
    @pytest.mark.parametrize("keywords", [["pump"], []])
    def test_recall(self, reader: Reader, filled: Stored, asked: Any, expected: Any, keywords: Any):
        request = RecallRequest(keywords=keywords, format="structured", **asked)
        answer = Recall(*reader.parts).run("alice", request)
        assert isinstance(answer, RecallAnswer)
        assert {each.content for each in answer.memories} == expected

    def test_search(self, reader: Reader, filled: Stored, asked: Any, expected: Any):
        answer = Search(*reader.parts).run("alice", SearchRequest(query="pump", k=10, **asked))
        assert {each.text for each in answer.hits} == expected

    @pytest.mark.parametrize("query", ["pump", None])
    def test_context(self, reader: Reader, filled: Stored, asked: Any, expected: Any, query: Any):
        request = ContextRequest(query=query, budget_tokens=2_000, **asked)
        answer = ContextReader(*reader.parts).run("alice", request)
        said = " ".join(item.text for item in answer.items if item.section != "query")
        everything = SEEN[0][1]
        assert {text for text in everything if text in said} == expected


def test_what_is_out_of_sight_is_not_known_of(reader: Reader, filled: Stored):
    request = RecallRequest(keywords=["there"], session_id="s1", format="structured")
    answer = Recall(*reader.parts).run("alice", request)
    assert answer.miss is Miss.NEVER_KNOWN


@pytest.fixture
def forgotten(reader: Reader, filled: Stored) -> Stored:
    """Forgotten memories of the pump's salary, which its focus point and others still tell of."""
    for whose, user, session, tier in [
        ("ann here", "ann", "s1", "long"), ("ann there", "ann", "s2", "short"),
        ("bob there", "bob", "s2", "long"), ("nobody", None, None, "long"),
    ]:  # fmt: skip
        seq = filled.say(f"salary {whose}", user=user, session=session)
        node = filled.remember(f"salary {whose}", [seq], user=user, session=session)
        if tier == "short":
            filled.execute("UPDATE node SET tier = 'short' WHERE agent_id = %s AND id = %s", node)
        filled.link(1, node, hint=f"salary {whose}")
        filled.forget(node)
    return filled


@pytest.mark.parametrize(
    ("asked", "expected"),
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
    ids=shown,
)
@pytest.mark.parametrize("keywords", [["salary"], ["salary", "pump"]], ids=shown)
def test_what_was_out_of_sight_is_not_known_to_be_forgotten(
    reader: Reader, forgotten: Stored, asked: Any, expected: Any, keywords: Any
):
    """Neither where links lead to it, nor where nothing matches."""
    request = RecallRequest(keywords=keywords, format="structured", **asked)
    answer = Recall(*reader.parts).run("alice", request)
    assert isinstance(answer, RecallAnswer)
    assert {each.hint for each in answer.forgotten} == {f"salary {each}" for each in expected}
    if not answer.memories:
        assert answer.miss is (Miss.FORGOTTEN if expected else Miss.NEVER_KNOWN)


def test_where_no_trail_tells_the_tier_it_was_short(reader: Reader, forgotten: Stored):
    forgotten.execute("UPDATE trail SET details = '{}' WHERE agent_id = %s AND event = 'forgotten'")
    request = RecallRequest(keywords=["salary"], format="structured", session_id="s2")
    answer = Recall(*reader.parts).run("alice", request)
    assert isinstance(answer, RecallAnswer)
    assert {each.hint for each in answer.forgotten} == {"salary ann there", "salary bob there"}


@pytest.mark.parametrize(
    ("asked", "miss"),
    [
        ({}, Miss.PENDING),
        ({"user_id": "ann"}, Miss.PENDING),
        ({"user_id": "ann", "session_id": "s1"}, Miss.PENDING),
        ({"user_id": "bob"}, Miss.NEVER_KNOWN),
        # It may be a long-term memory as soon as it is one: of those all sessions know.
        ({"session_id": "s2"}, Miss.PENDING),
        ({"user_id": "bob", "session_id": "s1"}, Miss.NEVER_KNOWN),
        ({"as_of": "2020-01-01T00:00:00Z"}, Miss.NEVER_KNOWN),
    ],
    ids=shown,
)
def test_what_waits_out_of_sight_is_not_known_of(
    reader: Reader, filled: Stored, asked: Any, miss: Any
):
    seq = filled.say("the salary of ann", user="ann", session="s1", state="pending")
    filled.queue(seq, seq)
    request = RecallRequest(keywords=["salary"], format="structured", **asked)
    answer = Recall(*reader.parts).run("alice", request)
    assert isinstance(answer, RecallAnswer)
    assert answer.miss is miss


def test_all_messages_stay_in_sight(reader: Reader, alice: Stored):
    alice.say("the pump is broken", session="s2")
    answer = Search(*reader.parts).run("alice", SearchRequest(query="pump", session_id="s1"))
    assert [each.text for each in answer.hits] == ["the pump is broken"]


# What a newer fact supersedes.


@pytest.fixture
def moved(alice: Stored) -> tuple[int, int, int]:
    """Ann lived in Paris, and lives in Rome since May; the first is nearer to every question."""
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
        (_CLAIM, (paris, old)),
        (_VERSION, (rome, paris)),
    ):
        with alice.reader.database.agent_transaction("alice") as connection:
            connection.exec_driver_sql(statement, values)
    return paris, dog, rome


def recalled(reader: Reader, **asked: Any) -> list[tuple[int, int | None]]:
    request = RecallRequest(format="structured", **asked)
    answer = Recall(*reader.parts).run("alice", request)
    assert isinstance(answer, RecallAnswer)
    return [(each.node_id, each.superseded_by) for each in answer.memories]


def test_recall_prefers_what_holds_and_marks_what_does_not(reader: Reader, moved: Any):
    paris, dog, rome = moved
    assert recalled(reader, keywords=["Ann"]) == [(rome, None), (paris, rome), (dog, None)]
    # What supersedes a memory comes with it, though it does not match.
    assert recalled(reader, keywords=["Paris"]) == [(rome, None), (paris, rome)]
    assert recalled(reader, keywords=["Paris"], limit=1) == [(rome, None)]


def test_recall_follows_what_was_superseded_more_than_once(
    reader: Reader, alice: Stored, moved: Any
):
    paris, _, rome = moved
    oslo = alice.remember("Ann lives in Oslo", said_at=JULY)
    alice.link(1, oslo, strength=0.1)
    alice.execute("UPDATE node SET superseded_at = '2026-07-01', superseded_by = 5"
                  " WHERE agent_id = %s AND id = %s", rome)  # fmt: skip
    assert recalled(reader, keywords=["Paris"]) == [(oslo, None), (rome, oslo), (paris, rome)]
    june = datetime(2026, 6, 1, tzinfo=UTC)
    assert recalled(reader, keywords=["Paris"], as_of=june) == [(rome, None), (paris, rome)]


def test_the_text_says_until_when_it_held(reader: Reader, moved: Any):
    answer = Recall(*reader.parts).run("alice", RecallRequest(keywords=["Ann"]))
    assert isinstance(answer, RecallText)
    first, second, _ = answer.text.split("\n---\n")
    assert first == "[memory] Ann lives in Rome"
    assert second.startswith("[memory] (until 2026-05-01) Ann lives in Paris")


def test_recall_as_of_a_time_knows_what_was_believed_then(reader: Reader, moved: Any):
    paris, dog, rome = moved
    april = datetime(2026, 4, 1, tzinfo=UTC)
    assert recalled(reader, keywords=[], as_of=april) == [(paris, None), (dog, None)]
    then = RecallRequest(keywords=["Ann"], as_of=april)
    told = Recall(*reader.parts).run("alice", then)
    assert isinstance(told, RecallText)
    assert "until" not in told.text
    assert recalled(reader, keywords=[], as_of=BEGIN - timedelta(days=1)) == []
    assert rome in [node for node, _ in recalled(reader, keywords=[], as_of=MAY)]


@pytest.mark.parametrize("sources", [["memory"], ["chat", "memory"]])
def test_search_puts_what_holds_first(reader: Reader, moved: Any, sources: list[str]):
    paris, _, rome = moved
    request = SearchRequest(query="Ann lives Paris home by the river", sources=sources)
    hits = Search(*reader.parts).run("alice", request).hits
    assert "Rome" in hits[0].text
    assert "Paris" in hits[1].text
    assert [each.score for each in hits] == sorted((each.score for each in hits), reverse=True)
    old = [each for each in hits if each.node_id == paris]
    assert [each.superseded_by for each in old] == [rome] * len(old)


def test_search_as_of_a_time(reader: Reader, moved: Any):
    request = SearchRequest(query="where Ann lives", as_of=datetime(2026, 4, 1, tzinfo=UTC))
    hits = Search(*reader.parts).run("alice", request).hits
    assert hits
    assert not any("Rome" in each.text for each in hits)
    assert all(each.superseded_by is None for each in hits)


def test_context_says_what_holds_before_what_does_not(reader: Reader, moved: Any):
    request = ContextRequest(query="Ann Paris river home", budget_tokens=400, sources=["memory"])
    answer = ContextReader(*reader.parts).run("alice", request)
    said = "".join(item.text for item in answer.items)
    assert said.index("Rome") > -1


def test_context_as_of_a_time_holds_nothing_later(reader: Reader, moved: Any):
    request = ContextRequest(budget_tokens=400, as_of=datetime(2026, 4, 1, tzinfo=UTC))
    answer = ContextReader(*reader.parts).run("alice", request)
    said = "".join(item.text for item in answer.items)
    assert "Paris" in said
    assert "Rome" not in said


# History, and lists.


def test_history_shows_both_versions_from_either_end(reader: Reader, moved: Any):
    paris, dog, rome = moved
    listings = Listings(reader.database)
    for node in (paris, rome):
        versions = listings.history("alice", node, None).versions
        assert [(each.node_id, each.state, each.holds) for each in versions] == [
            (paris, "superseded", False),
            (rome, "current", True),
        ]
    assert [each.node_id for each in listings.history("alice", dog, None).versions] == [dog]
    (then,) = listings.history("alice", rome, datetime(2026, 4, 1, tzinfo=UTC)).versions
    assert (then.node_id, then.holds, then.message_ids) == (paris, True, ["m1"])
    with pytest.raises(NotFoundError, match="never was"):
        listings.history("alice", 99, None)


def test_history_keeps_what_was_forgotten_since(reader: Reader, alice: Stored, moved: Any):
    paris, dog, rome = moved
    for node in moved:
        alice.forget(node)
    listings = Listings(reader.database)
    versions = listings.history("alice", paris, None).versions
    assert {each.node_id: (each.state, each.content) for each in versions} == {
        paris: ("superseded", "Ann lives in Paris, a home by the river"),
        rome: ("forgotten", None),
    }
    (gone,) = listings.history("alice", dog, None).versions
    assert (gone.state, gone.holds) == ("forgotten", False)


def test_nodes_as_of_a_time_are_the_memories_that_held(reader: Reader, moved: Any):
    paris, dog, rome = moved

    def listed(**asked: Any) -> set[int]:
        listings = Listings(reader.database)
        found = listings.nodes("alice", kind=None, type=None, cursor=None, limit=10, **asked)
        return {each.id for each in found.nodes}

    assert listed(as_of=datetime(2026, 4, 1, tzinfo=UTC)) == {paris, dog}
    assert listed(as_of=datetime(2026, 6, 1, tzinfo=UTC)) == {dog, rome}
    assert listed(tier="short") == set()
    assert listed(tier="long") >= {paris, dog, rome}


class TestSessions:
    def listed(self, reader: Reader, now: datetime, **page: Any) -> Any:
        listings = Listings(reader.database)
        asked = {"cursor": None, "limit": 10, **page}
        return listings.sessions("alice", MemoryParameters(), now=now, **asked)

    def test_pages_go_by_id(self, reader: Reader, alice: Stored):
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
        # When it was said may be long ago: silence begins when the last of it was received.
        assert (late.began_at, late.last_at) == (BEGIN + timedelta(minutes=1),) * 2
        assert late.ended_at is not None
        assert timedelta(hours=23) < late.ended_at - now <= timedelta(hours=24)
        with reader.database.agent_transaction("alice") as connection:
            ended = end_session(connection, "alice", "s1")
        with reader.database.agent_transaction("alice") as connection:
            assert end_session(connection, "alice", "s1") == ended  # twice is once
            assert end_session(connection, "alice", "s9") is None
        assert ended is not None
        assert self.listed(reader, now).sessions[0].ended_at == ended[1]
        alice.say("one more thing")  # and it goes on
        assert self.listed(reader, now).sessions[0].ended_at is None
