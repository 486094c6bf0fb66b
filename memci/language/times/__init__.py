"""Expressions of time in texts, and the days that they mean (R4, R10)."""

from memci.language.times.calendar import Granularity, Reading
from memci.language.times.mentions import (
    DateNote,
    TimeMention,
    add_date_notes,
    date_notes,
    find_times,
    remove_date_notes,
)

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
