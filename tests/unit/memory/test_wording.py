"""How memories are worded so that each can be read alone (R4)."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from memci.domain.language import Language
from memci.domain.memory.wording import Part, leans_on, worded
from memci.domain.message import Message, Role

FRIDAY = datetime(2023, 5, 12, 9, tzinfo=UTC)


def message(text: str, role: Role = Role.USER, **fields: Any) -> Message:
    return Message(1, "m1", role, text, FRIDAY, **fields)


def part(text: str, role: Role = Role.USER, **fields: Any) -> Part:
    return Part(message(text, role, **fields), text)


def in_english(*parts: Part, question: Message | None = None) -> str:
    return worded(parts, Language.ENGLISH, question)


def test_what_one_nameless_speaker_says_stays_as_it_is() -> None:
    assert in_english(part("I like tea."), part("And cake.")) == "I like tea.\nAnd cake."


def test_a_speaker_with_a_name_is_named_once_in_a_row() -> None:
    talk = [part("I like tea.", name="Ann"), part("And cake.", name="Ann"), part("Me too")]
    assert in_english(*talk) == "Ann: I like tea.\nAnd cake.\nUser: Me too"


def test_several_speakers_are_told_apart() -> None:
    talk = [part("Tea?"), part("Here it is.", Role.ASSISTANT), part("{}", Role.TOOL)]
    assert in_english(*talk) == "User: Tea?\nAssistant: Here it is.\nTool: {}"
    assert worded(talk, Language.CHINESE) == "用户: Tea?\n助手: Here it is.\n工具: {}"


def test_a_name_that_is_there_already_is_not_written_twice() -> None:
    assert in_english(part("Ann: I like tea.", name="Ann")) == "Ann: I like tea."


def test_dates_are_those_of_the_day_on_which_each_message_was_said() -> None:
    later = Message(2, "m2", Role.USER, "I flew yesterday.", datetime(2024, 1, 1, 9, tzinfo=UTC))
    said = in_english(part("I ran yesterday."), Part(later, "I flew yesterday."))
    assert said == "I ran yesterday (2023-05-11).\nI flew yesterday (2023-12-31)."


def test_the_question_of_a_short_answer_is_quoted() -> None:
    question = message("Nice to meet you. Do you like it here?", Role.ASSISTANT)
    said = in_english(part("Yes, since 2016"), question=question)
    assert said == "[Assistant: Do you like it here?]\nUser: Yes, since 2016"


def test_a_question_is_quoted_in_bounds() -> None:
    question = message("why " * 500 + "?", name="Bob")
    assert len(in_english(part("Yes", name="Ann"), question=question)) < 250


def test_only_short_answers_lean_on_a_question() -> None:
    question = message("Do you like it?", Role.ASSISTANT)
    assert leans_on(part("Yes, since 2016"), [message("So"), question]) is question
    assert leans_on(part("我喜欢"), [message("你喜欢什么？", Role.ASSISTANT)]) is not None
    assert leans_on(part("Yes. " * 30), [question]) is None
    assert leans_on(part("Thanks!"), [question]) is None
    assert leans_on(part("Yes", Role.ASSISTANT), [question]) is None
    assert leans_on(part("Yes"), [question, message("I like it.", Role.ASSISTANT)]) is None
    assert leans_on(part("Yes"), []) is None


@pytest.mark.parametrize("name", ["Ann", None])
def test_nothing_that_was_said_is_lost(name: str | None) -> None:
    texts = ["Last Friday we met.", "上周五我们见过。", "- a\n- b"]
    said = in_english(*(part(text, name=name) for text in texts))
    words = iter(said.split())
    assert all(word in words for text in ("Last Friday", "we met.", "- a") for word in text.split())
