"""Days, weeks, months and years around a day; offsets from UTC (R4, R10).

Functions that return a ``Reading`` raise OverflowError or ValueError beyond the years 1 to 9999.

An offset is that of the speaker's clock, in whole minutes, positive east of Greenwich; None is UTC.
It decides which day "yesterday" is; the order of messages depends only on the instant.
"""

import functools
from calendar import monthrange
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta, timezone
from enum import StrEnum


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
    """The meaning of an expression: the days ``first`` to ``last``, both included."""

    first: date
    last: date
    granularity: Granularity
    certain: bool = True  # the usual conventions agree; else the range is the best guess
    approximate: bool = False  # the speaker rounded: "three weeks ago"
    whole: bool = False  # a full date, whenever it was said
    yearless: bool = False  # a day and month without a year, which was inferred

    @property
    def middle(self) -> date:
        """The middle day."""
        return self.first + (self.last - self.first) // 2


def as_guess(reading: Reading, *, sure: bool = False) -> Reading:
    """Return the reading as a guess, unless it is sure."""
    return reading if sure else replace(reading, certain=False)


DAYS_A_WEEK = 7
SATURDAY, SUNDAY = 5, 6
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
# "Two weeks ago" means eleven to seventeen days.
_WEEK_SLACK = 3
# "Ten days ago" may be nine or eleven, "eight days ago" is eight.
_ROUND = 10
# Where summer is June to August; elsewhere a season is never certain.
_SEASON_BEGINS = {"spring": 3, "summer": 6, "autumn": 9, "winter": 12}


def existing_date(year: int, month: int, day: int) -> date | None:
    """Return the date; None for 30 February and years out of range."""
    try:
        return date(year, month, day)
    except ValueError:
        return None


def day(today: date, days: int) -> Reading:
    """Return the day ``days`` later; negative: earlier."""
    found = today + timedelta(days)
    return Reading(found, found, Granularity.DAY)


def period(first: date, last: date) -> Reading:
    """Return the days from ``first`` to ``last``."""
    return Reading(first, last, Granularity.PERIOD)


def week(today: date, weeks: int) -> Reading:
    """Return the week ``weeks`` later, Monday to Sunday."""
    monday = today + timedelta(7 * weeks - today.weekday())
    return Reading(monday, monday + timedelta(6), Granularity.WEEK)


def weekday(today: date, weeks: int, index: int) -> Reading:
    """Return a day, 0 (Monday) to 6 (Sunday), of the week ``weeks`` later."""
    return day(today, 7 * weeks - today.weekday() + index)


def latest_weekday(today: date, index: int) -> Reading:
    """Return the latest such day, 0 (Monday) to 6 (Sunday), today included; a guess."""
    return as_guess(day(today, -((today.weekday() - index) % DAYS_A_WEEK)))


def weekend(today: date, weeks: int) -> Reading:
    """Return Saturday and Sunday of the week ``weeks`` later."""
    saturday = weekday(today, weeks, SATURDAY).first
    return Reading(saturday, saturday + timedelta(1), Granularity.WEEKEND)


def month_of(year: int, month: int) -> Reading:
    """Return a month, 1 to 12, of a year."""
    first = date(year, month, 1)
    last = first.replace(day=monthrange(year, month)[1])
    return Reading(first, last, Granularity.MONTH)


def month(today: date, months: int) -> Reading:
    """Return the calendar month ``months`` later."""
    count = today.year * 12 + today.month - 1 + months
    return month_of(count // 12, count % 12 + 1)


def year(today: date, years: int) -> Reading:
    """Return the calendar year ``years`` later."""
    return year_of(today.year + years)


def year_of(number: int) -> Reading:
    """Return a calendar year."""
    return Reading(date(number, 1, 1), date(number, 12, 31), Granularity.YEAR)


def season(year_begun: int, name: str) -> Reading:
    """Return the northern spring, summer, autumn or winter that begins in a year; a guess."""
    begins = year_begun * 12 + _SEASON_BEGINS[name] - 1
    last = month_of((begins + 2) // 12, (begins + 2) % 12 + 1).last
    first = date(year_begun, _SEASON_BEGINS[name], 1)
    return Reading(first, last, Granularity.SEASON, certain=False)


_AROUND = {"week": week, "weekend": weekend, "month": month, "year": year}


def around(today: date, unit: str, steps: int) -> Reading:
    """Return the week, weekend, month or year ``steps`` later."""
    return _AROUND[unit](today, steps)


def distant(today: date, unit: str, count: int) -> Reading:
    """Return the time ``count`` units later (negative: earlier), rounded as people do."""
    if unit == "day":
        found = day(today, count)
        if count % _ROUND or not count:
            return found
        slack = timedelta(abs(count) // _ROUND)
        return replace(found, first=found.first - slack, last=found.last + slack, approximate=True)
    if unit == "week":
        slack, middle = timedelta(_WEEK_SLACK), today + timedelta(7 * count)
        return Reading(middle - slack, middle + slack, Granularity.WEEK, approximate=True)
    if unit == "month":
        return replace(month(today, count), approximate=True)
    if abs(count) == 1:
        return replace(month(today, 12 * count), approximate=True)
    return replace(year(today, count), approximate=True)


def rolling(today: date, unit: str, count: int) -> Reading:
    """Return all days from today to ``count`` units away; a guess."""
    if unit in ("day", "week"):
        other = today + timedelta(count * (7 if unit == "week" else 1))
    else:
        there = month(today, count * (12 if unit == "year" else 1))
        other = there.first + timedelta(min(today.day, there.last.day) - 1)
    return replace(period(min(today, other), max(today, other)), certain=False)


_MINUTE = timedelta(minutes=1)
# The largest offset of a time zone and of PostgreSQL.
_MOST = 16 * 60


def offset_of(at: datetime) -> int | None:
    """Return the offset of an aware time; None for UTC and for impossible offsets."""
    minutes = (at.utcoffset() or timedelta()) // _MINUTE
    return minutes if minutes and abs(minutes) < _MOST else None


def at_offset(at: datetime, offset: int | None) -> datetime:
    """Return the same instant at an offset; None changes nothing."""
    return at.astimezone(_zone(offset)) if offset else at


def with_offset(at: datetime) -> datetime:
    """Return the same instant, aware, at its own offset in whole minutes.

    A naive time counts as UTC. Raises ``OverflowError`` beyond the years of UTC.
    """
    if at.tzinfo is None:
        return at.replace(tzinfo=UTC)
    return at_offset(at.astimezone(UTC), offset_of(at))


@functools.cache
def _zone(offset: int) -> timezone:
    return timezone(timedelta(minutes=offset))
