"""Ways to shorten a text without memci's models, to compare the compressor with."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np

from memci.language.sentences import sentences
from memci.smallmodel.offline.index_terms import OfflineLexicon
from memci.smallmodel.ports import Embedder
from memci.smallmodel.vector_space import Vectors


def head(text: str, room: int) -> str:
    """Return the beginning of a text."""
    return text[:room]


class Centroid:
    """Keeps the sentences nearest to the mean of all vectors of sentences."""

    def __init__(self, embedder: Embedder, texts: Sequence[str]) -> None:
        """Embed the sentences of all texts that will be shortened."""
        parts = list({part for text in texts for part in sentences(text)})
        self._vectors: dict[str, Vectors] = dict(zip(parts, embedder.embed(parts), strict=True))

    def __call__(self, text: str, room: int) -> str:
        """Shorten a text."""
        parts = sentences(text)
        vectors = np.stack([self._vectors[part] for part in parts])
        return _best(parts, (vectors @ vectors.mean(axis=0)).tolist(), room)


class RareSentences:
    """Keeps the sentences with the rarest words of the collection, per character."""

    def __init__(self, collection: Sequence[str]) -> None:
        """Count in how many texts of the collection each word is."""
        self._lexicon = OfflineLexicon()
        self._texts = len(collection)
        self._counts = Counter(t for text in collection for t in set(self._lexicon.terms(text)))

    def __call__(self, text: str, room: int) -> str:
        """Shorten a text."""
        parts = sentences(text)
        return _best(parts, [self._value(part) for part in parts], room)

    def _value(self, part: str) -> float:
        terms = set(self._lexicon.terms(part))
        rarity = sum(math.log(self._texts / self._counts.get(term, 1)) for term in terms)
        return rarity / (len(part) + 1)


def _best(parts: Sequence[str], values: Sequence[float], room: int) -> str:
    """Join the best parts that fit, in their order."""
    chosen: list[int] = []
    left = room + 1
    for at in sorted(range(len(parts)), key=lambda at: -values[at]):
        if len(parts[at]) + 1 <= left:
            chosen.append(at)
            left -= len(parts[at]) + 1
    return "\n".join(parts[at] for at in sorted(chosen))
