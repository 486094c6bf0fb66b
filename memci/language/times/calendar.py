"""Days, weeks, months and years around a day; numbers in words; offsets from UTC (R4, R10).

Functions that return a ``Reading`` raise OverflowError or ValueError beyond the years 1 to 9999.

An offset is that of the speaker's clock, in whole minutes, east of Greenwich positive; None is UTC.
It decides which day "yesterday" is; the order of messages depends on the instant alone.
"""

from __future__ import annotations

import functools
import re
from calendar import monthrange
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta, timezone

from memci.language.times.rules import Granularity, Reading, as_guess

DAYS_A_WEEK = 7
SATURDAY, SUNDAY = 5, 6
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
CHINESE_WEEKDAYS = "一二三四五六日"
SEASONS = ("spring", "summer", "autumn", "fall", "winter")
CHINESE_UNITS = {"天": "day", "日": "day", "周": "week", "星期": "week", "礼拜": "week"}
CHINESE_UNITS |= {"月": "month", "年": "year"}
# Steps from this week, month or year.
STEPS = {"last": -1, "this": 0, "next": 1}
CHINESE_STEPS = {"上上": -2, "上": -1, "这": 0, "本": 0, "下": 1, "下下": 2}
# "Two weeks ago" is said of anything from eleven to seventeen days.
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


def day(said: date, days: int) -> Reading:
    """Return the day that many days later; negative: earlier."""
    found = said + timedelta(days)
    return Reading(found, found, Granularity.DAY)


def period(first: date, last: date) -> Reading:
    """Return the days from ``first`` to ``last``."""
    return Reading(first, last, Granularity.PERIOD)


def week(said: date, weeks: int) -> Reading:
    """Return the week, Monday to Sunday, that many weeks later."""
    monday = said + timedelta(7 * weeks - said.weekday())
    return Reading(monday, monday + timedelta(6), Granularity.WEEK)


def weekday(said: date, weeks: int, index: int) -> Reading:
    """Return one day, 0 (Monday) to 6 (Sunday), of the week that many weeks later."""
    return day(said, 7 * weeks - said.weekday() + index)


def latest_weekday(said: date, index: int) -> Reading:
    """Return the latest such day, today included, 0 (Monday) to 6 (Sunday); a guess."""
    return as_guess(day(said, -((said.weekday() - index) % DAYS_A_WEEK)))


def weekend(said: date, weeks: int) -> Reading:
    """Return Saturday and Sunday of the week that many weeks later."""
    saturday = weekday(said, weeks, SATURDAY).first
    return Reading(saturday, saturday + timedelta(1), Granularity.WEEKEND)


def month_of(year: int, month: int) -> Reading:
    """Return a month, 1 to 12, of a year."""
    first = date(year, month, 1)
    last = first.replace(day=monthrange(year, month)[1])
    return Reading(first, last, Granularity.MONTH)


def month(said: date, months: int) -> Reading:
    """Return the calendar month that many months later."""
    count = said.year * 12 + said.month - 1 + months
    return month_of(count // 12, count % 12 + 1)


def year(said: date, years: int) -> Reading:
    """Return the calendar year that many years later."""
    return year_of(said.year + years)


def year_of(number: int) -> Reading:
    """Return a calendar year."""
    return Reading(date(number, 1, 1), date(number, 12, 31), Granularity.YEAR)


def season(year_begun: int, name: str) -> Reading:
    """Return the northern spring, summer, autumn or winter that begins in a year; a guess."""
    begins = year_begun * 12 + _SEASON_BEGINS[name] - 1
    last = month_of((begins + 2) // 12, (begins + 2) % 12 + 1).last
    first = date(year_begun, _SEASON_BEGINS[name], 1)
    return Reading(first, last, Granularity.SEASON, certain=False)


def distant(said: date, unit: str, count: int) -> Reading:
    """Return the time so many units later (negative: earlier), rounded as people do."""
    if unit == "day":
        found = day(said, count)
        if count % _ROUND or not count:
            return found
        slack = timedelta(abs(count) // _ROUND)
        return replace(found, first=found.first - slack, last=found.last + slack, approximate=True)
    if unit == "week":
        slack, middle = timedelta(_WEEK_SLACK), said + timedelta(7 * count)
        return Reading(middle - slack, middle + slack, Granularity.WEEK, approximate=True)
    if unit == "month":
        return replace(month(said, count), approximate=True)
    if abs(count) == 1:
        return replace(month(said, 12 * count), approximate=True)
    return replace(year(said, count), approximate=True)


def rolling(said: date, unit: str, count: int) -> Reading:
    """Return all days from this day to the one that many units away; a guess."""
    if unit in ("day", "week"):
        other = said + timedelta(count * (7 if unit == "week" else 1))
    else:
        there = month(said, count * (12 if unit == "year" else 1))
        other = there.first + timedelta(min(said.day, there.last.day) - 1)
    return replace(period(min(said, other), max(said, other)), certain=False)


_DIGITS = {digit: value for value, digit in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
ZH_NUMBER = r"(?:\d{1,3}|[一二两三四五六七八九]?十[一二三四五六七八九]?|[一二两三四五六七八九])"
YEAR = r"(?:\d{4}|[一二三四五六七八九][零〇一二三四五六七八九]{3})"


def chinese_number(text: str) -> int:
    """Return the value of what ``ZH_NUMBER`` or ``YEAR`` matched: 3, 三, 十五, 二十三, 二〇二三."""
    if text.isdecimal():
        return int(text)
    if "十" in text:
        tens, ones = text.split("十")
        return 10 * (_DIGITS[tens] if tens else 1) + (_DIGITS[ones] if ones else 0)
    return int("".join(str(_DIGITS[each]) for each in text))


_SMALL_WORDS = """
    one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
    sixteen seventeen eighteen nineteen
"""
_TENS_WORDS = "twenty thirty forty fifty sixty seventy eighty ninety"
_SMALL, _TENS = _SMALL_WORDS.split(), _TENS_WORDS.split()

# Groups: n.
EN_NUMBER = (
    r"(?<![\w.,/–—-])(?P<n>\d{1,3}|an?|"
    rf"(?:{'|'.join(_TENS)})(?:[\s-](?:{'|'.join(_SMALL[:9])}))?|(?:{'|'.join(_SMALL)}))"
)
_VALUES = {word: value for value, word in enumerate(_SMALL, 1)}
_VALUES |= {word: 10 * value for value, word in enumerate(_TENS, 2)}
_VALUES |= {"a": 1, "an": 1}


def english_number(words: str) -> int:
    """Return the value of what ``EN_NUMBER`` matched."""
    if words.isdecimal():
        return int(words)
    return sum(_VALUES[word] for word in re.split(r"[\s-]+", words.lower()))


def number(words: str) -> int:
    """Return the value of what ``EN_NUMBER`` or ``ZH_NUMBER`` matched."""
    return english_number(words) if words.isascii() else chinese_number(words)


_MINUTE = timedelta(minutes=1)
# No zone is further away; PostgreSQL reads nothing that is.
_MOST = 16 * 60


def offset_of(at: datetime) -> int | None:
    """Return the offset of an aware time; None for UTC and for impossible offsets."""
    minutes = (at.utcoffset() or timedelta()) // _MINUTE
    return minutes if minutes and abs(minutes) < _MOST else None


def at_offset(at: datetime, offset: int | None) -> datetime:
    """Return the same instant at an offset; unchanged where that is None."""
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
