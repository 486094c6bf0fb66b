"""Cuts a question into what has to be searched for (R10), where it plainly is several."""

from __future__ import annotations

from memci.language.detection import Language
from memci.language.question import as_read, parts_of

_LONGEST = 300


class OfflineQueryPlanner:
    """The questions that stand in it, word for word."""

    def plan(self, text: str, language: Language) -> list[str]:
        """Return at most 4 questions, or none where ``text`` is one, or they are too long."""
        del language
        parts = parts_of(as_read(text))
        several = len(parts) > 1 and all(len(each) <= _LONGEST for each in parts)
        return list(parts) if several else []
