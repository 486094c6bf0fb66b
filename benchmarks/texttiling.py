"""TextTiling (Hearst, 1997), on utterances instead of blocks of words."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from statistics import fmean, pstdev

from memci.smallmodel.offline.index_terms import OfflineLexicon

Bag = Counter[str]


def bags_of(texts: Sequence[str]) -> list[Bag]:
    """Count the stems of each text."""
    lexicon = OfflineLexicon()
    return [Counter(lexicon.terms(text)) for text in texts]


def texttiling(bags: Sequence[Bag], width: int, level: float) -> list[bool]:
    """Say for each text whether a segment ends after it.

    A gap's similarity is the cosine of the ``width`` texts on either side; a segment ends at a gap
    that lies deeper under its neighbouring peaks than the mean and ``level`` deviations.
    """
    gaps = range(1, len(bags))
    depths = _depths([_cosine(bags[max(0, at - width) : at], bags[at : at + width]) for at in gaps])
    if not depths:
        return [False] * len(bags)
    lowest = fmean(depths) + level * pstdev(depths)
    return [*(depth > max(lowest, 0) for depth in depths), False]


def _cosine(before: Sequence[Bag], after: Sequence[Bag]) -> float:
    one, other = Bag(), Bag()
    for bags, total in ((before, one), (after, other)):
        for bag in bags:
            total.update(bag)
    lengths = math.hypot(*one.values()) * math.hypot(*other.values())
    # Each side is the mean of its texts; their scale cancels out.
    return sum(one[term] * other[term] for term in one) / lengths if lengths else 0.0


def _depths(similarities: Sequence[float]) -> list[float]:
    """How far each gap lies under the peaks to its left and right, where it is a local minimum."""
    depths = []
    for at, here in enumerate(similarities):
        left = _peak(reversed(similarities[:at]), here)
        right = _peak(similarities[at + 1 :], here)
        lower = [similarities[each] for each in (at - 1, at + 1) if 0 <= each < len(similarities)]
        depths.append(0.0 if any(each < here for each in lower) else left + right - 2 * here)
    return depths


def _peak(similarities: Iterable[float], here: float) -> float:
    peak = here
    for each in similarities:
        if each < peak:
            break
        peak = each
    return peak
