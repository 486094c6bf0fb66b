"""Whether a question asks for the latest of several occasions, or for the earliest (R10)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import StrEnum

from memci.domain.context.query.moment import Moment

_FLAGS = re.IGNORECASE | re.ASCII
_WHO = r"(?:i|we|you|s?he|they|it)"
# An adverb stands some words behind its verb, "when did I last see Ann", and behind no preposition:
# "did it hurt since last season?" Without a word that asks it is a verb: "did the snow last?"
_DID = (
    r"\b(?:when|where|what|which|who|whom|how|why)\b[^?.!]{0,60}?"
    r"\b(?:did|was|were|have|has|had)\s+"
    r"(?:(?!(?:last|first|long|from|in|during|at|since|until|till|by|on|for)\b)[\w'’]+\s+){1,6}?"
)
# What there is one of, or what has a place in a row.
_NO_ROW = (
    r"(?!\s+(?:names?|chapters?|pages?|words?|lines?|minutes?|straw|resort|place|one|of|floor|aid"
    r"|class|language|edition|cousins?|prize|thing|amendment|supper|laugh|will|digits|day"
    r"|two|three|four|five|\d+)\b|\s+but\b|\s*[-‑])"
)
_NO_SPAN = r"(?!\s+(?:for|until|till|long|longer|season|semester|term)\b|\s+\d)"
_ENDS = r"(?=\s*(?:[?.!]|\Z))"


def _compiled(*patterns: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(each, _FLAGS) for each in patterns)


_LATEST = _compiled(
    r"\bmost\s+recent(?:ly)?\b|\blatest\b|\bnewest\b|\bthe\s+last\s+time\b",
    rf"{_DID}last\b{_NO_SPAN}{_NO_ROW}",
    rf"\b(?:when|since|last\s+time)\s+{_WHO}\s+last\b{_NO_SPAN}{_NO_ROW}",
    rf"\blast\s+time\s+{_WHO}\b",
    rf"\b(?:when|where|what|which|who)\b[^?.!]{{3,60}}(?<!at)(?<!long)\s+last{_ENDS}",
    rf"\b(?:my|our|his|her|their|\w+['’]s)\s+(?:very\s+)?last{_NO_ROW}(?=\s+[a-z])",
    rf"\bthe\s+last{_NO_ROW}\s+\w+\s+(?:(?:that|which|whom?)\s+)?{_WHO}\b",
    r"最近的?一[次回趟场顿届]|最后一[次回趟]|最新|(?<![晚早子])上一?[次回](?![要序]|的?话)",
)
_EARLIEST = _compiled(
    r"\bthe\s+(?:very\s+)?first\s+time\b|\bearliest\b",
    rf"{_DID}first\b{_NO_ROW}",
    rf"\b(?:my|our|his|her|their|\w+['’]s)\s+(?:very\s+)?first{_NO_ROW}(?=\s+[a-z])",
    rf"\b(?:when|since)\s+{_WHO}\s+first\b{_NO_ROW}",
    r"[第头]一[次回](?!世界|工业)|初次|首次|最初(?!级)|最早(?!的?(?:航班|一班)|[^，。？]{0,4}[几能])",
)
# How long something took, what may come yet, and another than the last one.
_NEITHER = re.compile(
    r"\bhow\s+(?:much\s+)?long\w*\b(?!\s+(?:ago|since|(?:has\s+it|is\s+it))\b)"
    rf"|\bat\s+the\s+(?:latest|earliest)\b|\b(?:can|may|will|shall|must)\s+{_WHO}\b"
    rf"|\b(?:earliest|latest)\s+{_WHO}\s+can\b"
    r"|\b(?:second|third|next)[\s-]+to[\s-]+(?:the\s+)?last\b|\blast\s+but\s+one\b"
    r"|\btime\s+before\b|倒数",
    _FLAGS,
)


class Order(StrEnum):
    """Which of several occasions is asked for."""

    LATEST = "latest"
    EARLIEST = "earliest"


def order_of(text: str, moments: Iterable[Moment] = ()) -> Order | None:
    """Return which occasion a question asks for; None: of none, or of more than one.

    A word of one of its ``moments`` ("last week") is none of an order.
    """
    if _NEITHER.search(text):
        return None
    taken = [(each.start, each.end) for each in moments]
    asked = [
        order
        for order, patterns in ((Order.LATEST, _LATEST), (Order.EARLIEST, _EARLIEST))
        if any(_stands(pattern, text, taken) for pattern in patterns)
    ]
    return asked[0] if len(asked) == 1 else None


def _stands(pattern: re.Pattern[str], text: str, taken: Iterable[tuple[int, int]]) -> bool:
    return any(
        all(found.end() <= start or end <= found.start() for start, end in taken)
        for found in pattern.finditer(text)
    )
