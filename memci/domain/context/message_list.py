"""The parts of an assembled message list, and how much of it a prompt cache can reuse (R16).

Receipts keep no text: a list is remembered as hash and length of each of its pieces, so the
answer is exact to a piece and never too long.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import takewhile
from typing import NamedTuple, TypeAlias

from memci.domain.context.token_budget import Count, Utterance
from memci.domain.search.ranking import Ranked
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


class Piece(NamedTuple):
    """SHA-256 of a piece of a message list, in hex, and its length in bytes of UTF-8."""

    digest: str
    length: int


def pieces(texts: Iterable[tuple[str, str]]) -> list[Piece]:
    """Return the pieces of a list given as (where it stands, text) in order.

    Two pieces are the same only when both agree: the same words in another role are not.
    """
    found = []
    for place, text in texts:
        written = text.encode()
        digest = hashlib.sha256(place.encode() + b"\x00" + written).hexdigest()
        found.append(Piece(digest, len(written)))
    return found


def stable_prefix(before: Sequence[Piece], now: Sequence[Piece]) -> int:
    """Bytes of text at the start of ``now`` that ``before`` started with too."""
    same = takewhile(lambda pair: pair[0] == pair[1], zip(before, now, strict=False))
    return sum(piece.length for _, piece in same)
