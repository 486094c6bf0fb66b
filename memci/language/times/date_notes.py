"""Absolute dates beside the words that mean them (R4): "last Friday (2023-05-05)"."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime
from itertools import accumulate

from memci.language.detection import Language
from memci.language.times.dates import MONTHS
from memci.language.times.finder import find_times
from memci.language.times.rules import Granularity, Reading, TimeMention

_DAY, _NUMBER, _YEAR = r"\d{4}-\d\d-\d\d", r"\d{1,2}", r"\d{4}"
_NAME = f"(?:{'|'.join(month.capitalize() for month in MONTHS)})"
_ENGLISH = (
    rf"(?:around )?(?:{_DAY}|(?:{_NAME} )?{_YEAR}"
    rf"|{_NUMBER}(?: {_NAME}(?: {_YEAR})?)?–{_NUMBER} {_NAME} {_YEAR})"
)
_CHINESE = (
    rf"约?(?:{_DAY}|{_YEAR}年(?:{_NUMBER}月)?"
    rf"|{_YEAR}年{_NUMBER}月{_NUMBER}日–(?:(?:{_YEAR}年)?{_NUMBER}月)?{_NUMBER}日)"
)
_NOTE = re.compile(rf" \({_ENGLISH}\)|（{_CHINESE}）")
# "Last Friday (the 5th)": the writer has put a date there already.
_DATED = re.compile(r"\s?[(（][^()（）\n]{0,40}\d[^()（）\n]{0,40}[)）]")
_POSSESSIVE = re.compile(r"['’]s\b")


@dataclass(frozen=True, slots=True)
class Note:
    """What to insert before character ``at`` of a text."""

    at: int
    text: str


def with_absolute(text: str, said_at: datetime) -> str:
    """Return ``text`` with the date beside each expression of time whose meaning is certain.

    Nothing of the text is changed or lost, and doing it twice does no more than doing it once.
    ``said_at``: as for ``find_times``.
    """
    written, done = "", 0
    for note in absolute_notes(text, said_at):
        written += text[done : note.at] + note.text
        done = note.at
    return written + text[done:]


def without_notes(text: str) -> str:
    """Return ``text`` without the dates that ``with_absolute`` puts beside its words."""
    return _NOTE.sub("", text)


def absolute_notes(text: str, said_at: datetime) -> list[Note]:
    """Return what ``with_absolute`` inserts, in order.

    An expression that comes again gets its date once; one that has a date beside it gets none.
    """
    bare = _Bare.of(text)
    notes: list[Note] = []
    seen: set[str] = set()
    for mention in find_times(bare.text, said_at):
        words = mention.text.lower()
        if not mention.certain or mention.reading.whole or words in seen:
            continue
        seen.add(words)
        possessive = _POSSESSIVE.match(bare.text, mention.end)
        end = possessive.end() if possessive else mention.end
        if not bare.noted(end) and not _DATED.match(bare.text, end):
            notes.append(Note(bare.original(end), _note(mention)))
    return notes


@dataclass(frozen=True, slots=True)
class _Bare:
    """A text without its notes, so that they change nothing about what is found in it."""

    text: str
    cuts: tuple[int, ...]  # where notes stood, in the bare text
    lengths: tuple[int, ...]  # of all notes up to each cut

    @classmethod
    def of(cls, text: str) -> _Bare:
        spans = [match.span() for match in _NOTE.finditer(text)]
        lengths = tuple(accumulate(end - start for start, end in spans))
        before = (0, *lengths)
        cuts = tuple(start - gone for (start, _), gone in zip(spans, before, strict=False))
        return cls(_NOTE.sub("", text), cuts, lengths)

    def noted(self, end: int) -> bool:
        return end in self.cuts

    def original(self, end: int) -> int:
        """Return the place in the text with notes; ``end`` > 0 is not where one stood."""
        passed = bisect_right(self.cuts, end)
        return end + (self.lengths[passed - 1] if passed else 0)


def _note(mention: TimeMention) -> str:
    reading = mention.reading
    if mention.language is Language.CHINESE:
        written = _written(reading, "{0.year:04}年", "{0.year:04}年{0.month}月", _chinese_days)
        return f"（{'约' if reading.approximate else ''}{written}）"
    month = f"{_month(reading.first)} {{0.year:04}}"
    written = _written(reading, "{0.year:04}", month, _english_days)
    return f" ({'around ' if reading.approximate else ''}{written})"


def _written(reading: Reading, year: str, month: str, days: Callable[[date, date], str]) -> str:
    match reading.granularity:
        case Granularity.YEAR:
            return year.format(reading.first)
        case Granularity.MONTH:
            return month.format(reading.first)
        case Granularity.DAY:
            return reading.middle.isoformat()
        case Granularity.WEEK if reading.approximate:  # "three weeks ago" is around a day
            return reading.middle.isoformat()
        case _:
            return days(reading.first, reading.last)


def _english_days(first: date, last: date) -> str:
    begin: list[str] = [str(first.day)]
    if (first.year, first.month) != (last.year, last.month):
        begin.append(_month(first))
    if first.year != last.year:
        begin.append(f"{first.year:04}")
    return f"{' '.join(begin)}–{last.day} {_month(last)} {last.year:04}"


def _chinese_days(first: date, last: date) -> str:
    year = f"{last.year:04}年" if first.year != last.year else ""
    month = f"{last.month}月" if year or first.month != last.month else ""
    return f"{first.year:04}年{first.month}月{first.day}日–{year}{month}{last.day}日"


def _month(day: date) -> str:
    return MONTHS[day.month - 1].capitalize()
