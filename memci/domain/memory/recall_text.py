"""The text form of a recall (M20), for a model to read."""

from __future__ import annotations

from datetime import datetime

from memci.domain.language import Language, language_of
from memci.domain.memory.recall import Miss

SEPARATOR = "\n---\n"
_MEMORY = {Language.ENGLISH: "[memory] ", Language.CHINESE: "[记忆] "}
_UNTIL = {Language.ENGLISH: "(until {}) ", Language.CHINESE: "（至 {} 为止）"}
_FORGOTTEN = {Language.ENGLISH: "[forgotten] {}: {}", Language.CHINESE: "[遗忘] {}：{}"}
_MISS = {
    Language.ENGLISH: {
        Miss.NEVER_KNOWN: "[never known] nothing about this was ever remembered",
        Miss.FORGOTTEN: "[forgotten] this was known once",
        Miss.PENDING: "[pending] messages about this are still being made into memories",
        Miss.OUT_OF_REACH: "[out of reach] remembered, but far from what is talked about now",
    },
    Language.CHINESE: {
        Miss.NEVER_KNOWN: "[从未知晓] 没有与此有关的记忆",
        Miss.FORGOTTEN: "[遗忘] 曾经知道此事",
        Miss.PENDING: "[待处理] 与此有关的消息尚未整理成记忆",
        Miss.OUT_OF_REACH: "[未触及] 记得此事，但离当前话题太远",
    },
}


def memory_entry(content: str, language: Language, until: datetime | None = None) -> str:
    """Write a memory as recall's text form has it, in the memory's own language.

    ``until``: since when another memory says otherwise (R6).
    """
    return _MEMORY[language] + until_mark(until, language) + content


def until_mark(until: datetime | None, language: Language) -> str:
    """Return what stands before a text that held ``until`` then: nothing, if it still does (R6)."""
    return "" if until is None else _UNTIL[language].format(until.date().isoformat())


def forgotten_entry(relation: str, hint: str) -> str:
    """Write what is left of a forgotten memory, in the language of its hint."""
    return _FORGOTTEN[language_of(hint or relation)].format(relation, hint)


def miss_entry(miss: Miss, language: Language) -> str:
    """Write why nothing was found, in the language of the question."""
    return _MISS[language][miss]
