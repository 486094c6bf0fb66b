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
    """Return for each text whether a segment ends after it.

    The similarity of a gap is the cosine of the ``width`` texts on either side. A segment ends at
    a gap whose depth below its neighbouring peaks exceeds the mean plus ``level`` deviations.
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
    """The depth of each gap below the peaks to its left and right, if it is a local minimum."""
    depths = []
    for at, value in enumerate(similarities):
        left = _peak(reversed(similarities[:at]), value)
        right = _peak(similarities[at + 1 :], value)
        lower = [similarities[each] for each in (at - 1, at + 1) if 0 <= each < len(similarities)]
        depths.append(0.0 if any(each < value for each in lower) else left + right - 2 * value)
    return depths


def _peak(similarities: Iterable[float], value: float) -> float:
    peak = value
    for each in similarities:
        if each < peak:
            break
        peak = each
    return peak
