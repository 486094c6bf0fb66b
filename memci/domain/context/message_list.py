"""The parts of a message list, and how much of it a prompt cache can reuse (R16).

Receipts keep no text. They keep the hash and length of each piece of a list, so the reusable prefix
is exact to a piece and never too long.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import takewhile
from typing import NamedTuple, TypeAlias

from memci.domain.search.ranking import Ranked
from memci.domain.token_counts import Count, Utterance
from memci.message import Role


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
    """The reason why a found entry is not in the list."""

    BUDGET = "budget"  # it did not fit
    PRESENT = "present"  # its words are already in the list
    TRIVIAL = "trivial"  # it has no content


# The source of a piece that was not retrieved, by names and numbers: {"page": "usr-2"}.
Origin: TypeAlias = Mapping[str, str | int | None]


@dataclass(frozen=True, slots=True)
class Item:
    """A piece of the list. The joined texts of all items are the contents of its messages.

    ``shortened``: sentences of the source are left out.
    """

    section: Section
    text: str
    tokens: int = 0
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
    """Return items as one message.

    ``tokens`` of an item are those of its text, counted here if 0. The first item also carries the
    tokens of the message itself.
    """
    utterance = Utterance(role, "".join(each.text for each in items))
    first, *others = items
    counted = [replace(each, tokens=each.tokens or count(each.text)) for each in others]
    whole = utterance.tokens(count) - sum(each.tokens for each in counted)
    return Part(utterance, (replace(first, tokens=whole), *counted))


def part_tokens(parts: Iterable[Part]) -> int:
    """Tokens of some messages of a list."""
    return sum(item.tokens for part in parts for item in part.items)


class Piece(NamedTuple):
    """SHA-256 of a piece of a message list, in hex, and its length in bytes of UTF-8."""

    digest: str
    length: int


def pieces(texts: Iterable[tuple[str, str]]) -> list[Piece]:
    """Return the pieces of a list given as (position, text) in order.

    Two pieces are equal only if both agree: the same words in another role differ.
    """
    found = []
    for place, text in texts:
        written = text.encode()
        digest = hashlib.sha256(place.encode() + b"\x00" + written).hexdigest()
        found.append(Piece(digest, len(written)))
    return found


def stable_prefix(before: Sequence[Piece], now: Sequence[Piece]) -> int:
    """Return the length in bytes of the text that both lists begin with."""
    same = takewhile(lambda pair: pair[0] == pair[1], zip(before, now, strict=False))
    return sum(piece.length for _, piece in same)
