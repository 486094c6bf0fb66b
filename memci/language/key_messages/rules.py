"""What a sentence has to hold to be of a kind."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class PinKind(StrEnum):
    """What a pin is."""

    TASK = "task"
    CONSTRAINT = "constraint"
    PREFERENCE = "preference"
    DECISION = "decision"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class CueRule:
    """A sentence in which ``cue`` is found is of this kind, if all of ``beside`` are found too.

    It is not, where ``unless`` is found. ``told``: it tells what its speaker is up to and asks
    nobody for anything; of somebody with a name, as people have among each other, it is nothing.
    """

    kind: PinKind
    cue: re.Pattern[str]
    beside: Sequence[re.Pattern[str]] = ()
    unless: re.Pattern[str] | None = None
    told: bool = False

    def holds(self, sentence: str) -> bool:
        """Tell whether a sentence is of the kind."""
        if not self.cue.search(sentence) or (self.unless and self.unless.search(sentence)):
            return False
        return all(each.search(sentence) for each in self.beside)


def any_of(*patterns: str) -> re.Pattern[str]:
    """Return a pattern that is found where one of these is, in small letters or capitals."""
    return re.compile("|".join(patterns), re.IGNORECASE)
