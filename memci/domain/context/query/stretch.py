"""Stretches of time that are looked into for whatever was said then (R10, R11)."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from memci.domain.context.query.time_range import TimeRange, moved

# What was named without its year is looked for in so many years before the latest, too.
_YEARS_BACK = 3


class Stretch(NamedTuple):
    """From ``since`` to before ``until``, both aware; None: open at that end.

    ``besides``: it is looked into where what was named leaves room. ``session``: only what was
    said in this session lies in it; "": in none.
    """

    since: datetime | None
    until: datetime | None
    besides: bool = False
    session: str | None = None

    def holds(self, at: datetime, session_id: str | None = None) -> bool:
        """Tell whether what was said at a moment (aware), in a session, lies in it."""
        if self.session is not None and self.session != (session_id or ""):
            return False
        begun = self.since is None or at >= self.since
        return begun and (self.until is None or at < self.until)


def stretches_of(times: Iterable[TimeRange]) -> tuple[Stretch, ...]:
    """Return what a question names, then the same days of earlier years where it names no year."""
    times = list(times)
    named = [Stretch(each.since, each.until, session=each.session) for each in times]
    earlier = [
        Stretch(*place, besides=True)
        for each in times
        if each.yearly and each.since is not None and each.until is not None
        for back in range(1, _YEARS_BACK + 1)
        if (place := moved(each.since, each.until, each.since.year - back))
    ]
    return tuple(dict.fromkeys([*named, *earlier]))
