"""The intent of a question: kind of answer, number of hits, first or latest occasion (R6, R10).

Also whether it asks about the present, and whether it contains hardly anything beside a time ("What
did I do last week?"): such a question asks for everything of that time.
"""

import re
from collections.abc import Collection, Iterable
from enum import StrEnum

from memci.language.detection import Language
from memci.language.loading import TaskData
from memci.language.times.ranges import TimeExpression, mask_times


class AnswerKind(StrEnum):
    """Kinds of answers."""

    WHEN = "when"
    WHO = "who"
    WHERE = "where"
    HOW_MANY = "how_many"
    OTHER = "other"


_DATA = TaskData("question")


_KINDS = tuple(
    (kind, _DATA.pattern(kind.value, language))
    for language in Language
    for kind in AnswerKind
    if kind is not AnswerKind.OTHER
)


def answer_kind(text: str) -> AnswerKind:
    """Return the kind of answer to the first question in a text."""
    found = [
        (match.start(), -match.end(), kind)
        for kind, pattern in _KINDS
        if (match := pattern.search(text))
    ]
    return min(found, default=(0, 0, AnswerKind.OTHER))[2]


# The signs that a question needs several memories, with weights. The complexity is 1 minus the
# product of 1 - weight, so it never exceeds 1.
_SIGN_WEIGHTS = {"several": 0.65, "compared": 0.6, "in_order": 0.4, "open": 0.35, "joined": 0.2}
_SIGNS = {name: _DATA.pattern(name) for name in _SIGN_WEIGHTS}
_ANOTHER_NAME = 0.15
_ANOTHER_TIME = 0.2
_ANOTHER_PART = 0.45
_LENGTH = 0.3
# Characters of a long question; a Han character counts more than a letter.
_LONG, _HAN_WEIGHT = 400, 3
_HAN = re.compile(r"[\u3400-\u9fff]")


def complexity_of(text: str, *, names: int, times: int, parts: int, whole: bool = False) -> float:
    """Return the complexity, 0 to nearly 1, by length, words and number of names.

    ``whole``: the question asks for everything of a time.
    """
    length = len(text) + (_HAN_WEIGHT - 1) * len(_HAN.findall(text))
    simple = 1 - _LENGTH * min(1.0, length / _LONG)
    for name, pattern in _SIGNS.items():
        if (whole and name == "several") or pattern.search(text):
            simple *= 1 - _SIGN_WEIGHTS[name]
    for weight, count in ((_ANOTHER_NAME, names), (_ANOTHER_TIME, times), (_ANOTHER_PART, parts)):
        simple *= (1 - weight) ** max(0, min(count, 4) - 1)
    return 1 - simple


class Order(StrEnum):
    """The occasion that a question asks for, of several."""

    LATEST = "latest"
    EARLIEST = "earliest"


_FLAGS = re.IGNORECASE | re.ASCII
_NEITHER = _DATA.pattern("neither", flags=_FLAGS)
_ORDERS = {order: _DATA.patterns(order.value, flags=_FLAGS) for order in Order}


def order_of(text: str, expressions: Iterable[TimeExpression] = ()) -> Order | None:
    """Return the occasion that a question asks for; None for neither or both.

    Words inside ``expressions`` ("last week") do not count.
    """
    if _NEITHER.search(text):
        return None
    excluded = [(each.start, each.end) for each in expressions]
    asked = [
        order
        for order, patterns in _ORDERS.items()
        if any(_matches_outside(pattern, text, excluded) for pattern in patterns)
    ]
    return asked[0] if len(asked) == 1 else None


def _matches_outside(
    pattern: re.Pattern[str], text: str, excluded: Iterable[tuple[int, int]]
) -> bool:
    return any(
        all(found.end() <= start or end <= found.start() for start, end in excluded)
        for found in pattern.finditer(text)
    )


_NOW, _PRESENT, _PAST = (_DATA.pattern(name) for name in ("now", "present", "past"))
_SENTENCE_END = re.compile(r"[.!?。！？]\s*(?=\S)")


def asks_about_present(text: str) -> bool:
    """Return True if the last sentence is in the present tense, or a word says "now".

    True for "Which town do I live in, since I moved in March?"; False for "Where did I live in
    March?" and 我三月住在哪里？.
    """
    if _NOW.search(text):
        return True
    last = _SENTENCE_END.split(text)[-1]
    return bool(_PRESENT.search(last)) and not _PAST.search(last)


_COMMON_WORDS = _DATA.words("common_words")
_COMMON_PHRASES = _DATA.pattern("common_phrases")
_WORD = re.compile(r"[^\W_]+")


def names_only_times(
    text: str, expressions: Iterable[TimeExpression], names: Collection[str] = ()
) -> bool:
    """Return True if a question contains only times, common words and ``names`` of speakers."""
    left = mask_times(text, expressions).casefold()
    named = {word for name in names for word in _WORD.findall(name.casefold())}
    for name in named:
        left = left if name.isascii() else left.replace(name, " ")
    known = _COMMON_WORDS | named
    return all(word in known for word in _WORD.findall(_COMMON_PHRASES.sub(" ", left)))
