"""Search words in pages, and parts of long texts (P4)."""

import re
from collections.abc import Collection, Sequence
from typing import NamedTuple

from memci.domain.pages.page import Page
from memci.domain.token_counts import Count
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
        if _CHINESE.match(run):
            pairs = (run[at : at + 2] for at in range(len(run) - 1))
            words |= dict.fromkeys((run, *pairs))
        else:
            is_plural = len(run) >= _SHORTEST_PLURAL and run.endswith("s") and run[-2] != "s"
            words.setdefault(run[:-1] if is_plural else run)
    return list(words)[:_MOST_WORDS]


def match_score(page: Page, words: Sequence[str], within: Collection[str] = ()) -> int:
    """Return how many words are in a page, or ``within`` its text; in its name they count twice."""
    name = page.name.lower()
    rest = " ".join([page.description, *page.entries]).lower()
    return sum(2 * (word in name) + (word in rest or word in within) for word in words)


def words_in_text(text: str, words: Sequence[str]) -> list[str]:
    """Return the words that a text contains."""
    lower = text.lower()
    return [word for word in words if word in lower]


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
    """Return at most ``MOST_TOKENS`` of a text from an offset; raises like ``text_from``."""
    rest = text_from(text, offset)
    part = rest[:_LONGEST]
    while len(part) > 1 and (tokens := count(part)) > MOST_TOKENS:
        part = part[: max(1, min(len(part) * MOST_TOKENS // tokens, len(part) - 1))]
    if len(part) == len(rest):
        return TextPart(part, None)
    nearest = int(len(part) * (1 - _GIVEN_UP))
    ends = (part.rfind(end, nearest) for end in ("\n", " "))
    part = part[: next((end + 1 for end in ends if end >= 0), len(part))]
    return TextPart(part, offset + len(part))


def text_from(text: str, offset: int) -> str:
    """Return a text from an offset; raises ``InvalidInputError`` beyond the end."""
    if offset and offset >= len(text):
        raise InvalidInputError(f"the text ends before that, at offset {len(text)}", field="offset")
    return text[offset:]
