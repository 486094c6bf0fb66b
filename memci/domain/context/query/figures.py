"""Dates in figures: "5/8/2023" is 8 May to some and 5 August to others (R10)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, datetime

from memci.domain.context.query.moment import Moment
from memci.domain.context.query.time_range import ONE_OF_TWO, TimeRange, range_of
from memci.domain.time import spans
from memci.domain.time.mention import Reading

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
    readings: list[tuple[Reading, bool]] = [(spans.day(day, 0), yearly) for day, yearly in days]
    times = [range_of(reading, now.tzinfo, yearly=yearly) for reading, yearly in readings]
    if len(times) > 1:
        times = [TimeRange(each.since, each.until, ONE_OF_TWO, each.slack, each.yearly)
                 for each in times]  # fmt: skip
    yield Moment(*place, tuple(times))
