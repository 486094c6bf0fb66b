"""How rules for expressions of time are written down."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date

from memci.domain.time.mention import Reading

Read = Callable[[re.Match[str], date], Reading | None]


@dataclass(frozen=True, slots=True)
class Rule:
    """A pattern, and what a match means when it is said on a day; None: nothing.

    ``needs`` (in lower case): a text without any of these is not searched, which is most texts.
    Where the pattern has a group ``mention``, that is the expression; the rest is surroundings.
    """

    pattern: re.Pattern[str]
    read: Read
    needs: tuple[str, ...]

    @classmethod
    def of(cls, pattern: str, read: Read, *needs: str) -> Rule:
        """Compile a pattern that does not look at case.

        ASCII only: Han characters may touch English words, and "ſ" is no "s".
        """
        return cls(re.compile(pattern, re.IGNORECASE | re.ASCII), read, needs)


def span(match: re.Match[str]) -> tuple[int, int]:
    """Return where the expression stands."""
    return match.span("mention") if "mention" in match.re.groupindex else match.span()
