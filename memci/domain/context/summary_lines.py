"""Lines of a summary, and the days on which they were said (R8).

A day stands on a line of its own above what was said on it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_DAY = re.compile(r"\d{4}-\d\d-\d\d")


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a summary, and the day on which it was said ("" where that is not known).

    ``relative``: it speaks of times as they are called on that day ("yesterday").
    """

    text: str
    day: str = ""
    relative: bool = False

    @property
    def is_day(self) -> bool:
        """Whether it is nothing but a day."""
        return bool(_DAY.fullmatch(self.text))


def lines_of(summary: str) -> list[Line]:
    """Return the lines of a summary, whoever has written it.

    A day that stands above nothing is a line: all that was left of one.
    """
    lines: list[Line] = []
    day = ""
    rows = [text for each in summary.splitlines() if (text := each.strip())]
    for text, below in zip(rows, [*rows, ""][1:], strict=True):
        if not _DAY.fullmatch(text):
            lines.append(Line(text, day, relative=bool(day)))
        elif below and not _DAY.fullmatch(below):
            day = text
        else:
            lines.append(Line(text))
    return lines


def under_days(lines: Sequence[Line]) -> str:
    """Return lines under their days: also the first of them, if its day is known."""
    rows: list[str] = []
    day = ""
    for line in lines:
        if line.day and line.day != day:
            day = line.day
            rows.append(day)
        rows.append(line.text)
    return "\n".join(rows)
