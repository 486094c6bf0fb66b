"""What is found and tells nothing (R2, R11)."""

from __future__ import annotations

import pytest

from memci.domain.search.duplicates import TrivialMessages
from memci.domain.search.ranking import Ranked
from tests.support.talk import in_order, keys, memory, message


def filler_among(ranked: list[Ranked], min_length: int) -> list[Ranked]:
    trivial = TrivialMessages(ranked, min_length)
    return [each for each in ranked if trivial.has(each)]


@pytest.mark.parametrize(
    "text", ["thanks!", "ok", "OK, great", "好的", "谢谢！", "👍", "Thanks, Ann!"]
)
def test_courtesy_is_filler(text: str) -> None:
    ranked = in_order(message(9, text), message(2, "The ferry leaves at eight.", name="Ann"))
    assert keys(filler_among(ranked, 20)) == [("chat", 9)]


@pytest.mark.parametrize("text", ["Room 14", "渡轮八点", "Thanks, the ferry left at eight."])
def test_what_tells_something_is_none(text: str) -> None:
    assert filler_among(in_order(message(9, text)), 20) == []


@pytest.mark.parametrize(
    ("question", "answer"), [("Do you like the ferry?", "yes"), ("你喜欢渡轮吗？", "好的")]
)
def test_an_answer_stays_beside_its_question(question: str, answer: str) -> None:
    assert filler_among(in_order(message(9, answer), message(8, question)), 20) == []
    assert keys(filler_among(in_order(message(9, answer)), 20)) == [("chat", 9)]


def test_thanks_answer_nothing() -> None:
    ranked = in_order(message(9, "thanks!"), message(8, "Do you like the ferry?"))
    assert keys(filler_among(ranked, 20)) == [("chat", 9)]


def test_a_memory_is_no_filler() -> None:
    assert filler_among(in_order(memory(1, 9, text="ok")), 20) == []
