"""Blocks of the page tree in a list: the Contents Page and what somebody has filed (R13)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from memci.domain.context.budget import Count
from memci.domain.context.parts import Item, Part, Section, part_of, part_tokens
from memci.domain.message import Role

# Tokens, beside which a list of pages is worth its room; and what it takes of them at most.
_LEAST_ROOM = 1_000
_CEILINGS = {Section.CONTENTS: 0.15, Section.TREE: 0.1}


class Leaf(NamedTuple):
    """The block of one page, which begins with a heading mark and ends with a blank line."""

    page: str
    text: str


@dataclass(frozen=True, slots=True)
class Listed:
    """Pages under a heading, which is such a block, too, and says nothing without them."""

    heading: str
    leaves: Sequence[Leaf]


def listing(
    section: Section, listed: Listed | None, room: int, free: int, count: Count
) -> tuple[Part, ...]:
    """Return pages as a message: as many as its share of ``room`` holds, and never half a page.

    ``room`` is what is there for all questions alike, so that the same pages stand there whatever
    is asked; ``free`` what this one leaves. Of the Contents Page the newest lines stay, of the rest
    the first. Under 1,000 tokens there is none.
    """
    if listed is None or room < _LEAST_ROOM:
        return ()
    ceiling = int(_CEILINGS[section] * min(room, 2 * free))
    leaves = list(listed.leaves)
    while leaves:
        part = _written(section, listed.heading, leaves, count)
        if part_tokens([part]) <= ceiling:
            return (part,)
        fewer = 1 + len(leaves) // 8
        leaves = leaves[fewer:] if section is Section.CONTENTS else leaves[:-fewer]
    return ()


def _written(section: Section, heading: str, leaves: Sequence[Leaf], count: Count) -> Part:
    first, *others = leaves
    items = [
        Item(section, heading + first.text, 0, origin={"page": first.page}),
        *(Item(section, each.text, 0, origin={"page": each.page}) for each in others),
    ]
    return part_of(Role.SYSTEM, items, count)
