"""Times that another one only is the measure of: "the day after 8 May", 5月8日前两天 (R10)."""

from __future__ import annotations

import re
from datetime import date, timedelta

from memci.domain.context.query.moment import Moment
from memci.domain.context.query.time_range import range_of
from memci.domain.time import chinese_numbers, english_numbers, spans
from memci.domain.time.mention import Reading, unsure

_LOOK_BACK = 48
_DAY = timedelta(days=1)
_DAYS_A_WEEK, _SATURDAY = 7, 5
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_ENGLISH = re.compile(
    rf"(?:the\s+|last\s+|{english_numbers.NUMBER}\s+)?\b(?P<unit>day|night|week|weekend|month|year"
    rf"|{'|'.join(_WEEKDAYS)})s?\s+(?P<side>before|after|following|of|prior\s+to)\s+(?:the\s+)?\Z",
    re.IGNORECASE | re.ASCII,
)
_CHINESE = re.compile(
    f"的?(?P<side>[前后])(?P<n>{chinese_numbers.NUMBER})个?(?P<unit>天|周|星期|礼拜|月|年)"
    "|那(?:一)?个?(?P<same>周末|周|星期|礼拜|月|年)"
)
_UNITS = {"天": "day", "周": "week", "星期": "week", "礼拜": "week", "月": "month", "年": "year"}
_UNITS |= {"night": "day", "周末": "weekend"}
_AROUND = {
    "week": spans.week,
    "weekend": spans.weekend,
    "month": spans.month,
    "year": spans.year,
}
_SIDES = {"前": -1, "后": 1, "before": -1, "prior": -1, "after": 1, "following": 1}


def counted_from(text: str, moment: Moment) -> Moment:
    """Return the time that is counted from a moment, or the moment."""
    time = moment.time
    if time.since is None or time.until is None:
        return moment
    back = text[max(0, moment.start - _LOOK_BACK) : moment.start]
    found = _ENGLISH.search(back) or _CHINESE.match(text, moment.end)
    if found is None:
        return moment
    parts = found.groupdict()
    words, n = parts.get("unit") or parts["same"], parts.get("n")
    side = _SIDES.get((parts.get("side") or "").lower().split(" ")[0], 0)
    try:
        first, last = time.since.date(), (time.until - _DAY).date()
        reading = _counted(first, last, words.lower(), n, side)
    except (OverflowError, ValueError):
        return moment
    if reading is None:
        return moment
    start = moment.start - len(found[0]) if found.re is _ENGLISH else moment.start
    end = max(moment.end, found.end() if found.re is _CHINESE else 0)
    return Moment(start, end, (range_of(unsure(reading), time.since.tzinfo, yearly=time.yearly),))


def _counted(first: date, last: date, words: str, n: str | None, side: int) -> Reading | None:
    """Return the unit around a stretch of days (side 0), before it (-1) or after it (1)."""
    unit, edge = _UNITS.get(words, words), last if side > 0 else first
    if unit in _WEEKDAYS:
        return _weekday(edge, _WEEKDAYS.index(unit), side)
    if not side:
        return _AROUND[unit](edge, 0) if unit in _AROUND else None
    if unit == "weekend":
        return spans.weekend(edge, -(edge.weekday() < _SATURDAY) if side < 0 else 0)
    if n is not None:
        count = english_numbers.number(n) if n.isascii() else chinese_numbers.number(n)
        return spans.distant(edge, unit, side * count)
    if unit in ("month", "year"):
        return _AROUND[unit](edge, side)
    near = _DAYS_A_WEEK if unit == "week" else 1
    ends = sorted((edge + side * _DAY, edge + side * near * _DAY))
    return spans.period(*ends)


def _weekday(edge: date, index: int, side: int) -> Reading:
    """Return the weekday in what begins at ``edge`` (side 0), or the next one before or after."""
    ahead = (index - edge.weekday()) % _DAYS_A_WEEK
    if side < 0:
        return spans.day(edge, ahead - _DAYS_A_WEEK)
    return spans.day(edge, ahead or (_DAYS_A_WEEK if side else 0))
