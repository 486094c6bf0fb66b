"""Whether a question that names a time asks for what is so now all the same (R6, R10)."""

from __future__ import annotations

import re

_NOW = re.compile(
    r"\b(?:now|nowadays|currently|presently|these\s+days|at\s+(?:the\s+moment|present))\b"
    "|现在|目前|如今|眼下|至今",
    re.IGNORECASE,
)
_PRESENT = re.compile(r"\b(?:do|does|is|are|am|have|has)\b|\w['’](?:s|re|m|ve)\b", re.IGNORECASE)
_PAST = re.compile(
    r"\b(?:did|was|were|had|used\s+to|would|back\s+then|at\s+(?:the|that)\s+time)\b", re.IGNORECASE
)
_SENTENCE_END = re.compile(r"[.!?。！？]\s*(?=\S)")


def asks_of_now(text: str) -> bool:
    """Tell whether the last sentence of a text is in the present, or any says that it is of now.

    "Which town do I live in, since I moved in March?" is; "Where did I live in March?" and
    我三月住在哪里？ are not.
    """
    if _NOW.search(text):
        return True
    last = _SENTENCE_END.split(text)[-1]
    return bool(_PRESENT.search(last)) and not _PAST.search(last)
