"""Times that are counted in hours and minutes, from now: "two hours ago", "刚才" (R10)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timedelta

from memci.domain.context.query.moment import Moment
from memci.domain.context.query.time_range import CERTAIN, GUESSED, ROUNDED, TimeRange
from memci.domain.time import chinese_numbers, english_numbers

_HOUR, _MINUTE = timedelta(hours=1), timedelta(minutes=1)
_UNITS = {"hour": _HOUR, "minute": _MINUTE, "小时": _HOUR, "钟头": _HOUR, "分钟": _MINUTE}
_FEW = 5
_ENGLISH = (
    r"(?:(?P<few>(?:a\s+)?few|several)|(?P<two>(?:a\s+)?couple(?:\s+of)?)"
    rf"|{english_numbers.NUMBER})"
)
_CHINESE = f"(?:(?P<few>[几数])|(?P<half>半)|(?P<n>{chinese_numbers.NUMBER}))个?"
_AGO = (
    re.compile(rf"\b{_ENGLISH}\s+(?P<unit>hour|minute)s?\s+ago\b", re.IGNORECASE | re.ASCII),
    re.compile(f"{_CHINESE}(?P<unit>小时|钟头|分钟)(?:之|以)?前"),
)
_ROLLING = (
    re.compile(
        rf"\b(?:the\s+)?(?:last|past)\s+(?:{_ENGLISH}\s+)?(?P<unit>hour|minute)s?\b",
        re.IGNORECASE | re.ASCII,
    ),
    re.compile(f"(?:最近|过去|近){_CHINESE}(?P<unit>小时|钟头|分钟)"),
)
_JUST_NOW = re.compile(r"\bjust\s+now\b|\ba\s+moment\s+ago\b|刚才|刚刚", re.IGNORECASE)


def clock_moments(text: str, now: datetime) -> Iterator[Moment]:
    """Yield the stretches that end now or a few hours or minutes ago."""
    for match in _matches(_AGO, text):
        unit, count = _UNITS[match["unit"].lower()], _count(match)
        half = max(unit, unit * count / 4) / 2
        yield from _moment(match, now, unit * count + half, unit * count - half, ROUNDED)
    for match in _matches(_ROLLING, text):
        long = _UNITS[match["unit"].lower()] * _count(match)
        yield from _moment(match, now, long, timedelta(), CERTAIN)
    for match in _JUST_NOW.finditer(text):
        yield from _moment(match, now, _HOUR, timedelta(), GUESSED)


def _matches(patterns: tuple[re.Pattern[str], ...], text: str) -> Iterator[re.Match[str]]:
    for pattern in patterns:
        yield from pattern.finditer(text)


def _count(match: re.Match[str]) -> float:
    groups = match.groupdict()
    if groups.get("few"):
        return _FEW
    if groups.get("two"):
        return 2
    if groups.get("half"):
        return 0.5
    words = groups["n"] or "a"
    return english_numbers.number(words) if words.isascii() else chinese_numbers.number(words)


def _moment(
    match: re.Match[str], now: datetime, far: timedelta, near: timedelta, certainty: float
) -> Iterator[Moment]:
    """Yield what lies so far back, unless that is before the calendar begins."""
    try:
        since, until = now - far, now - near
    except OverflowError:
        return
    if since < until:
        yield Moment(*match.span(), (TimeRange(since, until, certainty, until - since),))
