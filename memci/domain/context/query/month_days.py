"""Days of a month that is not named: "on the 11th", "Wednesday the 11th", 11号 (R10)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta

from memci.domain.context.query.moment import Moment
from memci.domain.time import spans
from memci.domain.time.absolute import MONTH
from memci.domain.time.chinese_numbers import NUMBER, number
from memci.domain.time.mention import Reading, unsure
from memci.domain.time.rule import Rule

_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
# Short forms are words as well ("who sat 2nd"): they count beside a date alone.
_WEEKDAY = r"(?P<w>mon|tues|wednes|thurs|fri|satur|sun)day"
_SHORT_WEEKDAY = r"(?:mon|tues?|wed|thu(?:rs)?|fri|sat|sun)\.?"
_CHINESE_WEEKDAYS = "一二三四五六日"
_CHINESE_WEEKDAY = "(?:星期|礼拜|周)(?P<w>[一二三四五六日天])"
# A day of the month falls on each weekday at least once within so many months around.
_MONTHS_AROUND = 14
_AHEAD = 3  # questions are seldom about what is far ahead
_STEPS = {"last": -1, "this": 0, "next": 1}
_NTH = r"(?P<d>\d{1,2})(?:st|nd|rd|th)"
_BEFORE = r"\b(?:on|since|until|till|by|before|after|from|around)\s+"
# What follows a day, and neither a floor nor a try: "on the 11th floor".
_DAY_ENDS = (
    r"(?=\s*(?:[?.!,;:]|$)|\s+(?:i|we|you|he|she|they|did|was|were|what|which|who|when|where"
    r"|in\s+the\s+(?:morning|afternoon|evening))\b)"
)
# Of a list (四月三号和五号) and of a count (廿一号) it is a part.
_CHINESE_DAY = (
    f"(?<![\\d年月第路之上下零〇一二三四五六七八九十廿卅和与及到至、,，坐是])(?P<d>{NUMBER})号"
)
_CHINESE_DAY_ENDS = (
    "(?=[那当]天|的?时候|早上|上午|中午|下午|晚上|凌晨|之[前后]|以[前后]|[我你他她它们]|大家|发生)"
)
# Where a month is named, the day is of that month.
_A_MONTH = re.compile(rf"\b{MONTH}\b|月", re.IGNORECASE)
_A_WEEKDAY = re.compile(
    rf"(?:(?:last|this|next|on)\s+)?(?:{_WEEKDAY}|{_SHORT_WEEKDAY})", re.IGNORECASE
)
_A_CHINESE_WEEKDAY = re.compile(f"[上下本这个]*{_CHINESE_WEEKDAY}")
_BESIDE = re.compile(r"[\s,，、(（]*(?:the\s+)?", re.IGNORECASE)
_A_DAY = timedelta(hours=26)  # with a change of the clocks


def _of_month(year: int, month: int, day: int) -> date | None:
    year, month = year + (month - 1) // 12, (month - 1) % 12 + 1
    try:
        return date(year, month, day)
    except ValueError:
        return None  # 30 February


def _around(said: date, day: int) -> list[date]:
    """Return such days of the months around, the nearest first; what is to come is less near."""
    months = range(said.month - _MONTHS_AROUND, said.month + _MONTHS_AROUND + 1)
    found = [each for month in months if (each := _of_month(said.year, month, day))]
    return sorted(found, key=lambda each: said - each if each <= said else _AHEAD * (each - said))


def _nearest(said: date, day: int, weekday: int) -> Reading | None:
    """Return the nearest day of that number that is such a weekday."""
    found = next((each for each in _around(said, day) if each.weekday() == weekday), None)
    return None if found is None else spans.day(found, 0)


def _latest(text: str, said: date, day: int) -> Reading | None:
    """Return the latest day of that number, unless a month is named beside it."""
    if _A_MONTH.search(text):
        return None
    found = next((each for each in _around(said, day) if each <= said), None)
    return None if found is None else unsure(spans.day(found, 0))


def _of_weekday(match: re.Match[str], said: date) -> Reading | None:
    weekday = next(
        index for index, name in enumerate(_WEEKDAYS) if name.startswith(match["w"].lower())
    )
    return _nearest(said, int(match["d"]), weekday)


def _alone(match: re.Match[str], said: date) -> Reading | None:
    return _latest(match.string, said, int(match["d"]))


def _of_that_month(match: re.Match[str], said: date) -> Reading | None:
    found = _of_month(said.year, said.month + _STEPS[match["whose"].lower()], int(match["d"]))
    return None if found is None else spans.day(found, 0)


def _of_chinese_weekday(match: re.Match[str], said: date) -> Reading | None:
    weekday = _CHINESE_WEEKDAYS.index(match["w"].replace("天", "日"))
    return _nearest(said, number(match["d"]), weekday)


def _chinese_alone(match: re.Match[str], said: date) -> Reading | None:
    return _latest(match.string, said, number(match["d"]))


RULES = (
    Rule.of(rf"\b{_WEEKDAY},?\s+(?:the\s+)?{_NTH}\b{_DAY_ENDS}", _of_weekday,
            "th", "st", "nd", "rd"),
    Rule.of(rf"\bthe\s+{_NTH}\s+of\s+(?P<whose>last|this|next)\s+month\b", _of_that_month,
            "month"),
    Rule.of(rf"{_BEFORE}(?P<mention>the\s+{_NTH})\b{_DAY_ENDS}", _alone, "the"),
    Rule.of(f"{_CHINESE_WEEKDAY}\\s?(?P<d>{NUMBER})[号日]{_CHINESE_DAY_ENDS}", _of_chinese_weekday,
            "号", "日"),
    Rule.of(rf"{_CHINESE_DAY}[\s,，]?[(（]?{_CHINESE_WEEKDAY}[)）]?", _of_chinese_weekday, "号"),
    Rule.of(f"{_CHINESE_DAY}{_CHINESE_DAY_ENDS}", _chinese_alone, "号"),
)  # fmt: skip


def with_weekdays(text: str, moments: Sequence[Moment]) -> list[Moment]:
    """Return moments where a weekday beside a date is a part of it, and no other day.

    So "Wednesday, 11 November" is one day, whatever day of the week that was.
    """
    joined: list[Moment] = []
    for each in moments:
        last = joined[-1] if joined else None
        if last and _is_dated(text, last, each):
            day = each if _is_weekday(text, last) else last
            joined[-1] = replace(day, start=last.start, end=each.end)
        else:
            joined.append(each)
    return joined


def _is_dated(text: str, first: Moment, last: Moment) -> bool:
    """Tell whether one is the weekday of the other, which is a date."""
    if not _BESIDE.fullmatch(text, first.end, last.start):
        return False
    weekdays = _is_weekday(text, first), _is_weekday(text, last)
    return weekdays in {(True, False), (False, True)} and _is_day(first) and _is_day(last)


def _is_weekday(text: str, moment: Moment) -> bool:
    place = moment.start, moment.end
    return any(each.fullmatch(text, *place) for each in (_A_WEEKDAY, _A_CHINESE_WEEKDAY))


def _is_day(moment: Moment) -> bool:
    since, until = moment.time.since, moment.time.until
    return since is not None and until is not None and until - since <= _A_DAY
