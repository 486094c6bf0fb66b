"""Time ranges of a question, the fit of messages, and the ranges to search (R10, R11)."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import NamedTuple

from memci.language.times.calendar import Reading

_DAY = timedelta(days=1)
# The certainty of readings that depend on a convention, of rounded ones, of both, and of one of two
# readings of the same figures ("5/8/2023").
CERTAIN, ROUNDED, GUESSED, ONE_OF_TWO = 1.0, 0.8, 0.6, 0.5
# A month without a year is searched in all years, the latest first.
_OTHER_YEAR = 0.8
_FEBRUARY, _SHORTEST_MONTH = 2, 28


@dataclass(frozen=True, slots=True)
class TimeRange:
    """From ``since`` to before ``until``, both aware; one of them may be None: no limit."""

    since: datetime | None
    until: datetime | None
    certainty: float = CERTAIN  # 0 to 1, that the words mean these days
    # A message this far outside has half the fit. It is the length of the range, so a day is
    # matched more closely than a year.
    slack: timedelta = _DAY
    yearly: bool = False  # no year was named: the latest is meant, or (less likely) another one
    session: str | None = None  # only messages of this session fit; "": of no session

    def fit(self, at: datetime, session_id: str | None = None) -> float:
        """Return the fit of a message's time: 1 inside, less the further outside."""
        if self.session is not None and self.session != (session_id or ""):
            return 0.0
        here = _fit(at, self.since, self.until, self.slack)
        if not self.yearly or here == 1 or self.since is None or self.until is None:
            return here
        others = (moved_to_year(self.since, self.until, at.year + step) for step in (-1, 0, 1))
        return max(here, *(_OTHER_YEAR * _fit(at, *other, self.slack) for other in others if other))


def _fit(at: datetime, since: datetime | None, until: datetime | None, slack: timedelta) -> float:
    if since is not None and at < since:
        outside = since - at
    elif until is not None and at >= until:
        outside = at - until
    else:
        return 1.0
    return 1 / (1 + (outside / slack) ** 2)


def range_of(reading: Reading, zone: tzinfo | None, *, yearly: bool = False) -> TimeRange:
    """Return a reading as a range, from midnight to midnight in a time zone."""
    since, last = (
        datetime.combine(day, time.min, zone or UTC) for day in (reading.first, reading.last)
    )
    until = last + _DAY if reading.last < date.max else None  # the end of the calendar
    certainty = CERTAIN if reading.certain else GUESSED
    if reading.approximate:
        certainty = min(certainty, ROUNDED)
    return TimeRange(since, until, certainty, reading.last - reading.first + _DAY, yearly)


def moved_to_year(since: datetime, until: datetime, year: int) -> tuple[datetime, datetime] | None:
    """Return the same days with their beginning in ``year``; None beyond the calendar.

    29 February becomes the 28th.
    """
    day = min(since.day, _SHORTEST_MONTH)
    try:
        begin = since.replace(year=year, day=day if since.month == _FEBRUARY else since.day)
        return begin, begin + (until - since)
    except (ValueError, OverflowError):
        return None


@dataclass(frozen=True, slots=True)
class TimeExpression:
    """An expression at characters ``start`` to ``end`` of a question, and its times."""

    start: int
    end: int
    times: tuple[TimeRange, ...]  # two where the same figures have two readings, else one

    @property
    def time(self) -> TimeRange:
        """The most likely of its times."""
        return self.times[0]


def mask_times(text: str, expressions: Iterable[TimeExpression]) -> str:
    """Return the text with dots in place of expressions of time."""
    for each in expressions:
        text = text[: each.start] + "." * (each.end - each.start) + text[each.end :]
    return text


def without_overlaps(expressions: Iterable[TimeExpression]) -> list[TimeExpression]:
    """Return expressions in order without overlaps; of two with the same start the longer one."""
    found: list[TimeExpression] = []
    for each in sorted(expressions, key=lambda each: (each.start, -each.end)):
        if not found or each.start >= found[-1].end:
            found.append(each)
    return found


# A time without its year is also searched in so many years before the latest.
_YEARS_BACK = 3


class TimeSpan(NamedTuple):
    """From ``since`` to before ``until``, both aware; None: no limit."""

    since: datetime | None
    until: datetime | None
    besides: bool = False  # searched only where the named spans leave room for more hits
    session: str | None = None  # only messages of this session are in it; "": of no session

    def holds(self, at: datetime, session_id: str | None = None) -> bool:
        """Return True if a message of this time (aware) and session is in it."""
        if self.session is not None and self.session != (session_id or ""):
            return False
        begun = self.since is None or at >= self.since
        return begun and (self.until is None or at < self.until)


def spans_to_search(times: Iterable[TimeRange]) -> tuple[TimeSpan, ...]:
    """Return the named ranges, then the same days of earlier years where no year was named."""
    times = list(times)
    named = [TimeSpan(each.since, each.until, session=each.session) for each in times]
    earlier = [
        TimeSpan(*place, besides=True)
        for each in times
        if each.yearly and each.since is not None and each.until is not None
        for back in range(1, _YEARS_BACK + 1)
        if (place := moved_to_year(each.since, each.until, each.since.year - back))
    ]
    return tuple(dict.fromkeys([*named, *earlier]))
