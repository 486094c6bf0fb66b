"""A newer memory ranks before the one that it supersedes and is always shown with it (R6)."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from memci.domain.context.materials import Materials
from memci.domain.context.packing import Packed, Packing
from memci.domain.search.candidate import Source
from memci.domain.search.ranking import Ranked
from memci.domain.search.supersession import Ended, leaders_first, was_valid_at
from memci.language.detection import Language
from memci.language.times.ranges import TimeSpan
from tests.support.talk import in_order, memory, message

MAY = datetime(2026, 5, 5, tzinfo=UTC)
BEGIN, DAY = datetime(2026, 1, 1, tzinfo=UTC), timedelta(days=1)


def ranked(*places: int) -> list[Ranked]:
    """Return messages with these seqs, the best first."""
    return in_order(*map(message, places))


def order(found: list[Ranked]) -> list[int]:
    return [each.candidate.key for each in found]


class TestOrder:
    def test_a_found_successor_moves_up_with_the_score(self):
        found = leaders_first(ranked(1, 2, 3), {(Source.CHAT, 1): [message(3)]})
        assert order(found) == [3, 1, 2]
        assert [each.score for each in found] == [1, 1, 0.5]

    def test_a_successor_that_was_not_found_is_added(self):
        found = leaders_first(ranked(1, 2), {(Source.CHAT, 2): [memory(7), message(8)]})
        assert order(found) == [1, 7, 8, 2]
        assert [each.score for each in found] == [1, 0.5, 0.5, 0.5]

    def test_a_successor_that_ranks_first_already_stays(self):
        found = leaders_first(ranked(1, 2), {(Source.CHAT, 2): [message(1)]})
        assert found == ranked(1, 2)


def ended(**fields: Any) -> Ended:
    """Return a forgotten memory of two messages, superseded by a forgotten one."""
    return replace(Ended(1, MAY, frozenset({1, 2}), frozenset(), (5,), (), frozenset()), **fields)


def taken(packed: Packed) -> list[int]:
    items = (item.ranked for part in packed.parts for item in part.items)
    return [each.candidate.key for each in items if each is not None]


class TestWhichMessage:
    def test_the_message_with_the_part_that_holds_no_more(self):
        memory_ended = ended(parts=frozenset({"work at Acme"}))
        found = [message(1, "I live in Bern."), message(2, "I work at Acme.")]
        assert [memory_ended.is_told_in(each) for each in found] == [False, True]

    def test_no_message_if_the_part_is_not_known(self):
        assert not ended().is_told_in(message(1, "I live in Bern."))

    def test_the_only_message_of_a_memory(self):
        assert ended(seqs=frozenset({1})).is_told_in(message(1, "I live in Bern."))

    @pytest.mark.parametrize(
        ("text", "whole"),
        [
            ("I live in Bern.", True),
            ("Hey, I live in Bern!", True),
            ("I live in Bern. My sister Clara is a pilot.", False),
            ("My email is ann@example.org, and I live in Bern.", False),
        ],
    )
    def test_a_message_that_tells_more_is_not_over_as_a_whole(self, text, whole):
        memory_ended = ended(seqs=frozenset({1}), parts=frozenset({"I live in Bern"}))
        assert memory_ended.is_told_in(message(1, text)) == whole

    def test_no_message_that_tells_the_change_itself(self):
        memory_ended = ended(parts=frozenset({"I live in Bern"}), told_by=frozenset({1}))
        assert not memory_ended.is_told_in(message(1, "I live in Bern no more."))


def test_if_one_token_is_missing_the_superseded_message_is_dropped_first():
    """Also if messages of the newer memory, selected last, have replaced that memory."""
    newer = memory(5, 8, 9, text="here now")
    old = message(1, "there", until=MAY, newer=((Source.MEMORY, 5),))
    ranking = in_order(newer, old, message(8, "here we are"), message(9, "now we go"))

    def count(text: str) -> int:
        together = all(each in text for each in ("there", "here we", "now we"))
        return len(text.split()) + (6 if together else 0)

    chosen = Materials(None, None, [], 0, ranking, Language.ENGLISH)
    whole = Packing(chosen, [], 100, count).packed()
    assert taken(whole) == [1, 8, 9]
    tight = Packing(chosen, [], whole.tokens - 1, count).packed()
    assert taken(tight) == [8, 9]


class TestValidAt:
    @pytest.mark.parametrize(
        ("end", "held"), [(DAY, False), (DAY * 2, True), (DAY * 3, True), (DAY * 4, False)]
    )
    def test_a_memory_is_valid_if_it_held_at_the_end_of_the_time(self, end: timedelta, held: bool):
        """The memory is valid on days 1 to 3."""
        asked = TimeSpan(BEGIN, BEGIN + end)
        assert was_valid_at(BEGIN + DAY, BEGIN + DAY * 3, [asked]) is held

    def test_without_a_time_or_an_end_the_current_state_is_meant(self):
        assert not was_valid_at(BEGIN, BEGIN + DAY, [])
        assert not was_valid_at(BEGIN, BEGIN + DAY, [TimeSpan(BEGIN, None)])

    def test_a_memory_must_be_valid_at_all_named_times(self):
        first, later = TimeSpan(None, BEGIN + DAY), TimeSpan(BEGIN, BEGIN + DAY * 9)
        assert was_valid_at(BEGIN, BEGIN + DAY * 2, [first])
        assert not was_valid_at(BEGIN, BEGIN + DAY * 2, [first, later])
        assert was_valid_at(BEGIN, BEGIN + DAY * 2, [first, later._replace(besides=True)])
