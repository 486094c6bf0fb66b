"""Counts, as English writes them before "days ago"."""

from __future__ import annotations

import re

_SMALL = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen"
).split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()

NUMBER = (
    r"(?<![\w.,/–—-])(?P<n>\d{1,3}|an?|"
    rf"(?:{'|'.join(_TENS)})(?:[\s-](?:{'|'.join(_SMALL[:9])}))?|(?:{'|'.join(_SMALL)}))"
)
_VALUES = {word: i for i, word in enumerate(_SMALL, 1)}
_VALUES |= {word: 10 * i for i, word in enumerate(_TENS, 2)}
_VALUES |= {"a": 1, "an": 1}

# "Five or six", "more than two", "and a half", "two hundred and three": not that number.
LOOSENS = frozenset(
    "or to and than over under least most hundred thousand half few couple of "
    "point - – — ~ / every each".split()
)
ABOUT = frozenset("about around nearly almost roughly maybe approximately".split())


def number(words: str) -> int:
    """Return the value of what ``NUMBER`` matched."""
    if words.isdecimal():
        return int(words)
    return sum(_VALUES[word] for word in re.split(r"[\s-]+", words.lower()))
