"""Merging near-identical short-term memories of one session and day into one (R5, M9)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any

from memci.domain.memory.node import Link, NodeType
from memci.domain.memory.passage import Passage, details_of
from memci.language.detection import Language
from memci.language.near_duplicates import (
    ReducedText,
    content_size,
    reduce_text,
    same_reduced_content,
)

# Below it nobody looks at the texts. The same thing said with more stress lies above it.
ALIKE_COSINE = 0.8
_MOST_KEYWORDS = 12


@dataclass(frozen=True, slots=True)
class ShortMemory:
    """A short-term memory that may be merged. Times are aware, ``said_at`` as the speaker has it.

    ``speakers``: who said what it tells, by role and name: what one person says of himself is not
    what another says.
    """

    id: int
    content: str
    phrase: str
    keywords: tuple[str, ...]
    language: Language
    type: NodeType
    original_length: int
    worth: float
    seqs: tuple[int, ...]
    session_id: str | None
    user_id: str | None
    said_at: datetime | None
    expires_at: datetime | None
    scan_count: int
    speakers: frozenset[tuple[str, str | None]]

    @property
    def place(self) -> tuple[str | None, str | None, date | None]:
        """Return where it belongs: memories of two places are never merged (M9)."""
        return self.session_id, self.user_id, self.said_at.date() if self.said_at else None


def _comparable(one: ShortMemory, other: ShortMemory) -> bool:
    # What one tells of himself is not what another tells.
    return one.place == other.place and one.speakers == other.speakers


def groups(
    memories: Mapping[int, ShortMemory], alike: Iterable[tuple[int, int]]
) -> list[tuple[int, ...]]:
    """Return groups of two and more memories in which every pair agrees, by id, ascending.

    ``alike`` are the pairs whose cosine is ``ALIKE_COSINE`` or more; no other pair agrees. The
    earlier a memory, the earlier it finds its group, so that the answer hangs on nothing else.
    """
    agreeing: defaultdict[int, set[int]] = defaultdict(set)
    readings: dict[int, ReducedText] = {}
    for one, other in alike:
        if one == other or not _comparable(memories[one], memories[other]):
            continue
        for each in (one, other):
            if each not in readings:
                readings[each] = reduce_text(memories[each].content)
        if same_reduced_content(readings[one], readings[other]):
            agreeing[one].add(other)
            agreeing[other].add(one)
    found: list[list[int]] = []
    for memory in sorted(agreeing):
        group = next((each for each in found if agreeing[memory].issuperset(each)), None)
        if group is None:
            found.append([memory])
        else:
            group.append(memory)
    return [tuple(group) for group in found if len(group) > 1]


@dataclass(frozen=True, slots=True)
class Merge:
    """One memory that stands for a group, whose text it has, and what all were made of."""

    whole: ShortMemory
    teller: int
    group: tuple[int, ...]
    passages: tuple[Passage, ...]

    def details(self) -> dict[str, Any]:
        """Return what its trail keeps of where it comes from, so that it can be restored."""
        origin = {"messages": self.whole.seqs, "from": self.group}
        return {**origin, **details_of(self.passages)}


def merged(group: Sequence[ShortMemory], new_id: int) -> tuple[ShortMemory, int]:
    """Return the one memory that stands for a group, and whose text it has.

    All say the same (``same``): the text is that with most stress; of equals it is the earliest.
    """
    teller = min(group, key=lambda each: (-content_size(each.content), each.id))
    keywords = [*teller.keywords, *(word for each in group for word in each.keywords)]
    whole = replace(
        teller,
        id=new_id,
        keywords=tuple(dict.fromkeys(keywords))[:_MOST_KEYWORDS],
        original_length=max(each.original_length for each in group),
        worth=max(each.worth for each in group),
        seqs=tuple(sorted({seq for each in group for seq in each.seqs})),
        said_at=min((each.said_at for each in group if each.said_at), default=None),
        expires_at=max((each.expires_at for each in group if each.expires_at), default=None),
        scan_count=max(each.scan_count for each in group),
    )
    return whole, teller.id


def joined_links(links: Iterable[Link], merged_into: Mapping[int, int]) -> list[Link]:
    """Return the links of those that stand for groups: the union of theirs, both ways.

    ``merged_into``: by node, the one that stands for it. Of two links between the same nodes the
    stronger stays, with its relation and hint; those within a group are gone. Ordered by source,
    then target.
    """
    strongest: dict[tuple[int, int], Link] = {}
    for link in links:
        source = merged_into.get(link.source, link.source)
        target = merged_into.get(link.target, link.target)
        if source == target:
            continue
        known = strongest.get((source, target))
        # Of equals, that of the earliest memory.
        if known is None or _rank(link) < _rank(known):
            strongest[source, target] = link
    return [
        replace(link, source=source, target=target)
        for (source, target), link in sorted(strongest.items())
    ]


def _rank(link: Link) -> tuple[float, int, int]:
    return -link.strength, link.source, link.target
