"""Which pages speak of something: by the words of their names, summaries and notes (P4)."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from memci.domain.pages.page import Page

# A run of Chinese characters is looked for as a whole and by its pairs, for it has no spaces.
_RUN = re.compile(r"[\u3400-\u9fff]+|[^\W_]+")
_CHINESE = re.compile(r"[\u3400-\u9fff]")
_SHORTEST_PLURAL = 4
_MOST_WORDS = 64


def words_of(query: str) -> list[str]:
    """Return the words to look for, in lower case, each once."""
    words: dict[str, None] = {}
    for run in _RUN.findall(query.lower()):
        for word in _pairs(run) if _CHINESE.match(run) else [_singular(run)]:
            words.setdefault(word)
    return list(words)[:_MOST_WORDS]


def score(page: Page, words: Sequence[str], within: Collection[str] = ()) -> int:
    """Return how well a page fits: words in its name count twice; 0: not at all.

    ``within``: those of the words that are in its own text.
    """
    name = page.name.lower()
    rest = " ".join([page.description, *page.entries]).lower()
    return sum(2 * (word in name) + (word in rest or word in within) for word in words)


def among(text: str, words: Sequence[str]) -> list[str]:
    """Return those of the words that are in a text."""
    lower = text.lower()
    return [word for word in words if word in lower]


def _pairs(run: str) -> list[str]:
    return [run, *(run[at : at + 2] for at in range(len(run) - 1))]


def _singular(word: str) -> str:
    is_plural = len(word) >= _SHORTEST_PLURAL and word.endswith("s") and not word.endswith("ss")
    return word[:-1] if is_plural else word
