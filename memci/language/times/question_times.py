"""The times in a question (R10).

Beside those of ``find_times``: hours and minutes ("two hours ago", 刚才), dates in figures
("5/8/2023" is 8 May to some and 5 August to others), times counted from others ("the day after
8 May"), and connectives ("from March to June", "before 2022", 三月以来).
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import date, datetime, timedelta
from itertools import islice

from memci.language.detection import Language
from memci.language.times import calendar, text_around
from memci.language.times.calendar import DAYS_A_WEEK, SATURDAY, WEEKDAYS, Reading, as_guess
from memci.language.times.dates import latest_of_years
from memci.language.times.holidays import HOLIDAY_RULES
from memci.language.times.mentions import find_times
from memci.language.times.ranges import (
    CERTAIN,
    GUESSED,
    ONE_OF_TWO,
    ROUNDED,
    TimeExpression,
    TimeRange,
    moved_to_year,
    range_of,
    without_overlaps,
)
from memci.language.times.rules import DATA, FLAGS, readings, rules_of
from memci.language.times.time_words import Parts

_HOUR, _MINUTE = timedelta(hours=1), timedelta(minutes=1)
_UNITS = {"hour": _HOUR, "minute": _MINUTE, "小时": _HOUR, "钟头": _HOUR, "分钟": _MINUTE}
_ROUNDED_COUNTS = {"few": 5, "two": 2, "half": 0.5}
_AGO = DATA.patterns("hours_ago", flags=FLAGS)
_ROLLING = DATA.patterns("last_hours", flags=FLAGS)
_JUST_NOW = DATA.pattern("just_now")


def hours_and_minutes(text: str, now: datetime) -> Iterator[TimeExpression]:
    """Yield times counted in hours and minutes from now."""
    for match in _matches(_AGO, text):
        unit, count = _UNITS[match["unit"].lower()], _count(match)
        half = max(unit, unit * count / 4) / 2
        yield from _past_expression(match, now, unit * count + half, unit * count - half, ROUNDED)
    for match in _matches(_ROLLING, text):
        long = _UNITS[match["unit"].lower()] * _count(match)
        yield from _past_expression(match, now, long, timedelta(), CERTAIN)
    for match in _JUST_NOW.finditer(text):
        yield from _past_expression(match, now, _HOUR, timedelta(), GUESSED)


def _matches(patterns: tuple[re.Pattern[str], ...], text: str) -> Iterator[re.Match[str]]:
    for pattern in patterns:
        yield from pattern.finditer(text)


def _count(match: re.Match[str]) -> float:
    parts = Parts(match)
    rounded = next((count for name, count in _ROUNDED_COUNTS.items() if name in parts), 0.0)
    return rounded or parts.number("n", default=1)


def _past_expression(
    match: re.Match[str], now: datetime, far: timedelta, near: timedelta, certainty: float
) -> Iterator[TimeExpression]:
    """Yield the time from ``far`` to ``near`` ago, unless that is before the year 1."""
    try:
        since, until = now - far, now - near
    except OverflowError:
        return
    if since < until:
        yield TimeExpression(*match.span(), (TimeRange(since, until, certainty, until - since),))


_LOOK_BACK = 48
_DAY = timedelta(days=1)
_COUNTED_BEFORE = DATA.pattern("counted_before", flags=FLAGS)
_COUNTED_BEHIND = DATA.pattern("counted_behind", flags=0)
_SIDES = {"前": -1, "后": 1, "before": -1, "prior": -1, "after": 1, "following": 1}


def counted_from(text: str, expression: TimeExpression) -> TimeExpression:
    """Return the time counted from an expression ("the day after 8 May"), or the expression."""
    time = expression.time
    before = _COUNTED_BEFORE.search(_words_before(text, expression))
    found = before or _COUNTED_BEHIND.match(text, expression.end)
    if found is None or time.since is None or time.until is None:
        return expression
    try:
        reading = _counted(time.since.date(), (time.until - _DAY).date(), Parts(found))
    except (OverflowError, ValueError):
        return expression
    if reading is None:
        return expression
    start = expression.start - len(before[0]) if before else expression.start
    end = expression.end if before else found.end()
    return TimeExpression(
        start, end, (range_of(as_guess(reading), time.since.tzinfo, yearly=time.yearly),)
    )


def _counted(first: date, last: date, parts: Parts) -> Reading | None:
    """Return the unit that contains these days (side 0), is before (-1) or after them (1)."""
    side = _SIDES.get(parts.text("side").split(" ")[0], 0)
    unit, edge = parts.unit, last if side > 0 else first
    if unit in WEEKDAYS:
        return _weekday(edge, WEEKDAYS.index(unit), side)
    if not side:
        return None if unit == "day" else calendar.around(edge, unit, 0)
    if unit == "weekend":
        return calendar.weekend(edge, -(edge.weekday() < SATURDAY) if side < 0 else 0)
    if "n" in parts:
        return calendar.distant(edge, unit, side * parts.number("n"))
    if unit in ("month", "year"):
        return calendar.around(edge, unit, side)
    near = DAYS_A_WEEK if unit == "week" else 1
    ends = sorted((edge + side * _DAY, edge + side * near * _DAY))
    return calendar.period(*ends)


def _weekday(edge: date, index: int, side: int) -> Reading:
    """Return the first such weekday from ``edge`` on (side 0), before it (-1) or after it (1)."""
    ahead = (index - edge.weekday()) % DAYS_A_WEEK
    if side < 0:
        return calendar.day(edge, ahead - DAYS_A_WEEK)
    return calendar.day(edge, ahead or (DAYS_A_WEEK if side else 0))


def _before(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![A-Za-z0-9])(?:{DATA.source(name)})\s*(?:the\s+)?\Z", FLAGS)


_FROM, _BETWEEN, _OPEN_BEFORE, _UNTIL_END, _SINCE, _AFTER, _ABOUT = (
    _before(name)
    for name in ("from", "between", "open_before", "until_end", "since", "after", "about")
)
_TO, _AND, _FROM_ON, _ABOUT_BEHIND = (
    DATA.pattern(name, flags=FLAGS)
    for name in ("to_another", "and_another", "from_on", "about_behind")
)
_IN_BETWEEN, _BEFORE_BEHIND, _AFTER_BEHIND = (
    DATA.pattern(name, flags=0) for name in ("in_between", "before_behind", "after_behind")
)
_DOING = DATA.pattern("doing", flags=0)


def with_connectives(text: str, expressions: list[TimeExpression]) -> list[TimeExpression]:
    """Return expressions with their connectives: joined, open at one end, or moved."""
    near = without_overlaps(counted_from(text, each) for each in expressions)
    joined: list[TimeExpression] = []
    for each in near:
        whole = _joined(text, joined[-1], each) if joined else None
        if whole is None:
            joined.append(each)
        else:
            joined[-1] = whole
    return [_with_open_end(text, each) for each in joined]


def _words_before(text: str, expression: TimeExpression) -> str:
    return text[max(0, expression.start - _LOOK_BACK) : expression.start]


def _joined(text: str, first: TimeExpression, second: TimeExpression) -> TimeExpression | None:
    """Join "from A to B", "between A and B" and A到B; None if they are not connected."""
    middle, words_before = text[first.end : second.start], _words_before(text, first)
    ranged = bool(_TO.fullmatch(middle)) or (
        bool(_AND.fullmatch(middle))
        and (bool(_BETWEEN.search(words_before)) or bool(_IN_BETWEEN.match(text, second.end)))
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
    prefix = _FROM.search(words_before)
    return TimeExpression(first.start - (len(prefix[0]) if prefix else 0), second.end, (time,))


def _same_year(a: TimeRange, b: TimeRange) -> tuple[TimeRange, TimeRange]:
    if a.yearly and b.since is not None and a.since is not None:
        options = [_in_year(a, b.since.year - earlier) for earlier in (0, 1)]
        a = next((each for each in options if each.since and each.since <= b.since), a)
        return (a if b.yearly else replace(a, yearly=False)), b
    if b.yearly and a.since is not None and b.since is not None:
        options = [_in_year(b, a.since.year + later) for later in (0, 1)]
        b = next((each for each in options if each.since and each.since >= a.since), b)
        return a, replace(b, yearly=False)
    return a, b


def _of_one_week(
    text: str, first: TimeExpression, second: TimeExpression
) -> tuple[TimeRange, TimeRange]:
    """Read two weekdays: the second after the first, or the first before the second.

    "From next Friday to Sunday" continues from Friday; "from Friday to Wednesday" is past.
    """
    a, b = first.time, second.time
    if a.since is None or b.since is None or not is_bare_weekday(text, second):
        return a, b
    ahead = (b.since - a.since).days % DAYS_A_WEEK or DAYS_A_WEEK
    try:
        if not is_bare_weekday(text, first):
            return a, _shifted(b, ahead - (b.since - a.since).days)
        return (_shifted(a, -DAYS_A_WEEK) if a.since >= b.since else a), b
    except OverflowError:
        return a, b  # there is no such week


def _shifted(time: TimeRange, days: int) -> TimeRange:
    step = timedelta(days)
    return replace(
        time, since=time.since and time.since + step, until=time.until and time.until + step
    )


def _in_year(time: TimeRange, year: int) -> TimeRange:
    if time.since is None or time.until is None:
        return time
    place = moved_to_year(time.since, time.until, year)
    return replace(time, since=place[0], until=place[1]) if place else time


def _with_open_end(text: str, expression: TimeExpression) -> TimeExpression:
    """Read before, until, since, after and around, before or after an expression."""
    words_before, times = _words_before(text, expression), expression.times
    if _SINCE.search(words_before) or _FROM_ON.match(text, expression.end):
        read = [_open(each, each.since, None) for each in times]
    elif _OPEN_BEFORE.search(words_before) and not _DOING.search(words_before):
        whole = _UNTIL_END.search(words_before)
        read = [_open(each, None, each.until if whole else each.since) for each in times]
    elif _BEFORE_BEHIND.match(text, expression.end):
        read = [_open(each, None, each.since) for each in times]
    elif _AFTER.search(words_before) or _AFTER_BEHIND.match(text, expression.end):
        read = [_open(each, each.until, None) for each in times]
    elif _ABOUT.search(words_before) or _ABOUT_BEHIND.match(text, expression.end):
        certainties = [min(each.certainty, ROUNDED) for each in times]
        read = [
            replace(each, certainty=certainty, slack=2 * each.slack)
            for each, certainty in zip(times, certainties, strict=True)
        ]
    else:
        return expression
    return replace(expression, times=tuple(read))


def _open(time: TimeRange, since: datetime | None, until: datetime | None) -> TimeRange:
    return replace(time, since=since, until=until, yearly=False) if since or until else time


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


def numeric_dates(text: str, now: datetime) -> Iterator[TimeExpression]:
    """Yield dates in figures, month first before day first where both are possible."""
    for match in _WHOLE.finditer(text):
        year = int(match["year"] or match["year2"])
        a, b = int(match["a"]), int(match["b"] or match["b2"])
        # Dates with dots have the day first.
        orders = [(b, a)] if match["mark"] == "." else [(a, b), (b, a)]
        year += 0 if year > 99 else _CENTURY  # noqa: PLR2004
        days = [day for each in orders if (day := calendar.existing_date(year, *each))]
        yield from _numeric_date(match.span(), days, now, yearly=False)
    for match in _SHORT.finditer(text):
        a, b = int(match["a"]), int(match["b"])
        days = [day for each in ((a, b), (b, a)) if (day := latest_of_years(now.date(), *each))]
        yield from _numeric_date(match.span("mention"), days, now, yearly=True)


def _numeric_date(
    place: tuple[int, int], days: list[date], now: datetime, *, yearly: bool
) -> Iterator[TimeExpression]:
    times = [
        range_of(calendar.day(day, 0), now.tzinfo, yearly=yearly) for day in dict.fromkeys(days)
    ]
    if len(times) > 1:
        times = [replace(each, certainty=ONE_OF_TWO) for each in times]
    if times:
        yield TimeExpression(*place, tuple(times))


_WEEKDAY, _BARE_WEEKDAY = DATA.pattern("weekday_alone"), DATA.pattern("bare_weekday")
_BESIDE = re.compile(r"[\s,，、(（]*(?:the\s+)?", re.IGNORECASE)
_A_DAY = timedelta(hours=26)  # with a change of the clocks


def is_weekday(text: str, expression: TimeExpression) -> bool:
    """Return True if an expression is only a weekday, alone or with "last", "on" …."""
    return bool(_WEEKDAY.fullmatch(text, expression.start, expression.end))


def is_bare_weekday(text: str, expression: TimeExpression) -> bool:
    """Return True if an expression is only a weekday, without a week."""
    return bool(_BARE_WEEKDAY.fullmatch(text, expression.start, expression.end))


def merge_weekdays(text: str, expressions: Iterable[TimeExpression]) -> list[TimeExpression]:
    """Return expressions with each weekday merged into the date beside it.

    "Wednesday, 11 November" is one day, whatever its weekday.
    """
    joined: list[TimeExpression] = []
    for each in expressions:
        last = joined[-1] if joined else None
        if last and _is_dated(text, last, each):
            day = each if is_weekday(text, last) else last
            joined[-1] = replace(day, start=last.start, end=each.end)
        else:
            joined.append(each)
    return joined


def _is_dated(text: str, first: TimeExpression, last: TimeExpression) -> bool:
    """Return True if one is the weekday of the other, which is a date."""
    if not _BESIDE.fullmatch(text, first.end, last.start):
        return False
    weekdays = is_weekday(text, first), is_weekday(text, last)
    return weekdays in {(True, False), (False, True)} and _is_day(first) and _is_day(last)


def _is_day(expression: TimeExpression) -> bool:
    since, until = expression.time.since, expression.time.until
    return since is not None and until is not None and until - since <= _A_DAY


_RULES = (
    *rules_of("questions", Language.ENGLISH),
    *rules_of("questions", Language.CHINESE),
    *HOLIDAY_RULES,
)
_BARE_MONTH = DATA.pattern("bare_month")
_EVERY = DATA.pattern("every")
_WORDS_BEFORE = 24
# A text with more times is no question.
_MOST = 32
_LATELY = DATA.pattern("lately")
_TOLD = DATA.pattern("as_told")


def time_expressions_of(text: str, now: datetime) -> list[TimeExpression]:
    """Return the expressions of time in a question asked at ``now`` (aware), in order.

    Days begin at midnight in the time zone of ``now``. A date without a year is the latest one.
    """
    found = _expressions(text, now)
    for each in found:
        # "What did she do last week, as told on 6 November?" is relative to 6 November.
        if _TOLD.search(text[max(0, each.start - _WORDS_BEFORE) : each.start]) and each.time.since:
            then = _expressions(text, each.time.since)
            # "Recently" is that day itself.
            return [one for one in then if not _LATELY.match(text, one.start, one.end)]
    return found


def _expressions(text: str, now: datetime) -> list[TimeExpression]:
    untouched = text_around.code_and_quoted_lines(text)
    found = without_overlaps(
        each
        for each in (
            *_mentioned_times(text, now),
            *numeric_dates(text, now),
            *hours_and_minutes(text, now),
        )
        if not untouched.touches(each.start, each.end)
    )
    found = merge_weekdays(text, found)
    return [each for each in with_connectives(text, found[:_MOST]) if not _is_repeated(text, each)]


def _mentioned_times(text: str, now: datetime) -> Iterator[TimeExpression]:
    zone, today = now.tzinfo, now.date()
    for mention in find_times(text, now)[:_MOST]:
        reading, yearly = _reading_in_question(mention.reading, mention.text, today)
        yield TimeExpression(mention.start, mention.end, (range_of(reading, zone, yearly=yearly),))
    for start, end, reading in islice(readings(_RULES, text, today), _MOST):
        yield TimeExpression(start, end, (range_of(reading, zone, yearly=reading.yearless),))


def _reading_in_question(reading: Reading, words: str, today: date) -> tuple[Reading, bool]:
    """Return the reading of a mention in a question, and True if it may be of any year."""
    first = reading.first
    if reading.yearless and first > today:
        return calendar.day(latest_of_years(today, first.month, first.day) or first, 0), True
    return reading, reading.yearless or bool(_BARE_MONTH.fullmatch(words))


def _is_repeated(text: str, expression: TimeExpression) -> bool:
    return bool(_EVERY.search(text[max(0, expression.start - _WORDS_BEFORE) : expression.start]))
