"""How a memory is worded, so that it can be read alone (R4).

Nothing of what was said is changed or lost. Added are, and can be told apart: the date beside an
expression of time, in brackets; who speaks, before a colon; and the question that a short answer
leans on, in square brackets in front of everything.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from memci.domain.language import Language, language_of
from memci.domain.memory.self_contained import self_contained
from memci.domain.memory.small_talk import asks, can_answer, last_question
from memci.domain.message import Message, Role
from memci.domain.time import with_absolute

_SPEAKERS = {
    Language.ENGLISH: {Role.USER: "User", Role.ASSISTANT: "Assistant", Role.TOOL: "Tool"},
    Language.CHINESE: {Role.USER: "用户", Role.ASSISTANT: "助手", Role.TOOL: "工具"},
}
# Characters: a longer answer says by itself what it is about.
_LEANING = {Language.ENGLISH: 60, Language.CHINESE: 24}
_LONGEST_QUESTION = 200
# Characters at the end of a long message, where its question would be.
_END = 1_000


def worded(
    text: str, messages: Sequence[Message], language: Language, question: Message | None = None
) -> str:
    """Return the text of a memory; ``messages`` are those that its segment was cut from, in order.

    ``question``: what the first of them answers (``leans_on``). Where several speak, those without
    a name are told apart by their roles.
    """
    everyone = [question, *messages] if question else messages
    if len({(each.role, each.name) for each in everyone}) > 1:
        messages = [_named(each, language) for each in messages]
    if len(messages) == 1:
        # The whole segment is its: no need to look for it in what may be a very long message.
        messages = [replace(messages[0], content=text, tool_calls=())]
    said = self_contained(text, messages)
    return f"{_quoted(question, language)}\n{said}" if question else said


def leans_on(answer: Message, before: Sequence[Message]) -> Message | None:
    """Return the question without which a short answer cannot be understood.

    ``before``: what was said in the conversation before it, in order.
    """
    if not before or len(answer.text) > _LEANING[language_of(answer.text)]:
        return None
    asked = before[-1]
    answers = (asked.role, asked.name) != (answer.role, answer.name) and can_answer(answer.text)
    return asked if answers and asks(asked.text[-_END:]) else None


def labels(role: Role | None, name: str | None) -> tuple[str, ...]:
    """Return all that may stand before what somebody says, in any language."""
    by_role = (_SPEAKERS[language].get(role) for language in Language if role)
    return tuple(each for each in (*by_role, name) if each)


def _quoted(question: Message, language: Language) -> str:
    words = last_question(question.text[-_END:])[:_LONGEST_QUESTION]
    name = " ".join((_named(question, language).name or "").split())
    return f"[{name}: {with_absolute(words, question.said_at)}]"


def _named(message: Message, language: Language) -> Message:
    return replace(message, name=message.name or _SPEAKERS[language].get(message.role))
