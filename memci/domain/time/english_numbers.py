"""Counts, as English writes them before "days ago"."""

from __future__ import annotations

import re

_SMALL_WORDS = """
    one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
    sixteen seventeen eighteen nineteen
"""
_TENS_WORDS = "twenty thirty forty fifty sixty seventy eighty ninety"
_SMALL, _TENS = _SMALL_WORDS.split(), _TENS_WORDS.split()

# Groups: n.
NUMBER = (
    r"(?<![\w.,/–—-])(?P<n>\d{1,3}|an?|"
    rf"(?:{'|'.join(_TENS)})(?:[\s-](?:{'|'.join(_SMALL[:9])}))?|(?:{'|'.join(_SMALL)}))"
)
_VALUES = {word: value for value, word in enumerate(_SMALL, 1)}
_VALUES |= {word: 10 * value for value, word in enumerate(_TENS, 2)}
_VALUES |= {"a": 1, "an": 1}


def number(words: str) -> int:
    """Return the value of what ``NUMBER`` matched."""
    if words.isdecimal():
        return int(words)
    return sum(_VALUES[word] for word in re.split(r"[\s-]+", words.lower()))
