"""When a date without its year is of no year in particular."""

from __future__ import annotations

import re

from memci.domain.time.mention import Reading
from memci.domain.time.surroundings import sentence_around

_YEARLY = re.compile(
    r"\b(?:birthdays?|anniversar\w+|born|holidays?|every|each|annual\w*|always|usually|yearly"
    r"|in\s+(?:1\d|20)\d\d)\b|生日|纪念日|出生|每年|节日|[节年]庆"
)


def comes_again(text: str, start: int, end: int, _reading: Reading) -> bool:
    """Tell whether a day and month may be of every year: "her birthday is on May 5"."""
    return bool(_YEARLY.search(sentence_around(text, start, end)))
