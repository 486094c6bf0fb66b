"""Expressions of time in what was said, and the days that they mean (R4, R10)."""

from memci.language.times.date_notes import Note, absolute_notes, with_absolute, without_notes
from memci.language.times.finder import find_times
from memci.language.times.rules import Granularity, Reading, TimeMention

__all__ = [
    "Granularity",
    "Note",
    "Reading",
    "TimeMention",
    "absolute_notes",
    "find_times",
    "with_absolute",
    "without_notes",
]
