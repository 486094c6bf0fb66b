"""The words of a question in what is in no index: found without cutting all of it into terms."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from memci.domain.context import bm25
from memci.domain.context.candidate import Candidate, Source

Terms: TypeAlias = Callable[[str], Sequence[str]]

MOST_PROBES = 48
_SHORTEST_STEM = 4


def probes_of(terms: Collection[str]) -> list[str]:
    """Return a part of every word that has one of these terms, in small letters.

    A stem may differ from its words by its end; what holds a part by chance has not the term.
    """
    return [
        each[:-1] if each.isascii() and len(each) >= _SHORTEST_STEM and each[-1] in "ei" else each
        for each in list(terms)[:MOST_PROBES]
    ]


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
        begins = map(re.escape, probes_of([each for each in question if each.isascii()]))
        self._word = re.compile(rf"(?<![^\W_])(?:{'|'.join(begins)})[^\W_]*")

    def of(self, text: str) -> list[str]:
        low = text.lower()
        words = self._terms(" ".join(filter(None, self._word.findall(low))))
        found = [each for each in words if each in self._asked and each.isascii()]
        return [*found, *(each for each in self._unspaced for _ in range(low.count(each)))]


def _mean_lengths(kept: Sequence[Candidate]) -> Mapping[Source, float]:
    lengths: dict[Source, list[int]] = {}
    for each in kept:
        lengths.setdefault(each.source, []).append(len(each.text))
    return {source: max(sum(each) / len(each), 1.0) for source, each in lengths.items()}
