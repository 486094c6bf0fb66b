"""Which messages of a session are not stored as memories (R1, R2)."""

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


def utterance(text: str, speaker: str = "Ann", **fields: Any) -> Utterance:
    return Utterance(text, ("user", speaker), **fields)


def verdicts(*utterances: Utterance | str, similarity: float = 0.9, **values: Any) -> Sequence[Any]:
    """Filter the utterances; different ones have this similarity."""
    whole = [each if isinstance(each, Utterance) else utterance(each) for each in utterances]
    return filter_reasons(whole, lambda *_: similarity, MemoryParameters(**values))


def others(count: int) -> list[str]:
    return [f"Topic number {n}00 about gardening" for n in range(1, count + 1)]


class TestWindows:
    def test_windows_move_by_the_stride_and_cover_every_message(self) -> None:
        windows = windows_of(12, MemoryParameters())
        assert windows[0] == [range(10)]
        assert windows[7] == [range(10), range(5, 12)]
        assert windows[11] == [range(5, 12), range(10, 12)]

    def test_every_message_is_covered_if_the_stride_is_longer_than_the_window(self) -> None:
        windows = windows_of(7, MemoryParameters(window_size=2, window_stride=5))
        assert all(windows)

    def test_the_context_is_two_windows(self) -> None:
        assert context_size(MemoryParameters()) == 20


class TestInformation:
    def test_a_repetition_has_novelty_zero_and_new_ngrams_raise_it(self) -> None:
        known = ngrams_of(["at", "five"])
        assert novelty(ngrams_of(["at", "five"]), known, 1.0) == 0.0
        assert novelty(ngrams_of(["five", "at"]), known, 1.0) == 0.5
        assert novelty(ngrams_of(["at", "six"]), known, 1.0) == 0.75

    def test_a_text_unlike_all_before_has_novelty_one(self) -> None:
        assert novelty(ngrams_of(["a"]), ngrams_of(["a"]), 0.0) == 1.0
        assert novelty(ngrams_of(["a"]), ngrams_of(["a"]), -0.4) == 1.0


class TestTrivial:
    def test_small_talk_is_trivial(self) -> None:
        assert verdicts("Hi!", FACT, "Thanks!") == [TRIVIAL, None, TRIVIAL]

    def test_without_skip_trivial_small_talk_is_kept(self) -> None:
        assert verdicts("Hi!", FACT, "Thanks!", skip_trivial=False) == [None, None, None]

    def test_texts_below_min_content_length_are_trivial(self) -> None:
        assert verdicts(VAGUE, FACT) == [None, None]
        assert verdicts(VAGUE, FACT, min_content_length=60) == [TRIVIAL, None]

    def test_a_tool_call_is_never_trivial(self) -> None:
        assert verdicts(utterance("ok()", calls=True), FACT) == [None, None]


class TestRepeated:
    def test_a_repetition_within_two_windows_is_refused(self) -> None:
        assert verdicts(FACT, "Now about gardening", FACT) == [None, None, REPEATED]
        assert verdicts(FACT, *others(9), FACT)[-1] is REPEATED

    def test_a_repetition_after_more_than_two_windows_is_kept(self) -> None:
        assert verdicts(FACT, *others(25), FACT)[-1] is None

    def test_a_text_with_a_new_detail_is_kept(self) -> None:
        assert verdicts("The dentist is on Monday at five", "The dentist is on Monday at six") == [
            None,
            None,
        ]
        assert verdicts("Tom called Ann at noon", "Ann called Tom at noon") == [None, None]
        assert verdicts("I want the blue one", "I don't want the blue one") == [None, None]
        assert verdicts("我喜欢吃苹果", "我不喜欢吃苹果") == [None, None]

    def test_a_higher_threshold_refuses_more(self) -> None:
        pair = ("Tom called Ann at noon about it", "Tom called Ann at noon about it all")
        assert verdicts(*pair) == [None, None]
        assert verdicts(*pair, novelty_threshold=0.9) == [None, REPEATED]

    def test_threshold_zero_refuses_nothing(self) -> None:
        assert verdicts(FACT, FACT, VAGUE, novelty_threshold=0) == [None, None, None]

    def test_the_same_text_of_another_speaker_is_kept(self) -> None:
        assert verdicts(utterance(FACT), utterance(FACT, "Bob")) == [None, None]

    def test_a_text_that_was_refused_before_is_no_repetition(self) -> None:
        before = utterance(FACT, status=Status.REFUSED)
        assert verdicts(before, FACT) == [None, None]
        assert verdicts(utterance(FACT, status=Status.REMEMBERED), FACT) == [None, REPEATED]

    def test_a_very_long_text_repeats_only_itself(self) -> None:
        text = "word " * 2_000
        assert verdicts(text, text + "x", text, similarity=0.0) == [None, None, REPEATED]


class TestLowInformation:
    def test_vague_talk_is_kept_only_with_informative_messages(self) -> None:
        assert verdicts(VAGUE) == [LOW]
        assert verdicts(VAGUE, FACT) == [None, None]
        assert verdicts(utterance(FACT, status=Status.REMEMBERED), VAGUE) == [None, None]
        assert verdicts(utterance("Hi!", status=Status.REFUSED), VAGUE) == [None, LOW]

    def test_one_informative_window_is_enough(self) -> None:
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
        assert verdicts(utterance(question), utterance(answer, "Bob")) == [None, None]

    def test_a_question_without_an_answer_is_kept(self) -> None:
        assert verdicts("Do you like it?") == [None]
        assert verdicts(utterance("Do you?", status=Status.REFUSED), utterance("Yes", "Bob")) == [
            None,
            None,
        ]

    def test_thanks_are_no_answer(self) -> None:
        assert verdicts(utterance(f"{FACT}. Do you know it?"), utterance("Thanks!", "Bob")) == [
            None,
            TRIVIAL,
        ]

    def test_the_askers_own_next_message_is_no_answer(self) -> None:
        assert verdicts("Do you like it?", "Hi!") == [None, TRIVIAL]

    def test_the_same_answer_to_another_question_is_kept(self) -> None:
        talk = [
            utterance("Do you run?"), utterance("Yes, since 2016", "Bob"),
            utterance("Do you swim?"), utterance("Yes, since 2016", "Bob"),
        ]  # fmt: skip
        assert verdicts(*talk) == [None] * 4

    def test_a_question_is_kept_with_another_answer(self) -> None:
        talk = [
            utterance("Do you swim?"), utterance("Yes, since 2016", "Bob"),
            utterance("Do you swim?"), utterance("Never again", "Bob"),
        ]  # fmt: skip
        assert verdicts(*talk) == [None] * 4

    def test_the_same_question_with_the_same_answer_is_a_repetition(self) -> None:
        talk = [utterance("Do you swim?"), utterance("Yes, since 2016", "Bob")] * 2
        assert verdicts(*talk) == [None, None, REPEATED, REPEATED]

    def test_questions_of_small_talk_are_kept_only_for_an_answer_that_tells_something(self) -> None:
        asked = utterance("Are you there?", talk=0.96)
        assert verdicts(asked) == [TRIVIAL]
        assert verdicts(asked, utterance("Fine, and you?", "Bob", talk=0.97)) == [TRIVIAL, TRIVIAL]
        assert verdicts(asked, utterance("I broke a leg", "Bob", talk=0.1)) == [None, None]
        assert verdicts(utterance("How is Oslo in May?", talk=0.98)) == [None]

    def test_a_tool_call_is_kept_with_its_result(self) -> None:
        call = utterance("weather(Oslo)", "assistant", calls=True)
        talk = [call, utterance("3 degrees", "tool"), call, utterance("5 degrees", "tool")]
        assert verdicts(*talk) == [None] * 4


def test_a_wanted_message_is_never_refused() -> None:
    assert verdicts(utterance("Hi!", status=Status.WANTED)) == [None]


def test_without_simplemem_nothing_is_refused() -> None:
    assert verdicts("Hi!", FACT, FACT, VAGUE, simplemem_enabled=False) == [None] * 4


def test_no_messages_give_no_reasons() -> None:
    assert verdicts() == []
