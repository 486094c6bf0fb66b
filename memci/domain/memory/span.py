"""Where in its messages a memory's text lies, so that it can be cut out of them again (M24).

Counted in characters that are not blank: segments keep these alone, and in order (M3).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple


class Span(NamedTuple):
    """So many characters from ``start`` of the first message on, blanks not counted."""

    start: int
    length: int


def spans(texts: Mapping[int, str], segments: Iterable[tuple[Sequence[int], str]]) -> list[Span]:
    """Return where each segment (seqs, text) lies in the messages, whose texts are by seq.

    The segments follow each other and together hold all the messages' text.
    """
    begins: dict[int, int] = {}
    length = 0
    for seq, text in texts.items():
        begins[seq] = length
        length += _length(text)
    found = []
    at = 0
    for seqs, text in segments:
        found.append(Span(at - begins[seqs[0]], _length(text)))
        at += found[-1].length
    return found


def cut_out(texts: Iterable[str], span: Span) -> list[str]:
    """Return what of each text lies in the span; blanks at the seams are lost."""
    skip, left = span
    parts = []
    for text in texts:
        first, last = _reach(text, skip), _reach(text, skip + left)
        part = text[first:last].strip()
        parts.append(part)
        left -= _length(part)
        skip = max(0, skip - _length(text))
    return parts


def _length(text: str) -> int:
    return len("".join(text.split()))


def _reach(text: str, count: int) -> int:
    """Return the place behind the first ``count`` characters that are not blank."""
    if not count:
        return 0
    for place, each in enumerate(text):
        count -= not each.isspace()
        if not count:
            return place + 1
    return len(text)
