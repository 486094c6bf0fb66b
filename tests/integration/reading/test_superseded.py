"""Reads mark superseded memories, and give the newer memory with them.

For a question about a time at which they held, they come first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from memci.reading.context import ContextReader
from memci.reading.search import Search
from memci.schemas.reads import ContextAnswer, ContextRequest, Hit, SearchRequest
from memci.storage.network.beliefs import EndedPart, end
from tests.support.stored import BEGIN, Reader, Stored

MAY = datetime(2026, 5, 5, tzinfo=UTC)
JUNE = datetime(2026, 6, 20, tzinfo=UTC)
MARK = "(until 2026-05-05) "
ASKED = "Which town do I live in, and since when?"

_MERGED = """
INSERT INTO node_version (agent_id, node_id, replaced_by, reason, content, phrase, keywords,
                          language, type, message_seqs)
SELECT agent_id, id, %s, 'merged', content, phrase, keywords, language, type, message_seqs
  FROM node WHERE agent_id = 'alice' AND id = %s
"""


@dataclass
class Facts:
    """Stores memories, each from its own messages, and reads them."""

    alice: Stored
    told: dict[int, tuple[list[int], str]] = field(default_factory=dict)  # by memory

    def tell(
        self, *texts: str, at: datetime = BEGIN, home: int = 0, **fields: Any
    ) -> tuple[int, list[int]]:
        """Store messages and their memory; the text at ``home`` names a home."""
        seqs = [self.alice.say(text, said_at=at, session=None, **fields) for text in texts]
        node = self.alice.remember("\n".join(texts), seqs, said_at=at, session=None)
        self.told[node] = seqs, texts[home]
        return node, seqs

    def supersede(self, old: int, new: int, at: datetime = MAY, *, whole: bool = True) -> None:
        seqs, text = self.told[old]
        part = EndedPart(old, new, self.told[new][0][0], seqs, [text], at)
        with self.alice.reader.database.agent_transaction("alice") as connection:
            end(connection, "alice", part, whole=whole)

    def forget(self, node: int) -> None:
        self.alice.forget(node)

    def noise(self, count: int = 12) -> None:
        for number in range(count):
            self.alice.say(f"Lamp {number} is broken since noon", session=None)

    def search(self, **fields: Any) -> Sequence[Hit]:
        request = SearchRequest(query=fields.pop("query", ASKED), **fields)
        return Search(*self.alice.reader.parts).run("alice", request).hits

    def context(self, **fields: Any) -> ContextAnswer:
        options = {"query": ASKED, "budget_tokens": 260, "recent": 0, **fields}
        return ContextReader(*self.alice.reader.parts).run("alice", ContextRequest(**options))


@pytest.fixture
def facts(reader: Reader, alice: Stored) -> Facts:
    return Facts(alice)


@pytest.fixture
def moved(facts: Facts) -> tuple[int, int]:
    """A move from Bergen to Trondheim, told in words that are in no question."""
    bergen, _ = facts.tell("I live in Bergen since 2019, a town by the sea")
    trondheim, _ = facts.tell("Trondheim: moved!", at=MAY)
    facts.supersede(bergen, trondheim)
    return bergen, trondheim


def retrieved(answer: ContextAnswer) -> list[str]:
    return [each.text for each in answer.items if each.section in {"memory", "history"}]


@pytest.mark.parametrize("sources", [["memory"], ["chat"], ["chat", "memory"]])
class TestSupersededMemory:
    def test_a_context_marks_the_old_and_adds_the_new_memory(
        self, facts: Facts, moved: tuple[int, int], sources: list[str]
    ):
        facts.noise()
        texts = retrieved(facts.context(sources=sources, k=3))
        (old,) = [each for each in texts if "Bergen" in each]
        assert f"{MARK}I live in Bergen" in old
        assert any("Trondheim" in each and MARK not in each for each in texts)

    def test_a_search_marks_the_old_memory_and_puts_the_new_before_it(
        self, facts: Facts, moved: tuple[int, int], sources: list[str]
    ):
        hits = facts.search(sources=sources)
        texts = [each.text for each in hits]
        (old,) = [each for each in hits if "Bergen" in each.text]
        assert old.text.startswith(f"{MARK}I live in Bergen")
        assert (old.superseded_by, old.superseded_at) == (moved[1], MAY)
        new = next(each for each in hits if "Trondheim" in each.text)
        assert (new.text, new.superseded_at) == ("Trondheim: moved!", None)
        assert texts.index(new.text) < texts.index(old.text)
        (only,) = facts.search(sources=sources, k=1)
        assert "Trondheim" in only.text

    @pytest.mark.parametrize("forgotten", [(0,), (1,), (0, 1)])
    def test_messages_are_marked_even_if_memories_are_forgotten(
        self, facts: Facts, moved: tuple[int, int], sources: list[str], forgotten: tuple[int, ...]
    ):
        for place in forgotten:
            facts.forget(moved[place])
        texts = retrieved(facts.context(sources=sources))
        old = [each for each in texts if "Bergen" in each]
        assert all(MARK in each for each in old)
        if "chat" in sources:
            assert old
            assert any("Trondheim" in each for each in texts)

    def test_no_budget_of_a_context_gives_only_the_old_memory(
        self, facts: Facts, moved: tuple[int, int], sources: list[str]
    ):
        given = set()
        for budget in range(20, 140):
            answer = facts.context(sources=sources, budget_tokens=budget)
            assert answer.tokens <= budget
            text = "".join(retrieved(answer))
            if "Bergen" in text:
                assert "Trondheim" in text
            given.add(("Bergen" in text, "Trondheim" in text))
        assert given == {(False, False), (False, True), (True, True)}

    def test_no_budget_of_a_search_gives_only_the_old_memory(
        self, facts: Facts, moved: tuple[int, int], sources: list[str]
    ):
        given = set()
        for budget in range(1, 40):
            text = " ".join(
                each.text for each in facts.search(sources=sources, budget_tokens=budget)
            )
            given.add(("Bergen" in text, "Trondheim" in text))
        assert given == {(False, False), (False, True), (True, True)}

    def test_as_of_an_earlier_time_the_old_memory_holds(
        self, facts: Facts, moved: tuple[int, int], sources: list[str]
    ):
        april = MAY - timedelta(days=9)
        texts = retrieved(facts.context(sources=sources, as_of=april))
        assert any("Bergen" in each for each in texts)
        assert not any("until" in each or "Trondheim" in each for each in texts)


class TestQuestionAboutATime:
    """The home is Bergen until 5 May 2026, and Trondheim since then."""

    @pytest.mark.parametrize("time", ["in March 2026", "in April 2026", "last April"])
    def test_the_memory_of_that_time_comes_first_and_is_marked(
        self, facts: Facts, moved: tuple[int, int], time: str
    ):
        question = f"Which town did I live in {time}?"
        texts = [each.text for each in facts.search(query=question, now=JUNE)]
        places = [[town in text for text in texts].index(True) for town in ("Bergen", "Trondheim")]
        assert places == sorted(places)
        assert texts[places[0]].startswith(f"{MARK}I live in Bergen")
        (only,) = facts.search(query=question, now=JUNE, k=1)
        assert "Bergen" in only.text

    @pytest.mark.parametrize(
        "question",
        [
            "Which town did I live in in May 2026?",
            "Which town did I live in in June 2026?",
            "Which town have I lived in since April 2026?",
            "Which town do I live in now? In April 2026 I was in another town.",
            "Before we met in April 2026 I was abroad. Which town do I live in?",
        ],
    )
    def test_for_a_question_about_now_the_current_memory_comes_first(
        self, facts: Facts, moved: tuple[int, int], question: str
    ):
        (only,) = facts.search(query=question, now=JUNE, k=1)
        assert "Trondheim" in only.text


@pytest.mark.parametrize("sources", [["memory"], ["chat"], ["chat", "memory"]])
@pytest.mark.parametrize(
    ("month", "order"),
    [
        ("January", ["Bergen", "Trondheim", "Oslo"]),
        ("April", ["Oslo", "Trondheim", "Bergen"]),
        ("June", ["Trondheim", "Oslo", "Bergen"]),
    ],
)
def test_of_three_memories_that_of_the_named_time_comes_first(
    facts: Facts, sources: list[str], month: str, order: list[str]
):
    january, march = datetime(2026, 1, 5, tzinfo=UTC), datetime(2026, 3, 10, tzinfo=UTC)
    bergen, _ = facts.tell("I live in Bergen, a town by the sea", at=january)
    oslo, _ = facts.tell("I live in Oslo now, a town in the forest", at=march)
    trondheim, _ = facts.tell("I live in Trondheim now, a town with trams", at=MAY)
    facts.supersede(bergen, oslo, march)
    facts.supersede(oslo, trondheim)
    question = f"Which town did I live in in {month} 2026?"
    texts = [each.text for each in facts.search(query=question, now=JUNE, sources=sources)]
    assert [next(town for town in order if town in text) for text in texts][:1] == order[:1]
    assert len(texts) == 3
    text_given = "\n".join(retrieved(facts.context(query=question, now=JUNE, sources=sources)))
    assert order[0] in text_given


def test_without_a_question_old_and_new_memory_are_given(facts: Facts, moved: tuple[int, int]):
    home = facts.alice.entity("home")
    facts.alice.link(home, moved[0])
    facts.alice.link(moved[0], home)
    texts = retrieved(facts.context(query=None))
    assert len(texts) == 2
    assert any(f"[memory] {MARK}I live in Bergen" in each for each in texts)
    assert any("[memory] Trondheim: moved!" in each for each in texts)


def test_the_mark_is_in_the_language_of_the_context(facts: Facts):
    old, _ = facts.tell("我住在成都")
    new, _ = facts.tell("重庆，搬了！", at=MAY)
    facts.supersede(old, new)
    texts = retrieved(facts.context(query="我住在哪里？"))
    assert any("（至 2026-05-05 为止）我住在成都" in each for each in texts)
    assert any("重庆，搬了！" in each for each in texts)
    hits = facts.search(query="我住在哪里")
    assert [each.text for each in hits] == ["重庆，搬了！", "（至 2026-05-05 为止）我住在成都"]


def test_after_two_moves_the_latest_home_comes_first(facts: Facts, moved: tuple[int, int]):
    oslo, _ = facts.tell("Oslo: moved!", at=MAY + timedelta(days=30))
    facts.supersede(moved[1], oslo, MAY + timedelta(days=30))
    first, *_, last = facts.search(sources=["memory"])
    assert (first.text, first.superseded_by) == ("Oslo: moved!", None)
    assert last.text.startswith(f"{MARK}I live in Bergen")
    assert last.superseded_by == oslo


@pytest.mark.parametrize(("sources", "expected"), [(["chat", "memory"], "I moved to Oslo"),
                                               (["memory"], "Just so")])  # fmt: skip
def test_the_message_is_given_instead_of_a_shortened_memory(
    facts: Facts, sources: list[str], expected: str
):
    """This needs the source `chat`: only the message still names the town."""
    old, _ = facts.tell("I live in Bergen")
    new, _ = facts.tell("I moved to Oslo", at=MAY)
    facts.supersede(old, new)
    facts.alice.execute("UPDATE node SET content = 'Just so' WHERE agent_id = %s AND id = %s", new)
    first, second = facts.search(query="in Bergen I live", sources=sources, k=2)
    assert (first.text, second.text) == (expected, f"{MARK}I live in Bergen")


class TestWhichMessage:
    """Only those messages of a superseded memory are marked that tell what changed."""

    @pytest.fixture
    def mixed(self, facts: Facts) -> tuple[int, int]:
        old, _ = facts.tell(
            "My rent is 900 euros in this town", "I live in Bergen, a town by the sea",
            "The town is fine since the rain stopped", home=1,
        )  # fmt: skip
        new, _ = facts.tell("Trondheim: moved!", at=MAY)
        facts.supersede(old, new)
        return old, new

    @pytest.mark.parametrize("forgotten", [(), (0,), (1,)])
    def test_messages_with_other_facts_are_not_marked(
        self, facts: Facts, mixed: tuple[int, int], forgotten: tuple[int, ...]
    ):
        for place in forgotten:
            facts.forget(mixed[place])
        marked = {each.text for each in facts.search(sources=["chat"], k=10) if each.superseded_at}
        assert marked == {f"{MARK}I live in Bergen, a town by the sea"}

    def test_a_message_with_both_facts_is_not_marked(self, facts: Facts):
        seq = facts.alice.say("I live in Bergen. I moved to Trondheim.", session=None)
        old = facts.alice.remember("I live in Bergen.", [seq], session=None)
        new = facts.alice.remember("I moved to Trondheim.", [seq], session=None)
        facts.told |= {old: ([seq], "I live in Bergen"), new: ([seq], "I moved to Trondheim")}
        facts.supersede(old, new, BEGIN)
        assert [each.superseded_at for each in facts.search(sources=["chat"])] == [None]


@pytest.mark.parametrize("sources", [["memory"], ["chat"]])
def test_of_a_memory_that_tells_more_only_the_ended_part_is_marked(
    facts: Facts, sources: list[str]
):
    text = "I'm Anna, I'm vegetarian and I live in Bern"
    old, seqs = facts.tell(text)
    new, _ = facts.tell("Zurich: moved!", at=MAY)
    facts.told[old] = seqs, "I live in Bern"
    facts.supersede(old, new, whole=False)
    (hit,) = [each for each in facts.search(query="Anna in Bern", sources=sources)
              if "Anna" in each.text]  # fmt: skip
    assert hit.text == "I'm Anna, I'm vegetarian and I live in Bern (until 2026-05-05)"
    assert (hit.superseded_by, hit.superseded_at) == (None, None)
    earlier = facts.search(query="Anna in Bern", sources=sources, as_of=MAY - timedelta(days=1))
    assert [each.text for each in earlier if "Anna" in each.text] == [text]


def test_an_invisible_new_memory_is_not_given(facts: Facts, moved: tuple[int, int]):
    facts.alice.execute(
        "UPDATE node SET tier = 'short', session_id = 's9' WHERE agent_id = %s AND id = %s",
        moved[1],
    )
    (old,) = facts.search(sources=["memory"], session_id="s1")
    assert old.text.startswith(f"{MARK}I live in Bergen")
    # Messages are visible to all sessions.
    assert "Trondheim" in facts.search(session_id="s1")[0].text


def test_the_new_memory_is_the_merged_one_after_a_merger(facts: Facts, moved: tuple[int, int]):
    merged, _ = facts.tell("Trondheim: moved! really", at=MAY)
    with facts.alice.reader.database.agent_transaction("alice") as connection:
        connection.exec_driver_sql(_MERGED, (merged, moved[1]))
    facts.forget(moved[1])
    first, last = facts.search(sources=["memory"], k=2)
    assert (first.node_id, last.superseded_by) == (merged, merged)


def test_the_new_memory_is_given_for_a_superseded_recent_turn(facts: Facts):
    """The turn itself is unmarked; another session told of the move."""
    seq = facts.alice.say("I live in Bergen", session="s1", said_at=BEGIN)
    bergen = facts.alice.remember("I live in Bergen", [seq], session="s1")
    facts.told[bergen] = [seq], "I live in Bergen"
    facts.noise()
    trondheim, _ = facts.tell("Trondheim: moved!", at=MAY)
    facts.supersede(bergen, trondheim)
    answer = facts.context(query="What is near?", session_id="s1", recent=4, k=1)
    recent = [each.text for each in answer.items if each.section == "recent" and each.message_ids]
    assert recent == ["I live in Bergen"]
    assert any("Trondheim: moved!" in each for each in retrieved(answer))
    assert not any("Bergen" in each for each in retrieved(answer))
    alone = facts.context(query="What is near?", session_id="s1", recent=0)
    assert [each for each in retrieved(alone) if "Bergen" in each and MARK not in each] == []
