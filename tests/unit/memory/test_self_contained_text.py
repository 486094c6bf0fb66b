"""How memories are worded so that each can be read alone (R4)."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from memci.domain.memory.self_contained_text import leans_on, worded
from memci.language.detection import Language
from memci.message import Message, Role

FRIDAY = datetime(2023, 5, 12, 9, tzinfo=UTC)


def message(text: str, role: Role = Role.USER, **fields: Any) -> Message:
    return Message(1, "m1", role, text, FRIDAY, **fields)


def in_english(*said: Message, question: Message | None = None) -> str:
    return worded("\n".join(each.text for each in said), said, Language.ENGLISH, question)


def test_what_one_nameless_speaker_says_stays_as_it_is() -> None:
    assert in_english(message("I like tea."), message("And cake.")) == "I like tea.\nAnd cake."


def test_several_speakers_are_told_apart() -> None:
    talk = [message("Tea?"), message("Here it is.", Role.ASSISTANT), message("{}", Role.TOOL)]
    assert in_english(*talk) == "User: Tea?\nAssistant: Here it is.\nTool: {}"
    text = "\n".join(each.text for each in talk)
    assert worded(text, talk, Language.CHINESE) == "用户: Tea?\n助手: Here it is.\n工具: {}"


def test_names_go_before_roles() -> None:
    talk = [message("Tea?", name="Ann"), message("Here it is.", Role.ASSISTANT)]
    assert in_english(*talk) == "Ann: Tea?\nAssistant: Here it is."


def test_the_question_of_a_short_answer_is_quoted() -> None:
    question = message("Nice to meet you. Do you like it here?", Role.ASSISTANT)
    said = in_english(message("Yes, since 2016"), question=question)
    assert said == "[Assistant: Do you like it here?]\nUser: Yes, since 2016"


def test_a_question_is_quoted_in_bounds() -> None:
    question = message("why " * 500 + "?", name="Bob")
    assert len(in_english(message("Yes", name="Ann"), question=question)) < 250


def test_only_short_answers_lean_on_a_question() -> None:
    question = message("Do you like it?", Role.ASSISTANT)
    assert leans_on(message("Yes, since 2016"), [message("So"), question]) is question
    assert leans_on(message("我喜欢"), [message("你喜欢什么？", Role.ASSISTANT)]) is not None
    assert leans_on(message("Yes. " * 30), [question]) is None
    assert leans_on(message("Thanks!"), [question]) is None
    assert leans_on(message("Yes", Role.ASSISTANT), [question]) is None
    assert leans_on(message("Yes"), [question, message("I like it.", Role.ASSISTANT)]) is None
    assert leans_on(message("Yes"), []) is None
