"""Cuts a long text into pieces at the best seams, in linear time."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator

from memci.smallmodel.offline.sentences import sentence_spans

_BLANK_LINE = re.compile(r"\n[ \t]*\n")
_LINE = re.compile(r"\n")
_CLAUSE = re.compile(r"[,;:，；：、](?=\s|[\u3400-\u9fff])")
_SPACE = re.compile(r"\s")
# A seam in the first part of a piece would make too many small pieces.
_EARLIEST = 0.4
# Never between a character and what modifies it: accents, variation selectors, joiners, skin tones.
_JOINERS = frozenset("\u200d\ufe0e\ufe0f")
_LONGEST_CLUSTER = 16


def cut_into_pieces(text: str, longest: int) -> Iterator[str]:
    """Yield stripped pieces of at most ``longest`` characters; only white space is lost.

    Seams, best first: blank line, line, sentence, clause, word; a text without any is cut between
    characters.
    """
    start, end = 0, len(text)
    while start < end:
        while start < end and text[start].isspace():
            start += 1
        stop = end if end - start <= longest else start + _seam(text[start : start + longest + 1])
        piece = text[start:stop].rstrip()
        if piece:
            yield piece
        start = stop


def _seam(window: str) -> int:
    """Return where to cut; the window is one character longer than a piece may be."""
    longest = len(window) - 1
    finders: tuple[Callable[[str], list[int]], ...] = (
        lambda text: [match.end() for match in _BLANK_LINE.finditer(text)],
        lambda text: [match.end() for match in _LINE.finditer(text)],
        lambda text: [end for _, end in sentence_spans(text)],
        lambda text: [match.end() for match in _CLAUSE.finditer(text)],
        lambda text: [match.end() for match in _SPACE.finditer(text)],
    )
    for find in finders:
        found = [at for at in find(window) if longest * _EARLIEST <= at <= longest]
        if found:
            return found[-1]
    return _between_characters(window)


def _between_characters(window: str) -> int:
    at = len(window) - 1
    for earlier in range(at, max(at - _LONGEST_CLUSTER, 1), -1):
        if not _belongs_together(window[earlier - 1], window[earlier]):
            return earlier
    return at


def _belongs_together(before: str, after: str) -> bool:
    return (
        before == "\u200d"
        or after in _JOINERS
        or unicodedata.combining(after) > 0
        or "\U0001f3fb" <= after <= "\U0001f3ff"
    )
