"""What a mention of time is, and which days it means."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date
from enum import StrEnum

from memci.domain.language import Language


class Granularity(StrEnum):
    """How finely a mention tells the time."""

    DAY = "day"
    WEEKEND = "weekend"
    WEEK = "week"
    MONTH = "month"
    SEASON = "season"
    YEAR = "year"
    PERIOD = "period"  # any other stretch of days: "in the last three days", "1–7 May 2023"


@dataclass(frozen=True, slots=True)
class Reading:
    """The days that an expression means: ``first`` to ``last``, both included.

    ``certain`` only where the usual conventions agree; else the range is the best guess.
    ``approximate``: the speaker rounded ("three weeks ago"), and the range is about right.
    ``yearless``: a day and month, whose year was found.
    ``whole``: the words are a full date by themselves, so nobody has to know when they were said.
    """

    first: date
    last: date
    granularity: Granularity
    certain: bool = True
    approximate: bool = False
    whole: bool = False
    yearless: bool = False

    @property
    def middle(self) -> date:
        """The day half-way."""
        return self.first + (self.last - self.first) // 2


def unsure(reading: Reading, *, sure: bool = False) -> Reading:
    """Return the reading as a guess, unless it is sure."""
    return reading if sure else replace(reading, certain=False)


@dataclass(frozen=True, slots=True)
class TimeMention:
    """An expression of time in a text: ``text`` stands at characters ``start`` to ``end`` of it."""

    start: int
    end: int
    text: str
    language: Language
    reading: Reading

    @property
    def certain(self) -> bool:
        """Whether the days may be written down as a fact."""
        return self.reading.certain
