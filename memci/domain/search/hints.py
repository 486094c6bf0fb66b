"""Hints from a question about its answer, apart from its words."""

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeAlias

from memci.domain.documents import is_named
from memci.domain.search.candidate import Timed
from memci.language.loading import remembering
from memci.language.names import entities_named
from memci.language.question.analysis import QueryAnalysis
from memci.language.question.intent import AnswerKind, Order

# Returns how well the time and the session of a message fit those that a question names, 0 to 1.
TimeFit: TypeAlias = Callable[[datetime, str | None], float]
# The ends of a question.
ASKING = ("?", "\uff1f")
_TIMES = re.compile(
    r"\b(?:yesterday|today|tonight|tomorrow|ago|last|next|week|weekend|month|year|night|morning|"
    r"recently|(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|may|june|"
    r"july|august|september|october|november|december|\d{4}|\d+(?:st|nd|rd|th))\b"
    r"|[昨今明前后去]天|[昨今明]晚|[上下这本]个?(?:周|月|星期|礼拜)|[去今明前]年|\d\s*[年月日号点]",
    re.IGNORECASE,
)
_NUMBERS = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|once|twice|couple|few)\b"
    r"|[一二两三四五六七八九十百千几][个次年月天岁元块只位条本]",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Hints:
    """Hints from a question about its answer, apart from its words."""

    speakers: frozenset[str] = frozenset()  # the people in it
    time_fit: TimeFit | None = None
    # Returns the share of the question's entities in a text, 0 to 1.
    entity_share: Callable[[str], float] | None = None
    names_symbol: Callable[[str], bool] | None = None  # True for its code symbols
    answer_kind: AnswerKind | None = None
    timed: Timed = field(default_factory=Timed)
    order: Order | None = None  # the occasion that it asks for


@remembering
def _has_time(text: str) -> bool:
    return _TIMES.search(text) is not None


@remembering
def _has_number(text: str) -> bool:
    return _NUMBERS.search(text) is not None


def has_answer(text: str, kind: AnswerKind | None) -> bool:
    """Return True if a text may hold an answer of this kind: a time or a number."""
    if kind is AnswerKind.WHEN:
        return _has_time(text)
    return kind is AnswerKind.HOW_MANY and _has_number(text)


def hints_of(analysis: QueryAnalysis, names: Collection[str], timed: Timed) -> Hints:
    """Return the hints of an analysis; ``names`` are the code names in the question."""
    keys = analysis.entity_keys
    return Hints(
        speakers=analysis.speakers,
        time_fit=analysis.time_fit if analysis.times else None,
        entity_share=(lambda text: len(entities_named(text, keys)) / len(keys)) if keys else None,
        names_symbol=(lambda symbol: is_named(symbol, names)) if names else None,
        answer_kind=analysis.answer_kind,
        timed=timed,
        order=analysis.order,
    )


_WORD = re.compile(r"[^\W_]+")
_HAN = re.compile(r"[\u3400-\u9fff]")


def count_words(text: str) -> float:
    """Count words; two Han characters are about one."""
    if text.isascii():
        return text.count(" ") + 1
    han = len(_HAN.findall(text))
    return han / 2 if han else len(_WORD.findall(text))
