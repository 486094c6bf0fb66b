"""Days of the week: "two Fridays ago", 两周前的周五; and those beside dates (R10)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta

from memci.domain.context.query.moment import Moment
from memci.domain.time import chinese_numbers, english_numbers, spans
from memci.domain.time.mention import Reading
from memci.domain.time.rule import Rule

DAYS_A_WEEK = 7
ENGLISH = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
# Short forms are words as well ("who sat 2nd"): they count beside a date alone.
ENGLISH_WORD = r"(?P<w>mon|tues|wednes|thurs|fri|satur|sun)day"
CHINESE_WORD = "(?:星期|礼拜|周)(?P<w>[一二三四五六日天])"
# What follows a day, and neither a floor nor a try: "on the 11th floor".
DAY_ENDS = (
    r"(?=\s*(?:[?.!,;:]|$)|\s+(?:i|we|you|he|she|they|did|was|were|what|which|who|when|where"
    r"|in\s+the\s+(?:morning|afternoon|evening))\b)"
)
# "The Friday before last week" is no day of two weeks ago.
_NO_UNIT = (
    r"(?!\s+(?:week(?:end)?|month|year|night|\w+day|christmas|xmas|easter|thanksgiving|term|season"
    r"|semester|spring|summer|autumn|fall|winter)s?\b)"
)
_SHORT = r"(?:mon|tues?|wed|thu(?:rs)?|fri|sat|sun)\.?"
_CHINESE = "一二三四五六日"
_ENGLISH_ONE = re.compile(
    rf"(?:(?:last|this|next|on)\s+)?(?:{ENGLISH_WORD}|{_SHORT})", re.IGNORECASE
)
_CHINESE_ONE = re.compile(f"[上下本这个]*{CHINESE_WORD}")
_BARE = (re.compile(rf"(?:on\s+)?{ENGLISH_WORD}", re.IGNORECASE), re.compile(CHINESE_WORD))
_BESIDE = re.compile(r"[\s,，、(（]*(?:the\s+)?", re.IGNORECASE)
_A_DAY = timedelta(hours=26)  # with a change of the clocks


def index_of(match: re.Match[str]) -> int:
    """Return which weekday the group ``w`` names, 0 (Monday) to 6 (Sunday)."""
    word = match["w"].lower().replace("天", "日")
    if word in _CHINESE:
        return _CHINESE.index(word)
    return next(index for index, name in enumerate(ENGLISH) if name.startswith(word))


def _weeks_ago(said: date, index: int, weeks: int) -> Reading:
    """Return such a day before today, so many weeks before the latest."""
    back = (said.weekday() - index - 1) % DAYS_A_WEEK + 1
    return spans.day(said, -back - DAYS_A_WEEK * weeks)


def _before_last(match: re.Match[str], said: date) -> Reading:
    return _weeks_ago(said, index_of(match), 1)


def _so_many_ago(match: re.Match[str], said: date) -> Reading:
    return _weeks_ago(said, index_of(match), english_numbers.number(match["n"]) - 1)


def _of_a_week_ago(match: re.Match[str], said: date) -> Reading:
    return spans.weekday(said, -chinese_numbers.number(match["n"]), index_of(match))


RULES = (
    Rule.of(rf"\b(?:the\s+)?{ENGLISH_WORD}\s+before\s+last\b{_NO_UNIT}", _before_last, "before"),
    Rule.of(rf"{english_numbers.NUMBER}\s+{ENGLISH_WORD}s?\s+ago\b", _so_many_ago, "ago"),
    Rule.of(f"(?P<n>{chinese_numbers.NUMBER})个?(?:星期|礼拜|周)(?:之|以)?前的?{CHINESE_WORD}",
            _of_a_week_ago, "前"),
)  # fmt: skip


def is_weekday(text: str, moment: Moment) -> bool:
    """Tell whether what a moment is named by is a day of the week, and no more."""
    place = moment.start, moment.end
    return any(each.fullmatch(text, *place) for each in (_ENGLISH_ONE, _CHINESE_ONE))


def is_bare_weekday(text: str, moment: Moment) -> bool:
    """Tell whether a moment is named by a day of the week alone, of no week that is told."""
    return any(each.fullmatch(text, moment.start, moment.end) for each in _BARE)


def with_weekdays(text: str, moments: Sequence[Moment]) -> list[Moment]:
    """Return moments where a weekday beside a date is a part of it, and no other day.

    So "Wednesday, 11 November" is one day, whatever day of the week that was.
    """
    joined: list[Moment] = []
    for each in moments:
        last = joined[-1] if joined else None
        if last and _is_dated(text, last, each):
            day = each if is_weekday(text, last) else last
            joined[-1] = replace(day, start=last.start, end=each.end)
        else:
            joined.append(each)
    return joined


def _is_dated(text: str, first: Moment, last: Moment) -> bool:
    """Tell whether one is the weekday of the other, which is a date."""
    if not _BESIDE.fullmatch(text, first.end, last.start):
        return False
    weekdays = is_weekday(text, first), is_weekday(text, last)
    return weekdays in {(True, False), (False, True)} and _is_day(first) and _is_day(last)


def _is_day(moment: Moment) -> bool:
    since, until = moment.time.since, moment.time.until
    return since is not None and until is not None and until - since <= _A_DAY
