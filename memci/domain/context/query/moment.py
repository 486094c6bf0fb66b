"""An expression of time in a question (R10)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from memci.domain.context.query.time_range import TimeRange


@dataclass(frozen=True, slots=True)
class Moment:
    """Characters ``start`` to ``end`` of a question, and the time that they mean.

    ``times``: two where the same figures may be read in two ways, else one.
    """

    start: int
    end: int
    times: tuple[TimeRange, ...]

    @property
    def time(self) -> TimeRange:
        """The more likely of its times."""
        return self.times[0]


def apart(moments: Iterable[Moment]) -> list[Moment]:
    """Return moments in order, none overlapping another; the longer of two that begin alike."""
    found: list[Moment] = []
    for each in sorted(moments, key=lambda each: (each.start, -each.end)):
        if not found or each.start >= found[-1].end:
            found.append(each)
    return found
