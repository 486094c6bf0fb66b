"""Which messages of a session make no memory (R1, R2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from memci.domain.memory.message_filter import (
    FilterReason,
    Status,
    Utterance,
    context_size,
    filter_reasons,
    ngrams_of,
    novelty,
    windows_of,
)
from memci.domain.memory.parameters import MemoryParameters

TRIVIAL, REPEATED, LOW = (
    FilterReason.TRIVIAL,
    FilterReason.REPEATED,
    FilterReason.LOW_INFORMATION,
)
FACT = "My sister moved to Lisbon in May"
VAGUE = "so I guess we will just see how it goes then"


def said(text: str, speaker: str = "Ann", **how: Any) -> Utterance:
    return Utterance(text, ("user", speaker), **how)


def verdicts(*utterances: Utterance | str, alike: float = 0.9, **values: Any) -> Sequence[Any]:
    """Judge; everything that differs is ``alike`` to everything else."""
    whole = [each if isinstance(each, Utterance) else said(each) for each in utterances]
    return filter_reasons(whole, lambda *_: alike, MemoryParameters(**values))


def others(count: int) -> list[str]:
    return [f"Topic number {n}00 about gardening" for n in range(1, count + 1)]


class TestWindows:
    def test_they_slide_by_their_stride_and_reach_every_message(self) -> None:
        around = windows_of(12, MemoryParameters())
        assert around[0] == [range(10)]
        assert around[7] == [range(10), range(5, 12)]
        assert around[11] == [range(5, 12), range(10, 12)]

    def test_none_is_left_out_when_the_stride_is_longer_than_the_window(self) -> None:
        around = windows_of(7, MemoryParameters(window_size=2, window_stride=5))
        assert all(around)

    def test_they_reach_two_windows_back(self) -> None:
        assert context_size(MemoryParameters()) == 20


class TestInformation:
    def test_a_repetition_tells_nothing_and_each_new_thing_halves_the_doubt(self) -> None:
        known = ngrams_of(["at", "five"])
        assert novelty(ngrams_of(["at", "five"]), known, 1.0) == 0.0
        assert novelty(ngrams_of(["five", "at"]), known, 1.0) == 0.5
        assert novelty(ngrams_of(["at", "six"]), known, 1.0) == 0.75

    def test_what_is_unlike_everything_before_tells_all(self) -> None:
        assert novelty(ngrams_of(["a"]), ngrams_of(["a"]), 0.0) == 1.0
        assert novelty(ngrams_of(["a"]), ngrams_of(["a"]), -0.4) == 1.0


class TestTrivial:
    def test_small_talk_makes_no_memory(self) -> None:
        assert verdicts("Hi!", FACT, "Thanks!") == [TRIVIAL, None, TRIVIAL]

    def test_skip_trivial_keeps_it_where_something_is_told(self) -> None:
        assert verdicts("Hi!", FACT, "Thanks!", skip_trivial=False) == [None, None, None]

    def test_min_content_length_says_what_is_short(self) -> None:
        assert verdicts(VAGUE, FACT) == [None, None]
        assert verdicts(VAGUE, FACT, min_content_length=60) == [TRIVIAL, None]

    def test_a_tool_call_is_never_small_talk(self) -> None:
        assert verdicts(said("ok()", calls=True), FACT) == [None, None]


class TestRepeated:
    def test_what_was_said_in_the_last_two_windows_makes_no_second_memory(self) -> None:
        assert verdicts(FACT, "Now about gardening", FACT) == [None, None, REPEATED]
        assert verdicts(FACT, *others(9), FACT)[-1] is REPEATED

    def test_what_was_said_longer_ago_does(self) -> None:
        assert verdicts(FACT, *others(25), FACT)[-1] is None

    def test_any_new_detail_is_kept(self) -> None:
        assert verdicts("The dentist is on Monday at five", "The dentist is on Monday at six") == [
            None,
            None,
        ]
        assert verdicts("Tom called Ann at noon", "Ann called Tom at noon") == [None, None]
        assert verdicts("I want the blue one", "I don't want the blue one") == [None, None]
        assert verdicts("我喜欢吃苹果", "我不喜欢吃苹果") == [None, None]

    def test_a_higher_threshold_takes_more_for_a_repetition(self) -> None:
        pair = ("Tom called Ann at noon about it", "Tom called Ann at noon about it all")
        assert verdicts(*pair) == [None, None]
        assert verdicts(*pair, novelty_threshold=0.9) == [None, REPEATED]

    def test_threshold_zero_refuses_nothing(self) -> None:
        assert verdicts(FACT, FACT, VAGUE, novelty_threshold=0) == [None, None, None]

    def test_another_speaker_repeats_nothing(self) -> None:
        assert verdicts(said(FACT), said(FACT, "Bob")) == [None, None]

    def test_what_made_no_memory_before_can_not_be_repeated(self) -> None:
        before = said(FACT, status=Status.REFUSED)
        assert verdicts(before, FACT) == [None, None]
        assert verdicts(said(FACT, status=Status.REMEMBERED), FACT) == [None, REPEATED]

    def test_a_very_long_text_repeats_only_itself(self) -> None:
        text = "word " * 2_000
        assert verdicts(text, text + "x", text, alike=0.0) == [None, None, REPEATED]


class TestLowInformation:
    def test_talk_that_names_nothing_is_kept_beside_something_that_does(self) -> None:
        assert verdicts(VAGUE) == [LOW]
        assert verdicts(VAGUE, FACT) == [None, None]
        assert verdicts(said(FACT, status=Status.REMEMBERED), VAGUE) == [None, None]
        assert verdicts(said("Hi!", status=Status.REFUSED), VAGUE) == [None, LOW]

    def test_one_window_that_tells_something_is_enough(self) -> None:
        vague = [f"{VAGUE}{'!' * n}" for n in range(11)]
        found = verdicts(*vague, FACT)
        assert found[:5] == [LOW] * 5
        assert found[5:] == [None] * 7


class TestExchanges:
    @pytest.mark.parametrize(
        ("question", "answer"),
        [
            ("Do you like it?", "Yes, since 2016"),
            ("Do you smoke?", "No."),
            ("你抽烟吗？", "不"),
            ("Shall we?", "ok"),
        ],
    )
    def test_a_question_and_its_short_answer_are_kept(self, question: str, answer: str) -> None:
        assert verdicts(said(question), said(answer, "Bob")) == [None, None]

    def test_a_question_may_wait_for_its_answer(self) -> None:
        assert verdicts("Do you like it?") == [None]
        assert verdicts(said("Do you?", status=Status.REFUSED), said("Yes", "Bob")) == [
            None,
            None,
        ]

    def test_thanks_are_no_answer(self) -> None:
        assert verdicts(said(f"{FACT}. Do you know it?"), said("Thanks!", "Bob")) == [
            None,
            TRIVIAL,
        ]

    def test_what_the_asker_goes_on_to_say_is_no_answer(self) -> None:
        assert verdicts("Do you like it?", "Hi!") == [None, TRIVIAL]

    def test_the_same_answer_to_another_question_is_kept(self) -> None:
        talk = [
            said("Do you run?"), said("Yes, since 2016", "Bob"),
            said("Do you swim?"), said("Yes, since 2016", "Bob"),
        ]  # fmt: skip
        assert verdicts(*talk) == [None] * 4

    def test_a_question_is_kept_with_another_answer(self) -> None:
        talk = [
            said("Do you swim?"), said("Yes, since 2016", "Bob"),
            said("Do you swim?"), said("Never again", "Bob"),
        ]  # fmt: skip
        assert verdicts(*talk) == [None] * 4

    def test_the_same_question_with_the_same_answer_is_a_repetition(self) -> None:
        talk = [said("Do you swim?"), said("Yes, since 2016", "Bob")] * 2
        assert verdicts(*talk) == [None, None, REPEATED, REPEATED]

    def test_a_tool_call_is_kept_with_its_result(self) -> None:
        call = said("weather(Oslo)", "assistant", calls=True)
        talk = [call, said("3 degrees", "tool"), call, said("5 degrees", "tool")]
        assert verdicts(*talk) == [None] * 4


def test_what_somebody_wants_is_never_refused() -> None:
    assert verdicts(said("Hi!", status=Status.WANTED)) == [None]


def test_off_means_off() -> None:
    assert verdicts("Hi!", FACT, FACT, VAGUE, simplemem_enabled=False) == [None] * 4


def test_nothing_said_is_nothing_judged() -> None:
    assert verdicts() == []
