"""A stretch of time that a question names, and how well something fits into it (R10)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo

from memci.domain.time.mention import Reading

_DAY = timedelta(days=1)
# How sure a reading is that rests on a convention; that the speaker rounded; both at once; and one
# of two that the same figures may mean ("5/8/2023").
CERTAIN, ROUNDED, GUESSED, ONE_OF_TWO = 1.0, 0.8, 0.6, 0.5
# A month without a year is looked for in all years, in the latest one first.
_OTHER_YEAR = 0.8
_FEBRUARY, _SHORTEST_MONTH = 2, 28


@dataclass(frozen=True, slots=True)
class TimeRange:
    """From ``since`` to before ``until``, both aware; None: open at that end, never at both.

    ``certainty``: 0 to 1, whether the words mean these days. ``slack``: how far outside something
    fits half as well as inside; as long as what was named, so that a day is looked for more
    closely than a year. ``yearly``: no year was named, and the range is the latest; it lies as
    well, if less likely, in every other year. ``session``: what was said in it
    alone is meant; "": in none.
    """

    since: datetime | None
    until: datetime | None
    certainty: float = CERTAIN
    slack: timedelta = _DAY
    yearly: bool = False
    session: str | None = None

    def fit(self, at: datetime, session_id: str | None = None) -> float:
        """Return how well what was said fits: 1 inside, falling to 0 with the distance outside."""
        if self.session is not None and self.session != (session_id or ""):
            return 0.0
        here = _fit(at, self.since, self.until, self.slack)
        if not self.yearly or here == 1 or self.since is None or self.until is None:
            return here
        others = (moved(self.since, self.until, at.year + step) for step in (-1, 0, 1))
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
    """Return the days of a reading, from midnight to midnight in a time zone."""
    since, until = begin_of(reading.first, zone), end_of(reading.last, zone)
    certainty = CERTAIN if reading.certain else GUESSED
    if reading.approximate:
        certainty = min(certainty, ROUNDED)
    return TimeRange(since, until, certainty, reading.last - reading.first + _DAY, yearly)


def begin_of(day: date, zone: tzinfo | None) -> datetime:
    """Return the first moment of a day."""
    return datetime.combine(day, time.min, zone or UTC)


def end_of(day: date, zone: tzinfo | None) -> datetime | None:
    """Return the first moment after a day; None after the calendar's last."""
    return begin_of(day + _DAY, zone) if day < date.max else None


def moved(since: datetime, until: datetime, year: int) -> tuple[datetime, datetime] | None:
    """Return the same days of the year that they begin in; None beyond the calendar.

    What begins on 29 February begins on the 28th.
    """
    day = min(since.day, _SHORTEST_MONTH)
    try:
        begin = since.replace(year=year, day=day if since.month == _FEBRUARY else since.day)
        return begin, begin + (until - since)
    except (ValueError, OverflowError):
        return None
