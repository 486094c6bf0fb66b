"""Expressions of time in what was said, and the days that they mean (R4, R10)."""

from memci.language.times.mentions import (
    DateNote,
    add_date_notes,
    date_notes,
    find_times,
    remove_date_notes,
)
from memci.language.times.rules import Granularity, Reading, TimeMention

__all__ = [
    "DateNote",
    "Granularity",
    "Reading",
    "TimeMention",
    "add_date_notes",
    "date_notes",
    "find_times",
    "remove_date_notes",
]
