"""Dates in figures: "5/8/2023" is 8 May to some and 5 August to others (R10).

The times that a question names (R10).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, datetime
from itertools import islice

from memci.language.times import (
    calendar,
    find_times,
    holidays,
    question_chinese,
    question_english,
    rules,
    weekdays,
)
from memci.language.times.absolute_dates import MONTH
from memci.language.times.calendar import ZH_NUMBER
from memci.language.times.calendar import day as days_later
from memci.language.times.ranges import ONE_OF_TWO, Moment, TimeRange, apart, range_of
from memci.language.times.relative_times import clock_moments, connected
from memci.language.times.rules import Reading, readings

# Two figures and a year. Dots and dashes take a whole year: 1.2.23 is a version.
_WHOLE = re.compile(
    r"(?<![\w./$€£-])(?<!version )(?<!release )(?<!build )"
    r"(?P<a>\d{1,2})(?:/(?P<b>\d{1,2})/(?P<year>\d{4}|\d\d)"
    r"|(?P<mark>[.-])(?P<b2>\d{1,2})(?P=mark)(?P<year2>\d{4}))(?![\w%]|[./-]\d)"
)
# Without a year only after words that a date follows.
_SHORT = re.compile(
    r"\b(?:on|since|before|after|until|till|by)\s+(?P<mention>(?P<a>\d{1,2})/(?P<b>\d{1,2}))"
    r"(?![\w%/.-])(?!\s+of\b)",
    re.IGNORECASE,
)
_CENTURY = 2000


def figure_moments(text: str, now: datetime) -> Iterator[Moment]:
    """Yield dates in figures, month first before day first where both are possible."""
    for match in _WHOLE.finditer(text):
        year = int(match["year"] or match["year2"])
        a, b = int(match["a"]), int(match["b"] or match["b2"])
        # Who writes dots writes the day first.
        orders = [(b, a)] if match["mark"] == "." else [(a, b), (b, a)]
        days = _days([(year if year > 99 else _CENTURY + year, *each) for each in orders])  # noqa: PLR2004
        yield from _moment(match.span(), [(day, False) for day in days], now)
    for match in _SHORT.finditer(text):
        a, b = int(match["a"]), int(match["b"])
        days = [
            max(past) for month, day in ((a, b), (b, a)) if (past := _past(now.date(), month, day))
        ]
        yield from _moment(match.span("mention"), [(day, True) for day in days], now)


def _past(today: date, month: int, day: int) -> list[date]:
    """Return the days of that month and day in the last years, today included."""
    years = range(max(1, today.year - 4), today.year + 1)
    return [each for each in _days([(year, month, day) for year in years]) if each <= today]


def _days(parts: list[tuple[int, int, int]]) -> list[date]:
    found = []
    for each in parts:
        try:
            found.append(date(*each))
        except ValueError:
            continue
    return found


def _moment(
    place: tuple[int, int], days: list[tuple[date, bool]], now: datetime
) -> Iterator[Moment]:
    days = list(dict.fromkeys(days))
    if not days:
        return
    readings: list[tuple[Reading, bool]] = [(calendar.day(day, 0), yearly) for day, yearly in days]
    times = [range_of(reading, now.tzinfo, yearly=yearly) for reading, yearly in readings]
    if len(times) > 1:
        times = [TimeRange(each.since, each.until, ONE_OF_TWO, each.slack, each.yearly)
                 for each in times]  # fmt: skip
    yield Moment(*place, tuple(times))


_RULES = (
    *weekdays.MONTH_DAY_RULES,
    *weekdays.WEEKDAY_RULES,
    *question_english.ENGLISH_PART_RULES,
    *question_english.RULES,
    *question_chinese.RULES,
    *holidays.RULES,
)
# A month alone: "in May", 五月.
_BARE_MONTH = re.compile(rf"{MONTH}|{ZH_NUMBER}月份?", re.IGNORECASE)
# "Every Monday" and 每年五月 name no day.
_EVERY = re.compile(r"\b(?:every|each)\s+\Z|每(?:个|逢|到)?\Z", re.IGNORECASE)
_LOOK_BACK = 24
# A question that names more is none.
_MOST = 32
_LATELY = re.compile(r"recently|lately|of\s+late|最近", re.IGNORECASE)
_TOLD = re.compile(
    r"\bas\s+(?:mentioned|told|said|stated|shared|described|discussed|of)\s+(?:(?:on|in|at)\s+)?\Z",
    re.IGNORECASE,
)


def moments_of(text: str, now: datetime) -> list[Moment]:
    """Return the expressions of time in a question asked at ``now`` (aware), in order.

    Days begin at midnight in the time zone of ``now``. A date without a year is the latest one.
    """
    found = _moments(text, now)
    for each in found:
        # "What did she do last week, as told on 6 November?" is asked from then.
        if _TOLD.search(text[max(0, each.start - _LOOK_BACK) : each.start]) and each.time.since:
            then = _moments(text, each.time.since)
            # "Recently" is that day itself.
            return [one for one in then if not _LATELY.match(text, one.start, one.end)]
    return found


def _moments(text: str, now: datetime) -> list[Moment]:
    untouched = rules.untouched(text)
    found = apart(
        each
        for each in (*_found(text, now), *figure_moments(text, now), *clock_moments(text, now))
        if not untouched.touches(each.start, each.end)
    )
    found = weekdays.with_weekdays(text, found)
    return [each for each in connected(text, found[:_MOST]) if not _every(text, each)]


def _found(text: str, now: datetime) -> Iterator[Moment]:
    zone, today = now.tzinfo, now.date()
    for mention in find_times(text, now)[:_MOST]:
        reading, yearly = _asked(mention.reading, mention.text, today)
        yield Moment(mention.start, mention.end, (range_of(reading, zone, yearly=yearly),))
    for start, end, reading in islice(readings(_RULES, text, today), _MOST):
        yield Moment(start, end, (range_of(reading, zone, yearly=reading.yearless),))


def _asked(reading: Reading, words: str, today: date) -> tuple[Reading, bool]:
    """Return what a mention means in a question, and whether it may be of any year."""
    if reading.yearless:
        if reading.first > today:
            month, day = reading.first.month, reading.first.day
            try:
                return question_english.latest_day(today, month, day), True
            except ValueError:
                return days_later(reading.first, 0), True
        return reading, True
    return reading, bool(_BARE_MONTH.fullmatch(words))


def _every(text: str, moment: Moment) -> bool:
    return bool(_EVERY.search(text[max(0, moment.start - _LOOK_BACK) : moment.start]))
