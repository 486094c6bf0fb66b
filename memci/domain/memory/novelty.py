"""How much a message tells that its session did not say just before (R2)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import TypeAlias

# A word, or two neighbours: "Tom called Ann" and "Ann called Tom" have the same words.
Detail: TypeAlias = tuple[str, ...]


def details_of(words: Sequence[str]) -> frozenset[Detail]:
    """Return the words of a text and its pairs of neighbouring words."""
    return frozenset([*((word,) for word in words), *pairwise(words)])


def information(details: Collection[Detail], known: Collection[Detail], likeness: float) -> float:
    """Return how much is new in a text, 0 (nothing) to 1.

    ``known`` are the details of what was said before, ``likeness`` is the greatest cosine of the
    text with a piece of it. Each new name, number, word or order of words halves what speaks for a
    repetition, so that "at five" is not taken for a repetition of "at six".
    """
    new = sum(detail not in known for detail in details)
    return 1.0 - min(max(likeness, 0.0), 1.0) * 0.5**new
