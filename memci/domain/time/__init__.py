"""Expressions of time in what was said, and the days that they mean (R4, R10)."""

from memci.domain.time.finder import find_times
from memci.domain.time.mention import Granularity, Reading, TimeMention
from memci.domain.time.notes import Note, absolute_notes, with_absolute, without_notes

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
