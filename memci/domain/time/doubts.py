"""When a date without its year is of no year in particular."""

from __future__ import annotations

import re

from memci.domain.time.mention import Reading
from memci.domain.time.surroundings import sentence_around

_YEARLY = re.compile(
    r"\b(?:birthdays?|anniversar\w+|born|holidays?|every|each|annual\w*|always|usually|yearly"
    r"|in\s+(?:1\d|20)\d\d)\b|生日|纪念日|出生|每年|节日|[节年]庆"
)
_OVER = re.compile(
    r"\b(?:was|were|did|had|got|went|met|came|saw|bought|took|made|gave|began|left|\w{2,}ed)\b|"
    r"[了过]|当时|那天|曾"
)
_TO_COME = re.compile(
    r"\b(?:will|shall|is|are|am|going to|due|until|till|moved|changed|pushed|postponed|rescheduled|"
    r"booked|scheduled|planned|delayed|extended|set|starts?|begins?|opens?)\b|['’](?:ll|m|re)\b|"
    r"[改定订推延约将会要]|提前|准备|打算|计划|开始"
)


def comes_again(text: str, start: int, end: int, _reading: Reading) -> bool:
    """Tell whether a day and month may be of every year: "her birthday is on May 5"."""
    return bool(_YEARLY.search(sentence_around(text, start, end)))


def told_otherwise(sentence: str, *, ahead: bool) -> bool:
    """Tell whether a sentence is of the past and the day ``ahead``, or the other way round."""
    over, to_come = bool(_OVER.search(sentence)), bool(_TO_COME.search(sentence))
    return over and not to_come if ahead else to_come and not over
