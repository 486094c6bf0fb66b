"""What is left of a node when its content has been compressed (M12.6).

Phrase and keywords only ever lose: they are taken from the old ones and from what is left of
the content, never from a model, so that a compression costs one call.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from memci.errors import SmallModelAnswerError

_WORD = re.compile(r"[^\W_]+")
_ASCII_WORD_EDGE = re.compile(r"[A-Za-z0-9]")


def check_compressed(answer: str, *, target: int, length: int) -> str:
    """Return a compressor's answer, trimmed, or raise ``SmallModelAnswerError`` (M13).

    It must be neither empty, nor longer than ``target``, nor as long as what it was made of.
    """
    text = answer.replace("\x00", "").strip()
    if not text:
        raise SmallModelAnswerError("the compressor gave an empty answer")
    if len(text) > target or len(text) >= length:
        raise SmallModelAnswerError(
            f"the compressor gave {len(text)} characters for {length}, at most {target} were asked"
        )
    return text


def shrunk_keywords(keywords: Sequence[str], content: str) -> tuple[str, ...]:
    """Return the keywords that still stand in the content."""
    return tuple(word for word in keywords if _stands_in(word, content))


def shrunk_phrase(phrase: str, content: str) -> str:
    """Return the phrase if the content still bears it out, else the content's beginning.

    Never longer than ``phrase``.
    """
    if all(_stands_in(word, content) for word in _WORD.findall(phrase)):
        return phrase
    beginning = content[: len(phrase)]
    cut_in_word = len(content) > len(phrase) and not content[len(phrase)].isspace()
    if cut_in_word and " " in beginning:
        beginning = beginning.rpartition(" ")[0]
    return beginning.strip()


def _stands_in(word: str, content: str) -> bool:
    """Find a word without regard to case; an English one not inside another word."""
    pattern = re.escape(word)
    if _ASCII_WORD_EDGE.match(word):
        pattern = rf"(?<![A-Za-z0-9]){pattern}"
    if _ASCII_WORD_EDGE.match(word[-1:]):
        pattern = rf"{pattern}(?![A-Za-z0-9])"
    return re.search(pattern, content, re.IGNORECASE) is not None
