"""Holidays with a fixed date, on a weekday of a month, or counted from a movable feast (R10).

``data/holidays.*.toml`` has their names and dates, ``data/lunar_dates.toml`` those of the Chinese
calendar.
"""

import re
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import partial

from memci.language.detection import Language
from memci.language.loading import TaskData, lazy_pattern, read_data
from memci.language.times import calendar
from memci.language.times.calendar import Reading
from memci.language.times.rules import DATA as TIMES
from memci.language.times.rules import FLAGS, Rule
from memci.language.times.time_words import Parts

LUNAR_DATES = read_data("lunar_dates")


def lunar_date(feast: str, year: int) -> date:
    """Return the day of a feast of ``LUNAR_DATES``; ``ValueError`` for other years."""
    index = year - LUNAR_DATES["first_year"]
    if not 0 <= index < len(LUNAR_DATES[feast]):
        raise ValueError(f"the date of {feast} in {year} is not known")
    return date.fromisoformat(f"{year:04}-{LUNAR_DATES[feast][index]}")


@dataclass(frozen=True, slots=True)
class _Holiday:
    """A row of ``holidays.*.toml``, which describes the fields."""

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

    def latest(self, today: date) -> Reading:
        found = self.of(today.year)
        return found if found.first <= today else self.of(today.year - 1)

    def _first(self, year: int) -> date:
        if self.counted_from == "easter":
            from dateutil.easter import easter  # noqa: PLC0415 - the client lacks it

            found: date = easter(year)
            return found
        if self.counted_from:
            return lunar_date(self.counted_from, year)
        first = date(year, self.month, self.day)
        if self.weekday is None:
            return first
        return first + timedelta((self.weekday - first.weekday()) % 7 + 7 * (self.nth - 1))


_DATA = TaskData("holidays")
_HOLIDAYS = {
    language: tuple(_Holiday(**row) for row in _DATA.rows("holidays", language))
    for language in Language
}
_YEAR_BEFORE = r"(?:(?P<year>(?:19|20)\d\d)\s+|(?P<which>last|this|next)\s+(?:year['’]s\s+)?)?"
_OF_YEAR = (
    r"(?:,?\s+(?:(?:of|in)\s+)?(?P<after>(?:19|20)\d\d)(?![\w%]|[.,:/-]\d)"
    r"|,?\s+(?:(?:of|in)\s+)?(?P<whose>last|this|next)\s+year\b)?"
)


def _read(parts: Parts, today: date, *, certain: bool) -> Reading:
    """Read "Christmas 2022", "last Easter", 去年中秋节.

    ``certain``: one without a year is certainly the latest.
    """
    holiday, which = _named(parts.text("holiday")), parts.text("which")
    year = parts.number("after") if "after" in parts else parts.year(today)
    if year is not None:
        return holiday.of(year)
    latest = holiday.latest(today)
    if which == "next":
        return holiday.of(latest.first.year + 1)
    if which == "this":
        return holiday.of(today.year)
    if which == "last":
        return latest if latest.last < today else holiday.of(latest.first.year - 1)
    if holiday.counted_from:
        return latest  # it has another date in other years
    return replace(latest, yearless=True, certain=certain)


def _named(text: str) -> _Holiday:
    return next(
        each
        for holidays in _HOLIDAYS.values()
        for each in holidays
        if re.fullmatch(each.words, text, FLAGS)
    )


def _rule(language: Language, before: str, after: str) -> Rule:
    words = "|".join(each.words for each in _HOLIDAYS[language])
    pattern = lazy_pattern(lambda: f"{before}(?P<holiday>{words}){after}", FLAGS)
    read = partial(_read, certain=language is Language.ENGLISH)
    return Rule(pattern, read, tuple(_DATA.words("needs", language)))


HOLIDAY_RULES = (
    _rule(Language.ENGLISH, rf"\b{_YEAR_BEFORE}", rf"\b{_OF_YEAR}"),
    _rule(Language.CHINESE, f"{TIMES.source('whose_year')}?", ""),
)
