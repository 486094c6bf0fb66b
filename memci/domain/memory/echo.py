"""Whether a text repeats what its agent was just given by recall or assembly (M26).

Texts are compared by their 5-grams: five words in a row, where each Chinese character counts as a
word; case, width and punctuation do not count.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import TypeAlias

# Of a text's 5-grams, so many in what one receipt gave make it an echo.
SHARE = 0.9
# Receipts of so many last interactions count.
INTERACTIONS = 20

Gram: TypeAlias = tuple[str, str, str, str, str]

_HAN = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"
_WORD = re.compile(rf"[{_HAN}]|[^\W{_HAN}]+")


def grams(text: str) -> list[Gram]:
    """Return the 5-grams of a text, in order; none, if it has fewer than five words."""
    words = _WORD.findall(unicodedata.normalize("NFKC", text).casefold())
    return list(zip(words, words[1:], words[2:], words[3:], words[4:], strict=False))


def is_echo(said: Sequence[Gram], given: Iterable[Iterable[frozenset[Gram]]]) -> bool:
    """Tell whether nearly all of what was said stands in what one receipt gave.

    ``given`` holds, for each receipt, the 5-grams of each text that it gave. A quotation inside a
    longer text of one's own is none, and neither is a text too short to have a 5-gram.
    """
    return bool(said) and any(_share(said, texts) >= SHARE for texts in given)


def _share(said: Sequence[Gram], texts: Iterable[frozenset[Gram]]) -> float:
    known = frozenset[Gram]().union(*texts)
    return sum(gram in known for gram in said) / len(said)
