"""What a memory says that the messages it came from do not say beside it (R14)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

# A word, or one character of a script that puts no blanks between words.
_WORD = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003134f]|[^\W_]+")


def unsaid(text: str, said: Iterable[str]) -> str:
    """Return the lines of ``text`` that no line of ``said`` holds, words in the same order.

    Compression leaves words out of a line, and never changes their order or adds any: what is
    left of a line is found in it again. Lines without a word go with the line above them.
    """
    known = [words for each in said for line in each.splitlines() if (words := _words(line))]
    kept: list[str] = []
    keeping = True
    for line in text.split("\n"):
        words = _words(line)
        if words:
            keeping = not any(_holds(each, words) for each in known)
        if keeping:
            kept.append(line)
    return "\n".join(kept) if any(map(_words, kept)) else ""


def _words(line: str) -> list[str]:
    return _WORD.findall(line.casefold())


def _holds(line: Sequence[str], words: Sequence[str]) -> bool:
    rest = iter(line)
    return all(word in rest for word in words)
