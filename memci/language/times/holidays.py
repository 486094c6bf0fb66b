"""Holidays with a fixed date, on a weekday of a month, or counted from a movable feast (R10).

Their names and dates stand in ``holidays.en.toml`` and ``holidays.zh.toml``, those of the Chinese
calendar in ``lunar_dates.toml``.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, replace
from datetime import date, timedelta
from importlib import resources
from typing import Any

from dateutil.easter import easter

from memci.language.times import calendar, chinese, question_english
from memci.language.times.calendar import YEAR
from memci.language.times.question_english import yearless
from memci.language.times.rules import Reading, Rule


def _load(name: str) -> dict[str, Any]:
    return tomllib.loads(resources.files(__package__).joinpath(name).read_text("utf-8"))


LUNAR_DATES = _load("lunar_dates.toml")


def lunar_date(feast: str, year: int) -> date:
    """Return the day of a feast of ``LUNAR_DATES``; ``ValueError`` for years that are not in it."""
    index = year - LUNAR_DATES["first_year"]
    if not 0 <= index < len(LUNAR_DATES[feast]):
        raise ValueError(f"the date of {feast} in {year} is not known")
    return date.fromisoformat(f"{year:04}-{LUNAR_DATES[feast][index]}")


@dataclass(frozen=True, slots=True)
class _Holiday:
    """A row of ``holidays.*.toml``, where the fields are described."""

    words: str
    month: int = 1
    day: int = 1
    weekday: int | None = None
    nth: int = 1
    counted_from: str = ""
    offset: int = 0
    days: int = 1

    def of(self, year: int) -> Reading:
        first = self._first(year) + timedelta(self.offset)
        return calendar.period(first, first + timedelta(self.days - 1))

    def latest(self, said: date) -> Reading:
        found = self.of(said.year)
        return found if found.first <= said else self.of(said.year - 1)

    def _first(self, year: int) -> date:
        if self.counted_from == "easter":
            found: date = easter(year)
            return found
        if self.counted_from:
            return lunar_date(self.counted_from, year)
        first = date(year, self.month, self.day)
        if self.weekday is None:
            return first
        return first + timedelta((self.weekday - first.weekday()) % 7 + 7 * (self.nth - 1))


_ENGLISH, _CHINESE = (
    tuple(_Holiday(**row) for row in _load(f"holidays.{language}.toml")["holidays"])
    for language in ("en", "zh")
)
_YEAR_BEFORE = r"(?:(?P<year>(?:19|20)\d\d)\s+|(?P<which>last|this|next)\s+(?:year['’]s\s+)?)?"
_OF_YEAR = (
    r"(?:,?\s+(?:(?:of|in)\s+)?(?P<after>(?:19|20)\d\d)(?![\w%]|[.,:/-]\d)"
    r"|,?\s+(?:(?:of|in)\s+)?(?P<whose>last|this|next)\s+year\b)?"
)
_WHOSE = f"(?:(?:(?<!\\d)(?P<year>{YEAR})年|(?P<whose>大?前年|去年|今年|明年|后年))的?)?"


def _named(holidays: tuple[_Holiday, ...], text: str) -> _Holiday:
    flags = re.IGNORECASE | re.ASCII
    return next(each for each in holidays if re.fullmatch(each.words, text, flags))


def _english(match: re.Match[str], said: date) -> Reading:
    holiday, which = _named(_ENGLISH, match["holiday"]), (match["which"] or "").lower()
    if match["year"] or match["after"]:
        return holiday.of(int(match["year"] or match["after"]))
    whose = question_english.english_year_in(match, said)
    if whose is not None:
        return holiday.of(whose)
    latest = holiday.latest(said)
    if which == "next":
        return holiday.of(latest.first.year + 1)
    if which == "this":
        return holiday.of(said.year)
    if which == "last":
        return latest if latest.last < said else holiday.of(latest.first.year - 1)
    return replace(latest, yearless=not holiday.counted_from)


def _chinese(match: re.Match[str], said: date) -> Reading:
    holiday, year = _named(_CHINESE, match["holiday"]), chinese.chinese_year_in(match, said)
    if year is None and holiday.counted_from:
        return holiday.latest(said)  # it has another date in other years
    return yearless(holiday.latest(said) if year is None else holiday.of(year), year)


HOLIDAY_RULES = (
    Rule.of(
        rf"\b{_YEAR_BEFORE}(?P<holiday>{'|'.join(each.words for each in _ENGLISH)})\b{_OF_YEAR}",
        _english,
        "day", "eve", "new", "valentine", "patrick", "april", "juneteenth", "july", "hallowe",
        "thanksgiving", "mas", "easter", "good", "qixi", "festival",
    ),
    Rule.of(
        f"{_WHOSE}(?P<holiday>{'|'.join(each.words for each in _CHINESE)})",
        _chinese,
        "节", "元旦", "除夕", "大年", "一", "四", "国庆", "夜", "圣诞", "跨年", "双1", "清明",
        "端午", "七夕", "中秋", "重阳",
    ),
)  # fmt: skip
