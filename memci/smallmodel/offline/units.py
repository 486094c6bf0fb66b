"""A clause's words as units that nothing may cut, and where its phrases end."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from memci.smallmodel.offline import chinese
from memci.smallmodel.offline.atoms import atoms
from memci.smallmodel.offline.weights import Word

MARK = re.compile(r"[,;:.!?，；：。！？…—\n]")
# What begins a name, which jieba takes for a word of its own.
_NAME_PREFIXES = frozenset("小老阿第")
# Times, adverbs, prepositions, conjunctions and pronouns, by jieba's tags.
_LEADS_ON = ("t", "d", "p", "c", "r", "f")
HAN = re.compile(r"[\u3400-\u9fff]")
# What joins two halves of one thing, and what shows that a phrase goes on.
JOINS = frozenset(
    ("and", "or", "nor", "plus", "和", "与", "跟", "及", "或", "以及", "同", "还有", "并")
)
_GOES_ON = frozenset(
    (
        "of",
        "the",
        "a",
        "an",
        "my",
        "our",
        "your",
        "his",
        "her",
        "their",
        "its",
        "this",
        "that",
        "these",
        "those",
        "to",
        "as",
        "than",
        "的",
        "地",
        "得",
        "了",
        "着",
        "过",
        "是",
        "在",
        "到",
        "给",
        "向",
        "往",
        "于",
    )
)


def units_of(text: str, words: Sequence[Word]) -> list[Word]:
    """Return the words, those of one atom as one."""
    spans = iter(atoms(text))
    start, end = next(spans, (len(text), len(text)))
    units: list[Word] = []
    for word in words:
        while end <= word.start:
            start, end = next(spans, (len(text), len(text)))
            if start >= len(text):
                break
        left, right = word.start, word.end
        weight, negation = word.weight, word.negation
        if start < word.end and word.start < end:
            left, right = min(left, start), max(right, end)
        if units and left < units[-1].end:
            before = units.pop()
            left, right = before.start, max(right, before.end)
            weight, negation = before.weight + weight, before.negation or negation
        units.append(Word(text[left:right], left, right, weight, negation))
    return units


def ends_of(text: str, words: Sequence[Word]) -> list[bool]:
    """For each word, whether a phrase may end with it."""
    ends = [
        bool(MARK.search(text, word.end, after.start))
        # A note can be left out, and so can the day on which it is told.
        or after.text.startswith(("(", "（"))
        or after.key in {"today", "tonight"}
        or (
            (after.weight <= 0 or _may_end(word.text))
            and after.key not in _GOES_ON
            and not is_joined(text, word, after)
        )
        for word, after in pairwise(words)
    ]
    return [*ends, True]


def _may_end(word: str) -> bool:
    """Say whether a Chinese phrase may end with a word: not with when, how or what leads on."""
    return bool(HAN.search(word)) and not chinese.tag(word).startswith(_LEADS_ON)


def is_joined(text: str, before: Word, after: Word) -> bool:
    """Say whether two neighbours are, or lead to, halves of one thing."""
    between = text[before.end : after.start]
    if "、" in between or "&" in between or "/" in between:
        return True
    if not between and before.key in _NAME_PREFIXES:
        return True
    return not MARK.search(between) and (before.key in JOINS or after.key in JOINS)
