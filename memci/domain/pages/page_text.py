"""Search words in pages, and parts of long texts (P4)."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import NamedTuple

from memci.domain.context.token_budget import Count
from memci.domain.pages.page import Page
from memci.errors import InvalidInputError

# A run of Chinese characters is searched as a whole and by pairs, for it has no spaces.
_RUN = re.compile(r"[\u3400-\u9fff]+|[^\W_]+")
_CHINESE = re.compile(r"[\u3400-\u9fff]")
_SHORTEST_PLURAL = 4
_MOST_WORDS = 64


def query_words(query: str) -> list[str]:
    """Return the distinct words to search, in lower case."""
    words: dict[str, None] = {}
    for run in _RUN.findall(query.lower()):
        for word in _pairs(run) if _CHINESE.match(run) else [_singular(run)]:
            words.setdefault(word)
    return list(words)[:_MOST_WORDS]


def match_score(page: Page, words: Sequence[str], within: Collection[str] = ()) -> int:
    """Return the number of words found in a page; words in its name count twice.

    ``within``: the words that its own text contains.
    """
    name = page.name.lower()
    rest = " ".join([page.description, *page.entries]).lower()
    return sum(2 * (word in name) + (word in rest or word in within) for word in words)


def words_in_text(text: str, words: Sequence[str]) -> list[str]:
    """Return the words that a text contains."""
    lower = text.lower()
    return [word for word in words if word in lower]


def _pairs(run: str) -> list[str]:
    return [run, *(run[at : at + 2] for at in range(len(run) - 1))]


def _singular(word: str) -> str:
    is_plural = len(word) >= _SHORTEST_PLURAL and word.endswith("s") and not word.endswith("ss")
    return word[:-1] if is_plural else word


# Tokens of a part.
MOST_TOKENS = 4_000
# Characters; longer parts are cut before counting: a token seldom has more than eight.
_LONGEST = 16 * MOST_TOKENS
# A part ends with a line or a word if that loses no more than this share of it.
_GIVEN_UP = 0.1


class TextPart(NamedTuple):
    """A part of a text, and the offset of the next one in characters; None: it is the last."""

    text: str
    next_offset: int | None


def text_part(text: str, offset: int, count: Count) -> TextPart:
    """Return at most ``MOST_TOKENS`` of a text from an offset on; raises as ``text_from``."""
    rest = text_from(text, offset)
    part = rest[:_LONGEST]
    while len(part) > 1 and (tokens := count(part)) > MOST_TOKENS:
        part = part[: max(1, min(len(part) * MOST_TOKENS // tokens, len(part) - 1))]
    if len(part) == len(rest):
        return TextPart(part, None)
    part = part[: _seam(part)]
    return TextPart(part, offset + len(part))


def text_from(text: str, offset: int) -> str:
    """Return a text from an offset on; raises ``InvalidInputError`` beyond the end."""
    if offset and offset >= len(text):
        raise InvalidInputError(f"the text ends before that, at offset {len(text)}", field="offset")
    return text[offset:]


def _seam(part: str) -> int:
    """Return the length up to the last end of a line or a word, if that is near the end."""
    nearest = int(len(part) * (1 - _GIVEN_UP))
    for end in ("\n", " "):
        at = part.rfind(end, nearest)
        if at >= 0:
            return at + 1
    return len(part)
