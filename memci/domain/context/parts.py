"""What an assembled message list is made of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TypeAlias

from memci.domain.context.budget import Count, Utterance
from memci.domain.context.fusion import Ranked
from memci.domain.message import Role


class Section(StrEnum):
    """Parts of an assembled list."""

    SYSTEM = "system"
    PINS = "pins"
    PLAN = "plan"
    SUMMARY = "summary"
    CONTENTS = "contents"
    DOCUMENT = "document"
    CODE = "code"
    PAGE = "page"
    MEMORY = "memory"
    HISTORY = "history"
    TREE = "tree"
    RECENT = "recent"
    QUERY = "query"


class LeftOut(StrEnum):
    """Why something that was found is not in the list."""

    BUDGET = "budget"  # it did not fit
    PRESENT = "present"  # its words are there already
    TRIVIAL = "trivial"  # it tells nothing


# What a piece is taken from that was not retrieved, by names and numbers: {"page": "usr-2"}.
Origin: TypeAlias = Mapping[str, str | int | None]


@dataclass(frozen=True, slots=True)
class Item:
    """A piece of the list; the texts of all items, joined, are what its messages hold.

    ``shortened``: sentences of what it tells of are left out.
    """

    section: Section
    text: str
    tokens: int
    seqs: tuple[int, ...] = ()
    ranked: Ranked | None = None
    shortened: bool = False
    origin: Origin = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Part:
    """One message of the list and the items that it is made of."""

    utterance: Utterance
    items: tuple[Item, ...]


def part_of(role: Role, items: Sequence[Item], count: Count) -> Part:
    """Return items as one message; the first also carries what belongs to it as a whole.

    ``tokens`` of an item are those of its text, counted here where it has 0.
    """
    utterance = Utterance(role, "".join(each.text for each in items))
    first, *others = items
    counted = [replace(each, tokens=each.tokens or count(each.text)) for each in others]
    whole = utterance.tokens(count) - sum(each.tokens for each in counted)
    return Part(utterance, (replace(first, tokens=whole), *counted))


def part_tokens(parts: Iterable[Part]) -> int:
    """Tokens of some messages of a list."""
    return sum(item.tokens for part in parts for item in part.items)
