"""Passages of long messages: what lies beyond the words that a message's own vector covers (E6).

A vector of 512 tokens serves a message better than vectors of its parts, so it stays. Passages only
add to it: a long answer is found by what it says at its end, and quoted there.
"""

import math
import re
from collections.abc import Iterator
from typing import NamedTuple

from memci.language.sentences import sentence_spans

# Tokens that a message's vector covers, and of a passage: estimated, each embedder has its own.
_COVERED = 500.0
_LONGEST = 270.0
# What follows them is found by its words alone.
MOST_PASSAGES = 16
_READ = 40_000  # characters, more than the passages can hold
# Tokens of a character: of Han and kana, which begin here, of signs and digits, of other letters.
_HAN, _SIGN, _LETTER = 0.7, 0.6, 0.25
_FIRST_HAN = "\u2e80"
_SIGNS = re.compile(r"[!-@\[-`{-~]+")


class Passage(NamedTuple):
    """Characters from ``start`` to ``stop`` (excluded) of a text."""

    start: int
    stop: int

    def after(self, name: str | None) -> "Passage":
        """Return a passage of a searched text as one of the text after the speaker's name."""
        begun = len(f"{name}: ") if name else 0
        return Passage(max(self.start - begun, 0), self.stop - begun)


def passages_of(text: str) -> list[Passage]:
    """Return the passages of a text, in order; a text that its vector covers has none."""
    read = text[:_READ]
    if len(read) * _HAN <= _COVERED or _tokens(read) <= _COVERED:
        return []
    groups: list[list[Passage]] = []
    covered = tokens = 0.0
    for piece in _pieces(read):
        own = _tokens(read[slice(*piece)])
        covered += own
        if covered <= _COVERED:
            continue
        if not groups or tokens + own > _LONGEST:
            groups.append([])
            tokens = 0.0
        groups[-1].append(piece)
        tokens += own
    return [Passage(each[0].start, each[-1].stop) for each in groups[:MOST_PASSAGES]]


def _pieces(text: str) -> Iterator[Passage]:
    """Yield the sentences, cut where one alone is too long."""
    for start, stop in sentence_spans(text):
        parts = math.ceil(_tokens(text[start:stop]) / _LONGEST)
        size = math.ceil((stop - start) / max(parts, 1))
        for begin in range(start, stop, size):
            yield Passage(begin, min(begin + size, stop))


def _tokens(text: str) -> float:
    signs = sum(map(len, _SIGNS.findall(text)))
    han = 0 if text.isascii() else sum(letter >= _FIRST_HAN for letter in text)
    return _HAN * han + _SIGN * signs + _LETTER * (len(text) - han - signs)
