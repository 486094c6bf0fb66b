"""Rules that find expressions of time, what they return, and the text around a match.

A ``Rule`` is a pattern with a function that reads a match; a ``Reading`` is the days it means.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import date
from enum import StrEnum
from functools import cache

from memci.language.detection import Language


class Granularity(StrEnum):
    """Units of a reading."""

    DAY = "day"
    WEEKEND = "weekend"
    WEEK = "week"
    MONTH = "month"
    SEASON = "season"
    YEAR = "year"
    PERIOD = "period"  # any other stretch of days: "in the last three days", "1–7 May 2023"


@dataclass(frozen=True, slots=True)
class Reading:
    """The days that an expression means: ``first`` to ``last``, both included."""

    first: date
    last: date
    granularity: Granularity
    certain: bool = True  # the usual conventions agree; else the range is the best guess
    approximate: bool = False  # the speaker rounded: "three weeks ago"
    whole: bool = False  # a full date, whenever it was said
    yearless: bool = False  # a day and month without a year, which was inferred

    @property
    def middle(self) -> date:
        """The day half-way."""
        return self.first + (self.last - self.first) // 2


def as_guess(reading: Reading, *, sure: bool = False) -> Reading:
    """Return the reading as a guess, unless it is sure."""
    return reading if sure else replace(reading, certain=False)


@dataclass(frozen=True, slots=True)
class TimeMention:
    """An expression of time, at characters ``start`` to ``end`` of a text."""

    start: int
    end: int
    text: str
    language: Language
    reading: Reading

    @property
    def certain(self) -> bool:
        """True if the days may be written down as a fact."""
        return self.reading.certain


Read = Callable[[re.Match[str], date], Reading | None]


@dataclass(frozen=True, slots=True)
class Rule:
    """A pattern, and a function that returns what a match means on a day, or None.

    ``needs`` (lower case): a text without any of these is not searched, as most texts.
    Where the pattern has a group ``mention``, only that is the expression.
    """

    words: str
    read: Read
    needs: tuple[str, ...]

    @classmethod
    def of(cls, words: str, read: Read, *needs: str) -> Rule:
        """Make a rule that ignores case.

        ASCII classes: Han characters may touch English words, and "ſ" is no "s".
        """
        return cls(words, read, needs)

    @property
    def pattern(self) -> re.Pattern[str]:
        """The pattern, compiled at first use: many processes never need it."""
        return _compiled(self.words)


@cache
def _compiled(words: str) -> re.Pattern[str]:
    return re.compile(words, re.IGNORECASE | re.ASCII)


def span(match: re.Match[str]) -> tuple[int, int]:
    """Return the start and end of the expression."""
    return match.span("mention") if "mention" in match.re.groupindex else match.span()


def readings(rules: Iterable[Rule], text: str, said: date) -> Iterator[tuple[int, int, Reading]]:
    """Yield (start, end, reading) of each match of each rule in a text said on a day."""
    lower = text.lower()
    for rule in rules:
        if not any(need in lower for need in rule.needs):
            continue
        for match in rule.pattern.finditer(text):
            try:
                reading = rule.read(match, said)
            except (OverflowError, ValueError):
                continue  # 30 February, or beyond the calendar
            if reading is not None:
                yield *span(match), reading


# Fenced and inline code, addresses, and lines quoted from elsewhere: their times are not ours.
_UNTOUCHED = re.compile(
    r"```.*?(?:```|\Z)|`[^`\n]*`|^[ \t]*>[^\n]*"
    r"|(?<![a-z0-9])[a-z][a-z0-9+.-]{0,20}://[!-~]+|\bwww\.[!-~]+|(?<![!-~])[!-~]*@[!-~]+",
    re.DOTALL | re.IGNORECASE | re.MULTILINE,
)
# Words in quotation marks are a title, or were said by somebody else at another time.
_QUOTED = re.compile(
    r"\"[^\"\n]{0,999}\"|“[^”\n]{0,999}”|「[^」\n]{0,999}」|『[^』\n]{0,999}』|《[^》\n]{0,99}》"
    r"|〈[^〉\n]{0,99}〉|«[^»\n]{0,999}»|(?<!\w)'[^'\n]{0,999}'(?!\w)|(?<!\w)‘[^’\n]{0,999}’(?!\w)"
)
_WORD_BEFORE = re.compile(r"([^\W\d_]+(?:['’][^\W\d_]+)?|[^\w\s])\s*\Z")
_WORD_AFTER = re.compile(r"\s+([^\W\d_]+(?:['’][^\W\d_]+)?)")
_IN_A_SENTENCE = re.compile(r"[\w,，、;()（）'’&/-]\s*\Z")
_SENTENCE_END = re.compile(r"[.!?。！？\n]")
_NEAR = 64


class CharacterMask:
    """The characters of a text that a pattern covers."""

    def __init__(self, text: str, pattern: re.Pattern[str]) -> None:
        self._mask = bytearray(len(text))
        for match in pattern.finditer(text):
            self._mask[match.start() : match.end()] = b"\1" * len(match[0])

    def touches(self, start: int, end: int) -> bool:
        """Return True if any character from ``start`` to before ``end`` is covered."""
        return self._mask.find(1, start, end) >= 0


def code_and_quoted_lines(text: str) -> CharacterMask:
    """Return the mask of code, addresses and quoted lines."""
    return CharacterMask(text, _UNTOUCHED)


def quotations(text: str) -> CharacterMask:
    """Return the mask of text between quotation marks or title marks."""
    return CharacterMask(text, _QUOTED)


def word_before(text: str, start: int) -> str:
    """Return the word or punctuation mark before a position, in lower case, or ''."""
    found = _WORD_BEFORE.search(text[max(0, start - _NEAR) : start])
    return found[1].lower() if found else ""


def word_after(text: str, end: int) -> str:
    """Return the next word after blanks, or ''."""
    found = _WORD_AFTER.match(text, end, end + _NEAR)
    return found[1] if found else ""


def inside_sentence(text: str, start: int) -> bool:
    """Return True if a sentence does not begin here, where any word has a capital."""
    return bool(_IN_A_SENTENCE.search(text[max(0, start - _NEAR) : start]))


def ends_sentence(text: str, start: int, end: int) -> bool:
    """Return True if a sentence ends between two places."""
    return bool(_SENTENCE_END.search(text, start, end))


def sentence_around(text: str, start: int, end: int) -> str:
    """Return the sentence, within 200 characters each way, in lower case."""
    low = max(0, start - 200)
    before = [match.end() for match in _SENTENCE_END.finditer(text, low, start)]
    after = _SENTENCE_END.search(text, end, end + 200)
    return text[before[-1] if before else low : after.start() if after else end + 200].lower()
