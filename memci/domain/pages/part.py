"""A long text in parts that a model can read one after the other (P4)."""

from __future__ import annotations

from typing import NamedTuple

from memci.domain.context.budget import Count
from memci.errors import InvalidInputError

# Tokens of a part.
MOST_TOKENS = 4_000
# More characters than these are not counted: a token has about four, seldom more than eight.
_LONGEST = 16 * MOST_TOKENS
# A part ends with a line, or else between words, if no more than this share is lost by that.
_GIVEN_UP = 0.1


class Part(NamedTuple):
    """A part of a text, and the offset at which the next one begins, in characters.

    None: there is no more.
    """

    text: str
    next_offset: int | None


def part_of(text: str, offset: int, count: Count) -> Part:
    """Return what begins at an offset, at most ``MOST_TOKENS`` of it.

    Raises ``InvalidInputError`` for an offset behind the end.
    """
    rest = rest_of(text, offset)
    part = rest[:_LONGEST]
    while len(part) > 1 and (tokens := count(part)) > MOST_TOKENS:
        part = part[: max(1, min(len(part) * MOST_TOKENS // tokens, len(part) - 1))]
    if len(part) == len(rest):
        return Part(part, None)
    part = part[: _seam(part)]
    return Part(part, offset + len(part))


def rest_of(text: str, offset: int) -> str:
    """Return a text from an offset on; ``InvalidInputError`` for one behind the end."""
    if offset and offset >= len(text):
        raise InvalidInputError(f"the text ends before that, at offset {len(text)}", field="offset")
    return text[offset:]


def _seam(part: str) -> int:
    """Return the length up to the last end of a line, or of a word, if that is near."""
    nearest = int(len(part) * (1 - _GIVEN_UP))
    for end in ("\n", " "):
        at = part.rfind(end, nearest)
        if at >= 0:
            return at + 1
    return len(part)
