"""Which found messages are trivial (R2, R11)."""

from __future__ import annotations

import pytest

from memci.domain.search.duplicates import TrivialMessages
from memci.domain.search.ranking import Ranked
from tests.support.talk import in_order, keys, memory, message


def trivial_among(ranked: list[Ranked], min_length: int) -> list[Ranked]:
    trivial = TrivialMessages(ranked, min_length)
    return [each for each in ranked if trivial.has(each)]


@pytest.mark.parametrize(
    "text", ["thanks!", "ok", "OK, great", "好的", "谢谢！", "👍", "Thanks, Ann!"]
)
def test_courtesy_is_trivial(text: str) -> None:
    ranked = in_order(message(9, text), message(2, "The ferry leaves at eight.", name="Ann"))
    assert keys(trivial_among(ranked, 20)) == [("chat", 9)]


@pytest.mark.parametrize("text", ["Room 14", "渡轮八点", "Thanks, the ferry left at eight."])
def test_informative_messages_are_not_trivial(text: str) -> None:
    assert trivial_among(in_order(message(9, text)), 20) == []


@pytest.mark.parametrize(
    ("question", "answer"), [("Do you like the ferry?", "yes"), ("你喜欢渡轮吗？", "好的")]
)
def test_an_answer_after_its_question_is_not_trivial(question: str, answer: str) -> None:
    assert trivial_among(in_order(message(9, answer), message(8, question)), 20) == []
    assert keys(trivial_among(in_order(message(9, answer)), 20)) == [("chat", 9)]


def test_thanks_are_no_answer() -> None:
    ranked = in_order(message(9, "thanks!"), message(8, "Do you like the ferry?"))
    assert keys(trivial_among(ranked, 20)) == [("chat", 9)]


def test_a_memory_is_never_trivial() -> None:
    assert trivial_among(in_order(memory(1, 9, text="ok")), 20) == []
