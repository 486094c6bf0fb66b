"""How rules for expressions of time are written down."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from functools import cache

from memci.domain.time.mention import Reading

Read = Callable[[re.Match[str], date], Reading | None]


@dataclass(frozen=True, slots=True)
class Rule:
    """A pattern, and what a match means when it is said on a day; None: nothing.

    ``needs`` (in lower case): a text without any of these is not searched, which is most texts.
    Where the pattern has a group ``mention``, that is the expression; the rest is surroundings.
    """

    words: str
    read: Read
    needs: tuple[str, ...]

    @classmethod
    def of(cls, words: str, read: Read, *needs: str) -> Rule:
        """Take a pattern that does not look at case.

        ASCII only: Han characters may touch English words, and "ſ" is no "s".
        """
        return cls(words, read, needs)

    @property
    def pattern(self) -> re.Pattern[str]:
        """The pattern; compiled when it is first needed, which in many processes is never."""
        return _compiled(self.words)


@cache
def _compiled(words: str) -> re.Pattern[str]:
    return re.compile(words, re.IGNORECASE | re.ASCII)


def span(match: re.Match[str]) -> tuple[int, int]:
    """Return where the expression stands."""
    return match.span("mention") if "mention" in match.re.groupindex else match.span()


def readings(rules: Iterable[Rule], text: str, said: date) -> Iterator[tuple[int, int, Reading]]:
    """Yield where each rule applies to a text said on a day, and what is meant there."""
    lower = text.lower()
    for rule in rules:
        if not any(need in lower for need in rule.needs):
            continue
        for match in rule.pattern.finditer(text):
            try:
                reading = rule.read(match, said)
            except (OverflowError, ValueError):
                continue  # 30 February, or beyond the calendar
            if reading is not None:
                yield *span(match), reading
