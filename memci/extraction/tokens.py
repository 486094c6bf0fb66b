"""About how many tokens an embedder makes of a text, without loading one."""

from __future__ import annotations

import re
from math import ceil

# One token each in MiniLM's vocabulary: Han, kana, Hangul, and their punctuation.
IDEOGRAPH = (
    r"[\u2e80-\u303f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef"
    r"\U00020000-\U0003134f]"
)
_PARTS = re.compile(rf"{IDEOGRAPH}|[A-Za-z]+|\d+|[^\s\w]|_|\w+?(?={IDEOGRAPH}|[A-Za-z\d\s]|\W|$)")
_LETTERS_A_TOKEN = 4
_DIGITS_A_TOKEN = 2


def count_tokens(text: str) -> int:
    """Return an estimate that is rather too high: long and rare words fall into many pieces."""
    return sum(map(_cost, _PARTS.findall(text)))


def _cost(part: str) -> int:
    if part.isascii():
        if part.isalpha():
            return ceil(len(part) / _LETTERS_A_TOKEN) if len(part) > _LETTERS_A_TOKEN + 2 else 1
        if part.isdigit():
            return ceil(len(part) / _DIGITS_A_TOKEN)
    return ceil(len(part) / 2)
