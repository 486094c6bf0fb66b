"""The words of a question in what is in no index: found without cutting all of it into terms."""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from memci.domain.context import bm25
from memci.domain.context.candidate import Candidate, Source

Terms: TypeAlias = Callable[[str], Sequence[str]]

MOST_PROBES = 48
MOST_CHARACTERS = 20_000  # so much of a text is looked at
_LONGEST_SHORT = 3
_INTEGER_WITH_THOUSANDS = re.compile(r"(\d{4,})(\.\d+)?")
# Scripts that are written with spaces: words of the others end where these begin.
_SPACED = "0-9a-z\u00aa-\u0dff"


def folded(text: str) -> str:
    """Return what is looked at of a text as terms have it: NFKC, in small letters."""
    begin = text[:MOST_CHARACTERS]
    return (begin if begin.isascii() else unicodedata.normalize("NFKC", begin)).lower()


def probes_of(terms: Collection[str]) -> list[str]:
    """Return parts of words, one of which is in every word that has one of these terms.

    As ``folded`` has the words. A stem may differ from its words by its end; what holds a part by
    chance has not the term.
    """
    probes = itertools.chain.from_iterable(map(_begins, terms))
    return list(dict.fromkeys(itertools.islice(probes, MOST_PROBES)))


def _begins(term: str) -> tuple[str, ...]:
    """Return what words of this term begin with: dri (dry, dried), reliabl (reliability)."""
    if number := _INTEGER_WITH_THOUSANDS.fullmatch(term):
        return term, f"{int(number[1]):,}{number[2] or ''}"
    if not (term.isascii() and term.isalpha()) or len(term) < _LONGEST_SHORT:
        return (term,)
    if len(term) == _LONGEST_SHORT:
        return term, *_other_forms(term)
    return (term[:-1] if term[-1] in "eiy" or term.endswith("bl") else term,)


def _other_forms(short: str) -> Iterator[str]:
    """Yield how other words of a stem begin that is too short to be cut: that is in most texts."""
    if short.endswith("ie"):
        yield f"{short[:-2]}y"  # lie, lying
    elif short[-1] in "iy":
        yield from (f"{short[:-1]}{end}" for end in ("y", "ie") if not short.endswith(end))
    elif short.endswith("e"):
        yield f"{short[:-1]}i"  # use, using


def scored(
    kept: Sequence[Candidate],
    question: Sequence[str],
    terms: Terms,
    known: bm25.Collected | None,
) -> list[Candidate]:
    """Return those that hold terms of a question, with their scores, as messages are scored.

    ``terms`` cuts a text into terms; ``known``: statistics of the messages, if these are searched.
    Lengths are compared with those of the same source, in characters: a summary is longer than a
    message, and means no less for it.
    """
    held = _Held(question, terms)
    found = {(each.source, each.key): held.of(each.text) for each in kept}
    means = _mean_lengths(kept)
    known = known or bm25.collected_of(list(found.values()))
    asked = bm25.scored_terms(question, known)
    scores = (
        bm25.score(
            found[each.source, each.key],
            asked,
            replace(known, mean_length=means[each.source]),
            length=len(each.text),
        )
        for each in kept
    )
    return [
        each._replace(lexical=(1 + bm25.OWN) * score)
        for each, score in zip(kept, scores, strict=True)
        if score > 0
    ]


class _Held:
    """Which terms of a question texts hold, as often as they do."""

    def __init__(self, question: Sequence[str], terms: Terms) -> None:
        self._terms = terms
        self._asked = frozenset(question)
        self._unspaced = [each for each in question if not each.isascii()]
        begins = probes_of([each for each in question if each.isascii()])
        any_begin = "|".join(map(re.escape, begins))
        words = rf"(?<![{_SPACED}])(?:{any_begin})[{_SPACED}]*(?:[.,]\d+)*"
        self._word = re.compile(words) if begins else None

    def of(self, text: str) -> list[str]:
        low = folded(text)
        found = self._worded(low, self._word) if self._word else []
        return [*found, *(each for each in self._unspaced for _ in range(low.count(each)))]

    def _worded(self, low: str, word: re.Pattern[str]) -> list[str]:
        words = self._terms(" ".join(word.findall(low)))
        return [each for each in words if each in self._asked and each.isascii()]


def _mean_lengths(kept: Sequence[Candidate]) -> Mapping[Source, float]:
    lengths: dict[Source, list[int]] = {}
    for each in kept:
        lengths.setdefault(each.source, []).append(len(each.text))
    return {source: max(sum(each) / len(each), 1.0) for source, each in lengths.items()}
