"""BM25, as the database scores the index and as we score what is not indexed yet (R10b)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

K1 = 1.2
B = 0.75
# A long text as a question is asked for its rarest terms only: the common ones cost most and
# say least.
MAX_QUESTION_TERMS = 512
MAX_SCORED_TERMS = 64


@dataclass(frozen=True, slots=True)
class Collected:
    """Statistics of an index: texts in it, their mean length in terms, and texts per term."""

    texts: float
    mean_length: float
    frequency: Mapping[str, float]


def question_terms(terms: Sequence[str]) -> list[str]:
    """Return distinct terms in their order, at most ``MAX_QUESTION_TERMS``."""
    return list(dict.fromkeys(terms))[:MAX_QUESTION_TERMS]


def scored_terms(terms: Collection[str], collected: Collected) -> frozenset[str]:
    """Return the rarest terms, at most ``MAX_SCORED_TERMS``; those nowhere in the index first."""
    rarest = sorted(terms, key=lambda term: (collected.frequency.get(term, 0.0), term))
    return frozenset(rarest[:MAX_SCORED_TERMS])


def score(text: Sequence[str], question: Collection[str], collected: Collected) -> float:
    """Score the terms of a text for distinct question terms; 0 when they share none."""
    counted = Counter(term for term in text if term in question)
    norm = K1 * (1 - B + B * len(text) / collected.mean_length)
    return sum(
        _rarity(term, collected) * times * (K1 + 1) / (times + norm)
        for term, times in counted.items()
    )


def _rarity(term: str, collected: Collected) -> float:
    known = min(collected.frequency.get(term, 0.0), collected.texts)
    return math.log(1 + (collected.texts - known + 0.5) / (known + 0.5))
