"""How much of a message list a provider's prompt cache can reuse (R16).

Receipts keep no text: a list is remembered as hash and length of each of its pieces, so the
answer is exact to a piece and never too long.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from itertools import takewhile
from typing import NamedTuple


class Piece(NamedTuple):
    """SHA-256 of a piece of a message list, in hex, and its length in bytes of UTF-8."""

    digest: str
    length: int


def pieces(texts: Iterable[tuple[str, str]]) -> list[Piece]:
    """Return the pieces of a list given as (where it stands, text) in order.

    Two pieces are the same only when both agree: the same words in another role are not.
    """
    found = []
    for place, text in texts:
        written = text.encode()
        digest = hashlib.sha256(place.encode() + b"\x00" + written).hexdigest()
        found.append(Piece(digest, len(written)))
    return found


def stable_prefix(before: Sequence[Piece], now: Sequence[Piece]) -> int:
    """Bytes of text at the start of ``now`` that ``before`` started with too."""
    same = takewhile(lambda pair: pair[0] == pair[1], zip(before, now, strict=False))
    return sum(piece.length for _, piece in same)
