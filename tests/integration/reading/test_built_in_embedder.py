"""Reads with the built-in embedder: two languages in one space, and long messages (E2, E6)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from memci.config.settings import Settings
from memci.jobs.index import MessageTexts
from memci.reading.search import Search
from memci.schemas.reads import SearchRequest
from memci.smallmodel.offline.e5_embedder import OfflineEmbedder
from memci.storage import pending_messages
from memci.storage.search.index import Embedded
from tests.support.lists import assemble
from tests.support.stored import Reader, Stored

ENGLISH = (
    "I adopted a grey kitten from the shelter on Friday.",
    "The dentist moved my appointment to Thursday at four.",
    "We painted the kitchen walls light green.",
    "My brother broke his leg while skiing in Austria.",
    "The new laptop was delivered to the neighbours.",
    "Grandmother taught me how to bake sourdough bread.",
)
CHINESE = (
    "周五我从收容所领养了一只灰色的小猫。",
    "牙医把我的预约改到了周四下午四点。",
    "我们把厨房的墙刷成了浅绿色。",
    "我哥哥在奥地利滑雪时摔断了腿。",
    "新买的笔记本电脑送到邻居家去了。",
    "奶奶教我怎么烤酸面包。",
)
FILLER = (
    "The committee compared proposals for the new library building and asked for drawings. ",
    "An architect explained how light from the north falls into the rooms in the morning. ",
    "Somebody wanted more shelves, somebody else wanted fewer, the treasurer wanted neither. ",
)
END = (
    "Then the caretaker brought his puppy along. It is ten weeks old, barks at strangers and has"
    " sharp teeth. During the break it chewed the cables of the projector. The caretaker put it on"
    " a leash and gave it a rubber bone to gnaw on."
)


@pytest.fixture
def real(reader: Reader) -> Iterator[Reader]:
    created = Reader(reader.database, OfflineEmbedder(Settings().embedder_folder))
    yield created
    created.activity.close()


def say(reader: Reader, *texts: str) -> Stored:
    stored = Stored(reader, "alice")
    seqs = [stored.say(text, session=f"s{n}", indexed=False) for n, text in enumerate(texts)]
    embedder, lexicon = reader.models.embedder, reader.models.lexicon
    with reader.database.agent_transaction("alice") as connection:
        messages = pending_messages.unindexed_messages(connection, "alice", (1, len(seqs)))
        known = Embedded([], np.zeros((0, embedder.dimension)), embedder.model)
        MessageTexts.read(messages, known, embedder, lexicon).write(connection, "alice", seqs)
    return stored


def found(reader: Reader, query: str, budget: int = 110) -> str:
    answer = assemble(reader, query, budget)
    return "".join(each.content or "" for each in answer.messages[:-1])


@pytest.mark.parametrize("place", range(len(ENGLISH)))
def test_a_question_finds_a_memory_in_the_other_language(real: Reader, place: int):
    questions = (
        "我从哪里领养了小猫？", "我什么时候去看牙医？", "厨房的墙是什么颜色？",
        "How did my brother break his leg?", "Where is the new laptop now?",
        "Who taught me how to bake bread?",
    )  # fmt: skip
    stored = (*ENGLISH[:3], *CHINESE[3:])
    say(real, *stored)
    assert stored[place] in found(real, questions[place])


def test_the_end_of_a_long_message_is_found_by_meaning_and_quoted(real: Reader):
    long = "".join(FILLER * 12) + END
    assert END not in long[:2500]
    say(real, long, *ENGLISH[1:], "".join(FILLER * 12))
    with real.database.agent_snapshot("alice") as connection:
        parts = connection.exec_driver_sql(
            "SELECT start, stop FROM message_passage WHERE agent_id = 'alice' AND seq = 1"
            " ORDER BY start"
        ).all()
    assert len(parts) > 1
    assert parts[-1].stop == len(long)
    quoted = found(real, "Which things did the little dog bite?", budget=200)
    assert "chewed the cables of the projector" in quoted
    assert FILLER[0] not in quoted


def test_a_message_that_is_not_indexed_yet_is_found_among_many_that_are(real: Reader):
    stored = say(real, *(f"The shed of number {number} has a red door." for number in range(60)))
    seq = stored.say("The key of the boat house hangs on a nail.", indexed=False, session="new")
    request = SearchRequest(query="Where does the key of the boat house hang?", k=5)
    hits = Search(*real.parts).run("alice", request).hits
    assert [f"m{seq}"] in [hit.message_ids for hit in hits]


def test_one_indexed_message_among_many_that_are_not_is_searched(real: Reader):
    stored = say(real, "Good morning!")
    for number in range(150):
        stored.say(f"The ferry leaves the harbour at {number}.", indexed=False, session="later")
    request = SearchRequest(query="When does the harbour ferry leave?", k=5)
    assert len(Search(*real.parts).run("alice", request).hits) == 5
