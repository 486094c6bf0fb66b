"""Reads use the time zones of the speaker and of the asker for days (R10, R13)."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from memci.domain.context.rendering import day_words
from memci.domain.memory.parameters import MemoryParameters
from memci.domain.search.candidate import Source
from memci.language.detection import Language
from memci.reading.context import ContextReader
from memci.reading.handover import HandoverReader
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
from memci.schemas.sessions import HandoverRequest
from memci.smallmodel.offline.summarizer import OfflineSummarizer
from memci.storage.network.beliefs import supersede
from tests.support.stored import Reader, Stored

# In UTC these are another day: the day before, and the day after.
EAST = datetime.fromisoformat("2026-11-18T06:30:00+08:00")
WEST = datetime.fromisoformat("2026-11-17T20:30:00-08:00")
IN_UTC = datetime.fromisoformat("2026-11-18T06:30:00+00:00")


def retrieved(reader: Reader, query: str, **fields: Any) -> str:
    """Return the retrieved block of a context without recent turns."""
    request = ContextRequest(query=query, budget_tokens=2_000, recent=0, **fields)
    answer = ContextReader(*reader.parts).run("alice", request)
    return "".join(item.text for item in answer.items if item.section in {"memory", "history"})


@pytest.mark.parametrize("indexed", [True, False], ids=["indexed", "raw tail"])
@pytest.mark.parametrize(
    ("text", "at", "line"),
    [
        ("我和老赵去了灵隐寺。", EAST, "2026-11-18（三）\n"),
        ("我和老赵去了灵隐寺。", WEST, "2026-11-17（二）\n"),
        ("I met Dolores at the pier", EAST, "18 November 2026 (Wed)\n"),
        ("I met Dolores at the pier", WEST, "17 November 2026 (Tue)\n"),
        ("I met Dolores at the pier", IN_UTC, "18 November 2026 (Wed)\n"),
    ],
)
def test_a_message_is_under_the_day_of_its_speaker(
    reader: Reader, alice: Stored, text: str, at: datetime, line: str, indexed: bool
):
    alice.say(text, said_at=at, session="before", indexed=indexed)
    query = "灵隐寺和老赵" if "老赵" in text else "Where is Dolores at the pier?"
    assert line in retrieved(reader, query)
    (hit,) = Search(*reader.parts).run("alice", SearchRequest(query=query)).hits
    assert (hit.created_at, hit.created_at.isoformat()) == (at, at.isoformat())


@pytest.mark.parametrize(("at", "day"), [(EAST, "18"), (WEST, "17"), (IN_UTC, "18")])
def test_a_memory_is_under_the_day_of_its_messages(
    reader: Reader, alice: Stored, at: datetime, day: str
):
    seq = alice.say("I met Dolores at the pier", said_at=at)
    alice.remember("I met Dolores at the pier", [seq], said_at=at)
    for sources in ((Source.MEMORY,), (Source.CHAT,)):
        block = retrieved(reader, "Dolores at the pier", sources=sources)
        assert f"{day} November 2026 (" in block
    # Without a query, important memories near the focus are given.
    focus = alice.entity("Dolores")
    alice.link(focus, 1)
    alice.link(1, focus)
    request = ContextRequest(budget_tokens=2_000, recent=0, sources=(Source.MEMORY,))
    answer = ContextReader(*reader.parts).run("alice", request)
    assert f"{day} November 2026 (" in "".join(item.text for item in answer.items)


def test_lists_have_times_in_the_zone_of_the_speaker(reader: Reader, alice: Stored):
    for at in (EAST, WEST, IN_UTC):
        alice.remember("Ferry", [alice.say("Ferry", said_at=at)], said_at=at)
    written = [at.isoformat() for at in (EAST, WEST, IN_UTC)]
    parts = {"session_id": None, "cursor": None, "limit": 10}
    messages = Listings(reader.database).messages("alice", **parts).messages
    assert [each.timestamp.isoformat() for each in messages] == written
    listing = Listings(reader.database)
    nodes = listing.nodes("alice", {}, cursor=None, limit=10).nodes
    assert [each.said_at and each.said_at.isoformat() for each in nodes] == written
    said_at = listing.node("alice", 2).said_at
    assert said_at is not None
    assert said_at.isoformat() == WEST.isoformat()
    beliefs = Listings(reader.database)
    (session,) = beliefs.sessions(
        "alice", MemoryParameters(), now=datetime.now(UTC), cursor=None, limit=10
    ).sessions
    assert session.began_at.isoformat() == EAST.isoformat()


def test_a_superseded_memory_ends_on_the_day_of_the_newer_speaker(reader: Reader, alice: Stored):
    old = alice.remember("Ann lives in Paris", [alice.say("x", said_at=EAST)], said_at=EAST)
    new = alice.remember("Ann lives in Rome", [alice.say("y", said_at=WEST)], said_at=WEST)
    alice.link(alice.entity("Ann"), old)
    alice.link(3, new)
    with reader.database.agent_transaction("alice") as connection:
        supersede(connection, "alice", [old], by=new, until=WEST.astimezone(UTC))
    recall = Recall(*reader.parts)
    found = recall.run("alice", RecallRequest(keywords=("Paris",), format="structured"))
    assert isinstance(found, RecallAnswer)
    paris = next(each for each in found.memories if each.node_id == old)
    assert paris.said_at is not None
    assert paris.said_at.isoformat() == EAST.isoformat()
    assert paris.superseded_at == WEST
    text = recall.run("alice", RecallRequest(keywords=("Paris",)))
    assert isinstance(text, RecallText)
    assert "(until 2026-11-17) Ann lives in Paris" in text.text
    assert "(until 2026-11-17) Ann lives in Paris" in retrieved(
        reader, "Where does Ann live, Paris?"
    )
    history = Listings(reader.database).history("alice", old, None).versions
    assert [each.said_at and each.said_at.isoformat() for each in history] == [
        EAST.isoformat(), WEST.isoformat()
    ]  # fmt: skip
    before = datetime.fromisoformat("2026-11-18T12:29:00+08:00")  # a minute
    then = recall.run("alice", RecallRequest(keywords=("Paris",), as_of=before))
    assert isinstance(then, RecallText)
    assert "(until" not in then.text


def test_a_handover_has_the_days_of_its_speakers(reader: Reader, alice: Stored):
    alice.say("Yesterday I met Dolores at the pier, and we decided to buy the boat.", said_at=EAST)
    alice.say("Good, a boat.", "assistant", said_at=EAST)
    for place in range(6):
        alice.say(f"And I paid invoice number 47{place} of the harbour today.", said_at=WEST)
        alice.say("Noted.", "assistant", said_at=WEST)
    reading = HandoverReader(*reader.parts, OfflineSummarizer())
    text = reading.run("alice", HandoverRequest(session_id="s1")).text
    assert "2026-11-18" in text
    assert "2026-11-17" in text
    # The quoted messages are all from the west, and not from the day of this test.
    assert text.count("17 November 2026 (Tue)\n") == 1
    now = datetime.now(WEST.tzinfo)
    alice.say("Is the boat here?", said_at=now)
    later = reading.run("alice", HandoverRequest(session_id="s1")).text
    today = day_words(now.date(), Language.ENGLISH)
    places = [later.index(each) for each in ("17 November 2026 (Tue)", today, "Is the boat here?")]
    assert places == sorted(places)


@pytest.mark.parametrize(
    ("question", "now", "since", "until"),
    [
        ("昨天我说了什么？", "2026-11-22T06:00:00+08:00",
         "2026-11-21T00:00:00+08:00", "2026-11-22T00:00:00+08:00"),
        ("What did I say this morning?", "2026-11-20T20:00:00-08:00",
         "2026-11-20T00:00:00-08:00", "2026-11-21T00:00:00-08:00"),
        ("What did I say yesterday?", "2026-11-22T06:00:00",
         "2026-11-21T00:00:00+00:00", "2026-11-22T00:00:00+00:00"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("named", ["now", "as_of"])
def test_days_in_a_question_are_in_the_zone_of_the_asker(
    reader: Reader, alice: Stored, question: str, now: str, since: str, until: str, named: str
):
    alice.say("Ferry", said_at=EAST)
    request = SearchRequest.model_validate({"query": question, named: now, "explain": True})
    answer = Search(*reader.parts).run("alice", request)
    assert answer.explain is not None
    assert [since, until] in answer.explain["analysis"]["times"]


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What did Ann say of the ferry yesterday?", "The ferry"),
        ("昨天我说的渡轮怎么了？", "渡轮的事"),
    ],
)
def test_messages_of_the_askers_yesterday_are_found_first(
    reader: Reader, alice: Stored, question: str, text: str
):
    # The first is of yesterday in UTC, the second in the zone of the asker.
    for at in ("2026-11-20T02:00:00Z", "2026-11-21T12:00:00Z"):
        alice.say(f"{text}, {at[11:13]}:00", said_at=datetime.fromisoformat(at), session=at)
    for number, other in enumerate(("Soup for lunch", "晚饭吃面", "A red bicycle", "新的书架")):
        at = datetime(2026, 10, 1 + number, 12, tzinfo=UTC)
        alice.say(other, said_at=at, session=f"s{number}")
    now = "2026-11-22T06:00:00+08:00"
    request = SearchRequest.model_validate({"query": question, "now": now})
    assert Search(*reader.parts).run("alice", request).hits[0].text == f"{text}, 12:00"
    in_utc = SearchRequest.model_validate({"query": question, "now": "2026-11-21T22:00:00Z"})
    assert Search(*reader.parts).run("alice", in_utc).hits[0].text == f"{text}, 02:00"
