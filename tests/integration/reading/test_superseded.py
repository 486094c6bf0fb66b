"""What a model is given of facts that no longer hold: marked, and with what is so now.

Where it asks for a time at which they held, they are the answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from memci.language.claims.claim import Claim, StoredClaim
from memci.reading.context import ContextReader
from memci.reading.search import Search
from memci.schemas.reads import ContextAnswer, ContextRequest, Hit, SearchRequest
from memci.storage.network.beliefs import add_claims, supersede
from tests.support.stored import BEGIN, Reader, Stored

MAY = datetime(2026, 5, 5, tzinfo=UTC)
JUNE = datetime(2026, 6, 20, tzinfo=UTC)
MARK = "(until 2026-05-05) "
HOME = ("user:", "lives in/town")
ASKED = "Which town do I live in, and since when?"

_MERGED = """
INSERT INTO node_version (agent_id, node_id, replaced_by, reason, content, phrase, keywords,
                          language, type, message_seqs)
SELECT agent_id, id, %s, 'merged', content, phrase, keywords, language, type, message_seqs
  FROM node WHERE agent_id = 'alice' AND id = %s
"""


@dataclass
class Facts:
    """Memories of one agent that say what is so, each of messages of its own."""

    alice: Stored

    def tell(
        self, *texts: str, at: datetime = BEGIN, claiming: int = 0, **said: Any
    ) -> tuple[int, list[int]]:
        """Store a memory of some messages, the one at ``claiming`` about a home."""
        seqs = [self.alice.say(text, said_at=at, session=None, **said) for text in texts]
        node = self.alice.remember("\n".join(texts), seqs, said_at=at, session=None)
        self.claim(node, seqs[claiming], at=at)
        return node, seqs

    def claim(self, node: int, seq: int, *, at: datetime, about: tuple[str, str] = HOME) -> None:
        held = StoredClaim(Claim(*about, f"value {seq}", None, ""), node, seq, at)
        with self.alice.reader.database.agent_transaction("alice") as connection:
            add_claims(connection, "alice", [held])

    def supersede(self, old: int, new: int, at: datetime = MAY) -> None:
        with self.alice.reader.database.agent_transaction("alice") as connection:
            supersede(connection, "alice", [old], by=new, until=at, pass_number=0)

    def forget(self, node: int) -> None:
        self.alice.forget(node)
        self.alice.execute("DELETE FROM claim WHERE agent_id = %s AND node_id = %s", node)

    def noise(self, count: int = 12) -> None:
        for number in range(count):
            self.alice.say(f"Lamp {number} is broken since noon", session=None)

    def search(self, **asked: Any) -> Sequence[Hit]:
        request = SearchRequest(query=asked.pop("query", ASKED), **asked)
        return Search(*self.alice.reader.parts).run("alice", request).hits

    def context(self, **asked: Any) -> ContextAnswer:
        options = {"query": ASKED, "budget_tokens": 260, "recent": 0, **asked}
        return ContextReader(*self.alice.reader.parts).run("alice", ContextRequest(**options))


@pytest.fixture
def facts(reader: Reader, alice: Stored) -> Facts:
    return Facts(alice)


@pytest.fixture
def moved(facts: Facts) -> tuple[int, int]:
    """Who lived in Bergen has moved to Trondheim, in words that no question is near to."""
    bergen, _ = facts.tell("I live in Bergen since 2019, a town by the sea")
    trondheim, _ = facts.tell("Trondheim: moved!", at=MAY)
    facts.supersede(bergen, trondheim)
    return bergen, trondheim


def retrieved(answer: ContextAnswer) -> list[str]:
    return [each.text for each in answer.items if each.section in {"memory", "history"}]


@pytest.mark.parametrize("sources", [["memory"], ["chat"], ["chat", "memory"]])
class TestWhatIsGiven:
    def test_a_context_marks_the_old_and_brings_the_new(
        self, facts: Facts, moved: tuple[int, int], sources: list[str]
    ):
        facts.noise()
        said = retrieved(facts.context(sources=sources, k=3))
        (old,) = [each for each in said if "Bergen" in each]
        assert f"{MARK}I live in Bergen" in old
        assert any("Trondheim" in each and MARK not in each for each in said)

    def test_a_search_marks_the_old_and_puts_the_new_before_it(
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

    @pytest.mark.parametrize("gone", [(0,), (1,), (0, 1)])
    def test_what_was_forgotten_of_it_changes_nothing_about_messages(
        self, facts: Facts, moved: tuple[int, int], sources: list[str], gone: tuple[int, ...]
    ):
        for place in gone:
            facts.forget(moved[place])
        said = retrieved(facts.context(sources=sources))
        old = [each for each in said if "Bergen" in each]
        assert all(MARK in each for each in old)
        if "chat" in sources:
            assert old
            assert any("Trondheim" in each for each in said)

    def test_no_budget_brings_the_old_alone(
        self, facts: Facts, moved: tuple[int, int], sources: list[str]
    ):
        given = set()
        for budget in range(20, 140):
            answer = facts.context(sources=sources, budget_tokens=budget)
            assert answer.tokens <= budget
            said = "".join(retrieved(answer))
            if "Bergen" in said:
                assert "Trondheim" in said
            given.add(("Bergen" in said, "Trondheim" in said))
        assert given == {(False, False), (False, True), (True, True)}

    def test_no_budget_of_a_search_does_either(
        self, facts: Facts, moved: tuple[int, int], sources: list[str]
    ):
        given = set()
        for budget in range(1, 40):
            said = " ".join(
                each.text for each in facts.search(sources=sources, budget_tokens=budget)
            )
            given.add(("Bergen" in said, "Trondheim" in said))
        assert given == {(False, False), (False, True), (True, True)}

    def test_as_of_before_it_held_still(
        self, facts: Facts, moved: tuple[int, int], sources: list[str]
    ):
        april = MAY - timedelta(days=9)
        said = retrieved(facts.context(sources=sources, as_of=april))
        assert any("Bergen" in each for each in said)
        assert not any("until" in each or "Trondheim" in each for each in said)


class TestATimeAskedFor:
    """Bergen until 5 May 2026, Trondheim since."""

    @pytest.mark.parametrize("asked", ["in March 2026", "in April 2026", "last April"])
    def test_what_held_then_comes_first_and_is_marked(
        self, facts: Facts, moved: tuple[int, int], asked: str
    ):
        question = f"Which town did I live in {asked}?"
        texts = [each.text for each in facts.search(query=question, now=JUNE)]
        places = [[town in text for text in texts].index(True) for town in ("Bergen", "Trondheim")]
        assert places == sorted(places)
        assert texts[places[0]].startswith(f"{MARK}I live in Bergen")
        (only,) = facts.search(query=question, now=JUNE, k=1)
        assert "Bergen" in only.text

    def test_a_context_may_bring_it_alone(self, facts: Facts, moved: tuple[int, int]):
        question = "Which town did I live in in April 2026?"
        given = set()
        for budget in range(20, 140):
            said = "".join(retrieved(facts.context(query=question, now=JUNE, budget_tokens=budget)))
            given.add(("Bergen" in said, "Trondheim" in said))
        assert (True, False) in given

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
    def test_what_is_asked_of_now_comes_first(
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
def test_of_three_that_which_held_then_comes_first(
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
    said = "\n".join(retrieved(facts.context(query=question, now=JUNE, sources=sources)))
    assert order[0] in said


def test_without_a_question_too(facts: Facts, moved: tuple[int, int]):
    home = facts.alice.entity("home")
    facts.alice.link(home, moved[0])
    facts.alice.link(moved[0], home)
    said = retrieved(facts.context(query=None))
    assert len(said) == 2
    assert any(f"[memory] {MARK}I live in Bergen" in each for each in said)
    assert any("[memory] Trondheim: moved!" in each for each in said)


def test_the_mark_is_in_the_language_of_the_list(facts: Facts):
    old, _ = facts.tell("我住在成都")
    new, _ = facts.tell("重庆，搬了！", at=MAY)
    facts.supersede(old, new)
    said = retrieved(facts.context(query="我住在哪里？"))
    assert any("（至 2026-05-05 为止）我住在成都" in each for each in said)
    assert any("重庆，搬了！" in each for each in said)
    hits = facts.search(query="我住在哪里")
    assert [each.text for each in hits] == ["重庆，搬了！", "（至 2026-05-05 为止）我住在成都"]


def test_after_two_moves_the_last_one_is_what_comes(facts: Facts, moved: tuple[int, int]):
    oslo, _ = facts.tell("Oslo: moved!", at=MAY + timedelta(days=30))
    facts.supersede(moved[1], oslo, MAY + timedelta(days=30))
    first, *_, last = facts.search(sources=["memory"])
    assert (first.text, first.superseded_by) == ("Oslo: moved!", None)
    assert last.text.startswith(f"{MARK}I live in Bergen")
    assert last.superseded_by == oslo


@pytest.mark.parametrize(("sources", "told"), [(["chat", "memory"], "I moved to Oslo"),
                                               (["memory"], "Just so")])  # fmt: skip
def test_a_memory_that_has_faded_gives_way_to_its_message(
    facts: Facts, sources: list[str], told: str
):
    """As long as messages may be given: they alone still say where that is."""
    old, _ = facts.tell("I live in Bergen")
    new, _ = facts.tell("I moved to Oslo", at=MAY)
    facts.supersede(old, new)
    facts.alice.execute("UPDATE node SET content = 'Just so' WHERE agent_id = %s AND id = %s", new)
    first, second = facts.search(query="in Bergen I live", sources=sources, k=2)
    assert (first.text, second.text) == (told, f"{MARK}I live in Bergen")


class TestWhichMessage:
    """Of the messages of a memory those are marked that claim what is otherwise now."""

    @pytest.fixture
    def mixed(self, facts: Facts) -> tuple[int, int]:
        old, seqs = facts.tell(
            "My rent is 900 euros in this town", "I live in Bergen, a town by the sea",
            "The town is fine since the rain stopped", claiming=1,
        )  # fmt: skip
        facts.claim(old, seqs[0], at=BEGIN, about=("user:", "rent"))
        new, _ = facts.tell("Trondheim: moved!", at=MAY)
        facts.supersede(old, new)
        return old, new

    @pytest.mark.parametrize("gone", [(), (0,), (1,)])
    def test_the_others_still_hold(
        self, facts: Facts, mixed: tuple[int, int], gone: tuple[int, ...]
    ):
        for place in gone:
            facts.forget(mixed[place])
        marked = {each.text for each in facts.search(sources=["chat"], k=10) if each.superseded_at}
        claiming = {f"{MARK}I live in Bergen, a town by the sea"}
        if gone == (1,):  # nobody knows any more which of the claims it was
            claiming.add(f"{MARK}My rent is 900 euros in this town")
        assert marked == claiming

    def test_one_that_says_both_is_not_marked(self, facts: Facts):
        seq = facts.alice.say("I live in Bergen. I moved to Trondheim.", session=None)
        old = facts.alice.remember("I live in Bergen.", [seq], session=None)
        new = facts.alice.remember("I moved to Trondheim.", [seq], session=None)
        for node in (old, new):
            facts.claim(node, seq, at=BEGIN)
        facts.supersede(old, new, BEGIN)
        assert [each.superseded_at for each in facts.search(sources=["chat"])] == [None]


def test_what_is_out_of_sight_does_not_come(facts: Facts, moved: tuple[int, int]):
    facts.alice.execute(
        "UPDATE node SET tier = 'short', session_id = 's9' WHERE agent_id = %s AND id = %s",
        moved[1],
    )
    (old,) = facts.search(sources=["memory"], session_id="s1")
    assert old.text.startswith(f"{MARK}I live in Bergen")
    # Messages are always in sight.
    assert "Trondheim" in facts.search(session_id="s1")[0].text


def test_a_successor_that_was_merged_comes_as_what_it_became(facts: Facts, moved: tuple[int, int]):
    """Its claims are the merged one's (storage/network/beliefs.py)."""
    merged, _ = facts.tell("Trondheim: moved! really", at=MAY)
    with facts.alice.reader.database.agent_transaction("alice") as connection:
        connection.exec_driver_sql(_MERGED, (merged, moved[1]))
    facts.forget(moved[1])
    first, last = facts.search(sources=["memory"], k=2)
    assert (first.node_id, last.superseded_by) == (merged, merged)


def test_what_a_recent_turn_says_is_not_left_alone_either(facts: Facts):
    """It stands as it was said, in a session that went on after another told the news."""
    seq = facts.alice.say("I live in Bergen", session="s1", said_at=BEGIN)
    bergen = facts.alice.remember("I live in Bergen", [seq], session="s1")
    facts.claim(bergen, seq, at=BEGIN)
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
