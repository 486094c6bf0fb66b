"""What stands around times: "from March to June", "before 2022", 三月以来 (R10)."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

from memci.domain.context.query.counted import counted_from
from memci.domain.context.query.moment import Moment, apart
from memci.domain.context.query.time_range import ROUNDED, TimeRange, moved
from memci.domain.context.query.weekdays import is_bare_weekday, is_weekday

_LOOK_BACK = 48
_DAYS_A_WEEK = 7
_FLAGS = re.IGNORECASE | re.ASCII


def _before(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![A-Za-z0-9])(?:{pattern})\s*(?:the\s+)?\Z", _FLAGS)


_FROM = _before("from|between|从|自从?|在")
_BETWEEN = _before("between|在")
_TO = re.compile(r"\s*(?:to|until|till|through|thru|[-–—~～]|到|至|直到)\s*(?:the\s+)?", _FLAGS)
_AND = re.compile(r"\s*(?:and|和|与|到|至)\s*(?:the\s+)?", _FLAGS)
_IN_BETWEEN = re.compile(r"\s*(?:之间|中间|期间|这段|的?时候)")
_OPEN_BEFORE = _before("before|prior\\s+to|earlier\\s+than|until|till|up\\s+to|by")
_UNTIL_END = _before("until|till|up\\s+to|by")
# "What was I up to yesterday?" is not about all days until then.
_DOING = re.compile(
    r"\b(?:[Ii]|you|we|they|he|she|been|(?:was|were|is|are)\s+[A-Z]\w+)\s+up\s+to\s*\Z"
)
_SINCE = _before("since|starting|beginning|自从?")
_AFTER = _before("after|later\\s+than|following")
_ABOUT = _before("around|about|circa|roughly|approximately|大约|大概|差不多")
_FROM_ON = re.compile(r"\s*(?:on(?:wards?)?|onwards?|以来|开始|起|到现在|至今|到目前)", _FLAGS)
_ABOUT_AFTER = re.compile(r"\s*(?:左右|前后|or\s+so\b)", _FLAGS)
# 前 and 后 alone begin other words as well.
_ENDS = r"(?=[\s,.?!，。？！、]|\Z|[我你他她们的都有])"
_BEFORE_AFTER = re.compile(rf"\s*(?:之前|以前|前{_ENDS})")
_AFTER_AFTER = re.compile(rf"\s*(?:之后|以后|后{_ENDS})")


def connected(text: str, moments: list[Moment]) -> list[Moment]:
    """Return moments with the words around them: joined, opened at one end, or moved."""
    near = apart(counted_from(text, each) for each in moments)
    joined: list[Moment] = []
    for each in near:
        whole = _joined(text, joined[-1], each) if joined else None
        if whole is None:
            joined.append(each)
        else:
            joined[-1] = whole
    return [_opened(text, each) for each in joined]


def _back(text: str, moment: Moment) -> str:
    return text[max(0, moment.start - _LOOK_BACK) : moment.start]


def _joined(text: str, first: Moment, second: Moment) -> Moment | None:
    """Join "from A to B", "between A and B" and A到B; None where they stand by themselves."""
    middle, back = text[first.end : second.start], _back(text, first)
    ranged = bool(_TO.fullmatch(middle)) or (
        bool(_AND.fullmatch(middle))
        and (bool(_BETWEEN.search(back)) or bool(_IN_BETWEEN.match(text, second.end)))
    )
    if not ranged:
        return None
    a, b = _same_year(first.time, second.time)
    if is_weekday(text, first) and is_weekday(text, second):
        a, b = _of_one_week(text, first, second)
    if a.since is None or b.until is None or a.since >= b.until:
        return None
    time = TimeRange(
        a.since, b.until, min(a.certainty, b.certainty), b.until - a.since, a.yearly and b.yearly
    )
    prefix = _FROM.search(back)
    return Moment(first.start - (len(prefix[0]) if prefix else 0), second.end, (time,))


def _same_year(a: TimeRange, b: TimeRange) -> tuple[TimeRange, TimeRange]:
    """Give what was named without its year the year of the other."""
    if a.yearly and b.since is not None and a.since is not None:
        options = [_in_year(a, b.since.year - back) for back in (0, 1)]
        a = next((each for each in options if each.since and each.since <= b.since), a)
        return (a if b.yearly else replace(a, yearly=False)), b
    if b.yearly and a.since is not None and b.since is not None:
        options = [_in_year(b, a.since.year + on) for on in (0, 1)]
        b = next((each for each in options if each.since and each.since >= a.since), b)
        return a, replace(b, yearly=False)
    return a, b


def _of_one_week(text: str, first: Moment, second: Moment) -> tuple[TimeRange, TimeRange]:
    """Read two weekdays: the second behind the first, or the first before the second.

    "From next Friday to Sunday" goes on from Friday; "from Friday to Wednesday" is over.
    """
    a, b = first.time, second.time
    if a.since is None or b.since is None or not is_bare_weekday(text, second):
        return a, b
    ahead = (b.since - a.since).days % _DAYS_A_WEEK or _DAYS_A_WEEK
    try:
        if not is_bare_weekday(text, first):
            return a, _days_later(b, ahead - (b.since - a.since).days)
        return (_days_later(a, -_DAYS_A_WEEK) if a.since >= b.since else a), b
    except OverflowError:
        return a, b  # there is no such week


def _days_later(time: TimeRange, days: int) -> TimeRange:
    step = timedelta(days)
    return replace(
        time, since=time.since and time.since + step, until=time.until and time.until + step
    )


def _in_year(time: TimeRange, year: int) -> TimeRange:
    if time.since is None or time.until is None:
        return time
    place = moved(time.since, time.until, year)
    return replace(time, since=place[0], until=place[1]) if place else time


def _opened(text: str, moment: Moment) -> Moment:
    """Read before, until, since, after and around, in front of a moment or behind it."""
    back = _back(text, moment)
    read: Callable[[TimeRange], TimeRange]
    if _SINCE.search(back) or _FROM_ON.match(text, moment.end):
        read = _since
    elif _OPEN_BEFORE.search(back) and not _DOING.search(back):
        read = _until if _UNTIL_END.search(back) else _earlier
    elif _BEFORE_AFTER.match(text, moment.end):
        read = _earlier
    elif _AFTER.search(back) or _AFTER_AFTER.match(text, moment.end):
        read = _later
    elif _ABOUT.search(back) or _ABOUT_AFTER.match(text, moment.end):
        read = _about
    else:
        return moment
    return replace(moment, times=tuple(read(each) for each in moment.times))


def _since(time: TimeRange) -> TimeRange:
    return replace(time, until=None, yearly=False) if time.since else time


def _until(time: TimeRange) -> TimeRange:
    return replace(time, since=None, yearly=False) if time.until else time


def _earlier(time: TimeRange) -> TimeRange:
    return replace(time, since=None, until=time.since, yearly=False) if time.since else time


def _later(time: TimeRange) -> TimeRange:
    return replace(time, since=time.until, until=None, yearly=False) if time.until else time


def _about(time: TimeRange) -> TimeRange:
    return replace(time, certainty=min(time.certainty, ROUNDED), slack=2 * time.slack)
