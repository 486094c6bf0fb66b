"""The one word that is left of a text when nothing else has room."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from enum import IntEnum

from memci.smallmodel.offline.candidates import Candidate
from memci.smallmodel.offline.doers import lacks_doer
from memci.smallmodel.offline.moments import tells_only_when
from memci.smallmodel.offline.units import HAN, JOINS, units_of
from memci.smallmodel.offline.weights import Word

_WORD = re.compile(r"[^\W_]+(?:[-'’.][^\W_]+)*")
# Numbers and addresses: a word out of one says nothing.
_UNDIVIDED = re.compile(r"[\d/\\@]")


class _Kind(IntEnum):
    """What may be left, best first."""

    NAMED = 0
    JOINED = 1  # of whom it tells together with others
    INSIDE = 2  # a part of a name
    VERB = 3
    DENIAL = 4
    WHEN = 5  # a date, "yesterday" without one, or a number of nothing that is named


def shortest(candidates: Sequence[Candidate], text: str, target: int) -> str:
    """Return the atom or word that tells most and fits whole, behind its label if that fits too.

    Of a clause that denies it is one before its negation, or else the negation alone. When none
    fits it is the first word, cut: but "…" for a number, of which a part is another number.
    """
    fitting = [
        (kind, each.clause.label, word)
        for each in candidates
        for kind, word in _words_of(each)
        if len(word.text) <= target
    ]
    labelled = [
        (kind, label, word)
        for kind, label, word in fitting
        if label and kind is _Kind.NAMED and len(label) + len(word.text) <= target
    ]
    if labelled:
        _, label, word = max(labelled, key=lambda each: _says_most(each[2]))
        return label + word.text
    if fitting:
        best = min(kind for kind, _, _ in fitting)
        return max((word for kind, _, word in fitting if kind is best), key=_says_most).text
    match = _WORD.search(text)
    start, end = match.span() if match else (0, len(text))
    # With the two characters behind it, which show an address: "https:/", "ada@".
    return "…" if match and _UNDIVIDED.search(text, start, end + 2) else text[start:end][:target]


def _words_of(candidate: Candidate) -> Iterator[tuple[_Kind, Word]]:
    units = units_of(candidate.clause.text, candidate.words)
    first = next((at for at, word in enumerate(units) if word.negation), len(units))
    for at, unit in enumerate(units[:first]):
        if tells_only_when(unit.text):
            yield _Kind.WHEN, unit
        elif lacks_doer(units, at):
            yield _Kind.VERB, unit
        else:
            yield (_Kind.JOINED if _has_company(units, at) else _Kind.NAMED), unit
    for unit in units[first : first + 1]:
        yield _Kind.DENIAL, unit
    named = [unit for unit in units[:first] if not _UNDIVIDED.search(unit.text)]
    for word in candidate.words:
        if any(unit.start <= word.start < unit.end for unit in named):
            yield (_Kind.WHEN if tells_only_when(word.text) else _Kind.INSIDE), word


def _has_company(units: Sequence[Word], at: int) -> bool:
    """Say whether a conjunction joins a word with another that it would stand without."""
    return any(each.key in JOINS for each in (*units[max(0, at - 1) : at], *units[at + 1 : at + 2]))


def _says_most(word: Word) -> tuple[bool, float, int]:
    """Of Chinese words one of a single character says least: mostly it is a part of something."""
    whole = len(word.text) > 1 or not HAN.search(word.text)
    return whole, word.weight, len(word.text)
