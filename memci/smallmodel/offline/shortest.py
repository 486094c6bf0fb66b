"""The one word that is left of a text when nothing else has room."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from memci.smallmodel.offline.candidates import Candidate
from memci.smallmodel.offline.doers import is_finite
from memci.smallmodel.offline.units import HAN, JOINS, units_of
from memci.smallmodel.offline.weights import Word

_WORD = re.compile(r"[^\W_]+(?:[-'’.][^\W_]+)*")
# Numbers and addresses: a word out of one says nothing.
_UNDIVIDED = re.compile(r"[\d/\\@]")


def shortest(candidates: Iterable[Candidate], text: str, target: int) -> str:
    """Return the atom or word that tells most and fits whole.

    Of a clause that denies it is one before its negation, or else the negation alone. When none
    fits it is the first word, cut: but "…" for a number, of which a part is another number.
    """
    found: list[Word] = []
    negations: list[Word] = []
    inside: list[Word] = []
    joined: list[Word] = []  # of whom it tells together with others
    verbs: list[Word] = []
    for each in candidates:
        units = units_of(each.clause.text, each.words)
        first = next((at for at, word in enumerate(units) if word.negation), len(units))
        for at, unit in enumerate(units[:first]):
            if is_finite(unit):
                verbs.append(unit)
            else:
                (joined if _has_company(units, at) else found).append(unit)
        negations += units[first : first + 1]
        named = [unit for unit in units[:first] if not _UNDIVIDED.search(unit.text)]
        inside += (
            word
            for word in each.words
            if any(unit.start <= word.start < unit.end for unit in named)
        )
    for kind in (found, joined, inside, verbs, negations):
        fitting = [word for word in kind if len(word.text) <= target]
        if fitting:
            return max(fitting, key=_says_most).text
    match = _WORD.search(text)
    start, end = match.span() if match else (0, len(text))
    # With the two characters behind it, which show an address: "https:/", "ada@".
    return "…" if match and _UNDIVIDED.search(text, start, end + 2) else text[start:end][:target]


def _has_company(units: Sequence[Word], at: int) -> bool:
    """Say whether a conjunction joins a word with another that it would stand without."""
    return any(each.key in JOINS for each in (*units[max(0, at - 1) : at], *units[at + 1 : at + 2]))


def _says_most(word: Word) -> tuple[bool, float, int]:
    """Of Chinese words one of a single character says least: mostly it is a part of something."""
    whole = len(word.text) > 1 or not HAN.search(word.text)
    return whole, word.weight, len(word.text)
