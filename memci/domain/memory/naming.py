"""Whether a text names an entity."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

# Where words are not set apart by blanks, a name begins and ends anywhere.
_UNSPACED = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"
_IN_WORD = rf"[^\W{_UNSPACED}]"


def names(text: str, key: str) -> bool:
    """Tell whether a text holds the entity's name, in any case, width or spacing, as a word.

    ``key`` is the entity's (``Entity.key``).
    """
    return bool(named(text, (key,)))


def named(text: str, keys: Iterable[str]) -> frozenset[str]:
    """Return those of the keys whose names a text holds."""
    folded = " ".join(unicodedata.normalize("NFKC", text).casefold().split())
    return frozenset(key for key in keys if key in folded and _pattern(key).search(folded))


@lru_cache(1_024)
def _pattern(key: str) -> re.Pattern[str]:
    begin = rf"(?<!{_IN_WORD})" if re.match(_IN_WORD, key) else ""
    end = rf"(?!{_IN_WORD})" if re.search(rf"{_IN_WORD}\Z", key) else ""
    return re.compile(begin + re.escape(key) + end)
