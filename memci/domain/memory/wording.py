"""How a memory is worded, so that it can be read alone (R4).

Nothing of what was said is changed or lost. Added are, and can be told apart: the date beside an
expression of time, in brackets; who speaks, before a colon; and the question that a short answer
leans on, in square brackets in front of everything.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memci.domain.language import Language, language_of
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


@dataclass(frozen=True, slots=True)
class Part:
    """What a segment holds of one message: its text, or a piece of it."""

    message: Message
    text: str


def worded(parts: Sequence[Part], language: Language, question: Message | None = None) -> str:
    """Return the text of a memory; ``question``: what its first part answers (``leans_on``).

    Whoever has a name is named. Nobody else is, unless several speak.
    """
    several = len({_speaker(part.message) for part in parts} | _asker(question)) > 1
    lines = [_quoted(question, language)] if question else []
    before: object = None
    for part in parts:
        text = with_absolute(part.text, part.message.said_at)
        name = _name(part.message, language, several=several)
        speaks = name and _speaker(part.message) != before and not text.startswith(f"{name}:")
        lines.append(f"{name}: {text}" if speaks else text)
        before = _speaker(part.message)
    return "\n".join(lines)


def leans_on(part: Part, before: Sequence[Message]) -> Message | None:
    """Return the question without which a segment that begins with ``part`` cannot be understood.

    ``before``: what was said in the session before it, in order.
    """
    if not before or len(part.text) > _LEANING[language_of(part.text)]:
        return None
    asked = before[-1]
    answers = _speaker(asked) != _speaker(part.message) and can_answer(part.text)
    return asked if answers and asks(asked.text[-_END:]) else None


def _asker(question: Message | None) -> set[tuple[str, str]]:
    return {_speaker(question)} if question else set()


def _quoted(question: Message, language: Language) -> str:
    name = _name(question, language, several=True)
    words = with_absolute(
        last_question(question.text[-_END:])[:_LONGEST_QUESTION], question.said_at
    )
    return f"[{name}: {words}]"


def _name(message: Message, language: Language, *, several: bool) -> str:
    if message.name:
        return message.name
    return _SPEAKERS[language].get(message.role, "") if several else ""


def _speaker(message: Message) -> tuple[str, str]:
    return message.role, message.name or ""
