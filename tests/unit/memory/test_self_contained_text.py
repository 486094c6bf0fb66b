"""How memories are worded so that each can be read alone (R4)."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from memci.domain.memory.self_contained_text import question_answered_by, worded
from memci.language.detection import Language
from memci.message import Message, Role

FRIDAY = datetime(2023, 5, 12, 9, tzinfo=UTC)


def message(text: str, role: Role = Role.USER, **fields: Any) -> Message:
    return Message(1, "m1", role, text, FRIDAY, **fields)


def in_english(*messages: Message, question: Message | None = None) -> str:
    return worded("\n".join(each.text for each in messages), messages, Language.ENGLISH, question)


def test_text_of_one_speaker_without_a_name_is_unchanged() -> None:
    assert in_english(message("I like tea."), message("And cake.")) == "I like tea.\nAnd cake."


def test_several_speakers_get_labels() -> None:
    talk = [message("Tea?"), message("Here it is.", Role.ASSISTANT), message("{}", Role.TOOL)]
    assert in_english(*talk) == "User: Tea?\nAssistant: Here it is.\nTool: {}"
    text = "\n".join(each.text for each in talk)
    assert worded(text, talk, Language.CHINESE) == "用户: Tea?\n助手: Here it is.\n工具: {}"


def test_a_name_replaces_the_role() -> None:
    talk = [message("Tea?", name="Ann"), message("Here it is.", Role.ASSISTANT)]
    assert in_english(*talk) == "Ann: Tea?\nAssistant: Here it is."


def test_the_question_of_a_short_answer_is_quoted() -> None:
    question = message("Nice to meet you. Do you like it here?", Role.ASSISTANT)
    text = in_english(message("Yes, since 2016"), question=question)
    assert text == "[Assistant: Do you like it here?]\nUser: Yes, since 2016"


def test_a_long_question_is_shortened() -> None:
    question = message("why " * 500 + "?", name="Bob")
    assert len(in_english(message("Yes", name="Ann"), question=question)) < 250


def test_only_short_answers_need_their_question() -> None:
    question = message("Do you like it?", Role.ASSISTANT)
    assert question_answered_by(message("Yes, since 2016"), [message("So"), question]) is question
    assert (
        question_answered_by(message("我喜欢"), [message("你喜欢什么？", Role.ASSISTANT)])
        is not None
    )
    assert question_answered_by(message("Yes. " * 30), [question]) is None
    assert question_answered_by(message("Thanks!"), [question]) is None
    assert question_answered_by(message("Yes", Role.ASSISTANT), [question]) is None
    assert (
        question_answered_by(message("Yes"), [question, message("I like it.", Role.ASSISTANT)])
        is None
    )
    assert question_answered_by(message("Yes"), []) is None
