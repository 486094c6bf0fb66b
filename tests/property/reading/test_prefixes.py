"""The beginning of a list stays the same while a conversation goes on (R13, R16)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import pairwise
from random import Random

import pytest

from memci.domain.context.assemble import Assembly
from memci.domain.context.materials import Materials
from memci.domain.context.message_list import Piece, Section, pieces, stable_prefix
from memci.domain.context.recent_messages import GROWTH
from memci.domain.search.candidate import message_candidate
from memci.domain.search.ranking import Ranked
from memci.domain.session.interaction import interactions
from memci.language.detection import Language
from memci.language.sentences import sentence_spans
from memci.message import Message, Role
from tests.support.talk import BEGIN, assemble, words

TURNS = 60
SYSTEM = "Be brief. " * 20
# A small budget holds few turns, so they are cut back more often.
LEAST_SHARES = {1_000: 0.8, 2_000: 0.85, 16_000: 0.85}
# With 1,000 tokens, the note about days takes the room of one turn.
LEAST_OVER_DAYS = {**LEAST_SHARES, 1_000: 0.7}


def prefix_of(assembly: Assembly) -> list[Piece]:
    return pieces(
        (f"{place}:{part.utterance.role}", item.text)
        for place, part in enumerate(assembly.parts)
        for item in part.items
    )


def note_of(assembly: Assembly) -> str:
    """The note in a list about the days of its turns."""
    recent = [each for each in assembly.items if each.section is Section.RECENT]
    return "".join(each.text for each in recent if not each.seqs)


@dataclass
class Talk:
    """A conversation with one assembled list per answer; nothing is recalled."""

    random: Random
    budget: int
    messages: list[Message] = field(default_factory=list)
    began: int | None = None
    lists: list[Assembly] = field(default_factory=list)
    pace: timedelta = timedelta(minutes=1)

    def turn(self) -> None:
        query = self._words()
        window = interactions(self.messages)[-8 * (GROWTH + 1) - 1 :]
        materials = Materials(
            SYSTEM, query, window, 8, [], Language.ENGLISH, began=self.began, grows=True,
            today=self.now.date(),
        )  # fmt: skip
        assembly = assemble(materials, self.budget, words)
        self.began = assembly.recent_begins
        self.lists.append(assembly)
        self._say(Role.USER, query)
        self._say(Role.ASSISTANT, self._words())

    def shares(self) -> list[float]:
        """For each list but the last: the share of it that the next list begins with."""
        listed = [prefix_of(each) for each in self.lists]
        return [
            stable_prefix(before, now) / sum(piece.length for piece in before)
            for before, now in pairwise(listed)
        ]

    @property
    def now(self) -> datetime:
        return BEGIN + self.pace * (len(self.messages) + 1)

    def _words(self) -> str:
        return " ".join(
            self.random.choice("abcdefgh") * 5 for _ in range(self.random.randint(5, 40))
        )

    def _say(self, role: Role, content: str) -> None:
        seq = len(self.messages) + 1
        self.messages.append(Message(seq, f"m{seq}", role, content, self.now, None, "s1"))


@pytest.mark.parametrize("budget", LEAST_SHARES)
@pytest.mark.parametrize("seed", range(3))
def test_a_list_begins_with_most_of_the_list_before(budget: int, seed: int):
    talk = Talk(Random(seed), budget)
    for _ in range(TURNS):
        talk.turn()
    shares = talk.shares()
    assert sum(shares) / len(shares) >= LEAST_SHARES[budget]


@pytest.mark.parametrize("budget", LEAST_SHARES)
@pytest.mark.parametrize("seed", range(3))
def test_within_a_day_a_list_begins_with_most_of_the_list_before(budget: int, seed: int):
    talk = Talk(Random(seed), budget, pace=timedelta(hours=1))
    days = []
    for _ in range(TURNS):
        days.append(talk.now.date())
        talk.turn()
    within = [
        share
        for share, (before, day) in zip(talk.shares(), pairwise(days), strict=True)
        if before == day
    ]
    assert len(within) > TURNS * 0.8
    assert sum(within) / len(within) >= LEAST_OVER_DAYS[budget]
    notes = [note_of(each) for each in talk.lists]
    assert len(set(notes)) >= len(set(days)) - 1
    # The query of a day's first list is a turn of the second, so the note stays the same.
    continued = [
        (before, now)
        for (before, now), (first, then) in zip(pairwise(talk.lists), pairwise(days), strict=True)
        if first == then and before.recent_begins == now.recent_begins
    ]
    assert len(continued) > TURNS // 4
    assert all(note_of(before) == note_of(now) for before, now in continued)


def test_recent_interactions_grow_and_are_cut_back_at_once():
    talk = Talk(Random(1), 16_000)
    for _ in range(TURNS):
        talk.turn()
    lengths = [
        sum(item.section is Section.RECENT for item in each.items) // 2 for each in talk.lists
    ]
    assert lengths[:26] == [*range(24), 8, 9]
    assert max(lengths) == 23
    assert min(lengths[8:]) == 8


@pytest.mark.parametrize("seed", range(3))
def test_summaries_in_a_list_do_not_depend_on_search_results(seed: int):
    random = Random(seed)
    talk = Talk(random, 1_000)
    for _ in range(20):
        talk.turn()
    window = interactions(talk.messages)[-9:]

    def summary_texts(query: str, found: Sequence[Message]) -> list[str]:
        ranked = [Ranked(message_candidate(each), 1 / at, {}) for at, each in enumerate(found, 1)]
        materials = Materials(
            SYSTEM, query, window, 8, ranked, Language.ENGLISH, spans=sentence_spans
        )
        assembly = assemble(materials, 600, words)
        once = [each for item in assembly.items if not item.shortened for each in item.seqs]
        assert len(once) == len(set(once))
        return [each.text for each in assembly.items if each.section is Section.SUMMARY]

    first = summary_texts("when", talk.messages[:24])
    assert first
    for _ in range(20):
        query = " ".join(["why"] * random.randint(1, 20))
        assert summary_texts(query, random.sample(talk.messages, 36)) == first
