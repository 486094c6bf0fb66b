"""Whether a question asks for the latest of several occasions, or for the earliest (R10)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import StrEnum

from memci.domain.context.query.moment import Moment

_FLAGS = re.IGNORECASE | re.ASCII
# An adverb stands some words behind its verb, "when did I last see Ann", and behind no preposition:
# "did it hurt since last season?"
_DID = (
    r"\b(?:did|do|does|have|has|had|was|were|is|are)\s+"
    r"(?:(?!(?:last|first|long|from|in|during|at|since|until|till|by|on|for)\b)[\w'’]+\s+){1,6}?"
)
# What there is one of, or what has a place in a row.
_NO_ROW = (
    r"(?!\s+(?:names?|chapters?|pages?|words?|lines?|minutes?|straw|resort|place|one|of|floor)\b)"
)
_NO_SPAN = r"(?!\s+(?:for|until|till|long|longer|season|semester|term)\b|\s+\d)"
_HOW_LONG = re.compile(r"\bhow\s+(?:much\s+)?long", _FLAGS)
_LATEST = tuple(
    re.compile(each, _FLAGS)
    for each in (
        r"\bmost\s+recent(?:ly)?\b|\blatest\b|\bnewest\b|\bthe\s+last\s+time\b",
        rf"{_DID}last\b{_NO_SPAN}{_NO_ROW}",
        r"\b(?:did|was|were|have|has)\b[^?.!]{3,60}(?<!at)\s+last(?=\s*(?:[?.!]|\Z))",
        rf"\b(?:my|our|his|her|their|\w+['’]s)\s+(?:very\s+)?last{_NO_ROW}(?=\s+[a-z])",
        rf"\bthe\s+last{_NO_ROW}\s+\w+\s+(?:(?:that|which|whom?)\s+)?(?:i|we|you|s?he|they)\b",
        r"最近一[次回]|最后一[次回]|最新|上一?[次回](?!的?话)",
    )
)
_EARLIEST = tuple(
    re.compile(each, _FLAGS)
    for each in (
        r"\bthe\s+(?:very\s+)?first\s+time\b|\bearliest\b",
        rf"{_DID}first\b{_NO_ROW}",
        r"第一[次回]|最早|最初|首次",
    )
)


class Order(StrEnum):
    """Which of several occasions is asked for."""

    LATEST = "latest"
    EARLIEST = "earliest"


def order_of(text: str, moments: Iterable[Moment] = ()) -> Order | None:
    """Return which occasion a question asks for; None: it says nothing of it.

    A word of one of its ``moments`` ("last week") is none of an order.
    """
    if _HOW_LONG.search(text):
        return None
    taken = [(each.start, each.end) for each in moments]
    for order, patterns in ((Order.LATEST, _LATEST), (Order.EARLIEST, _EARLIEST)):
        for pattern in patterns:
            for found in pattern.finditer(text):
                if all(found.end() <= start or end <= found.start() for start, end in taken):
                    return order
    return None
