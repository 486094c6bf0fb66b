"""What an assembled message list is made of."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from memci.domain.context.budget import Utterance
from memci.domain.context.fusion import Ranked


class Section(StrEnum):
    """Parts of an assembled list."""

    SYSTEM = "system"
    PINS = "pins"
    MEMORY = "memory"
    HISTORY = "history"
    RECENT = "recent"
    QUERY = "query"


class LeftOut(StrEnum):
    """Why something that was found is not in the list."""

    BUDGET = "budget"  # it did not fit
    PRESENT = "present"  # its words are there already
    TRIVIAL = "trivial"  # it tells nothing


@dataclass(frozen=True, slots=True)
class Item:
    """A piece of the list; the texts of all items, joined, are what its messages hold."""

    section: Section
    text: str
    tokens: int
    seqs: tuple[int, ...] = ()
    ranked: Ranked | None = None


@dataclass(frozen=True, slots=True)
class Part:
    """One message of the list and the items that it is made of."""

    utterance: Utterance
    items: tuple[Item, ...]


def part_tokens(parts: Iterable[Part]) -> int:
    """Tokens of some messages of a list."""
    return sum(item.tokens for part in parts for item in part.items)
