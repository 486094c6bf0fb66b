"""Merging near-identical short-term memories of one session and day into one (R5, M9)."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any

from memci.domain.memory.node import Link, NodeType
from memci.domain.memory.passage import Passage, details_of
from memci.language import near_duplicates
from memci.language.detection import Language

# Pairs below it are not compared. Texts that say the same with more stress lie above it.
SIMILAR = 0.75
_MOST_KEYWORDS = 12


@dataclass(frozen=True, slots=True)
class ShortMemory:
    """A short-term memory that may be merged; ``said_at`` has the speaker's offset."""

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
    speakers: frozenset[tuple[str, str | None]]  # roles and names

    @property
    def place(self) -> tuple[str | None, str | None, date | None]:
        """Session, user and day; memories of different places are never merged (M9)."""
        return self.session_id, self.user_id, self.said_at.date() if self.said_at else None


def groups(
    memories: Mapping[int, ShortMemory], similar: Iterable[tuple[int, int]]
) -> list[tuple[int, ...]]:
    """Return groups of two and more memories in which every pair agrees, by id, ascending.

    ``similar`` are the pairs whose likeness is ``SIMILAR`` or more; no other pair agrees.
    Memories are assigned in the order of ids, so the order of pairs does not matter.
    """
    agreeing: defaultdict[int, set[int]] = defaultdict(set)
    readings: dict[int, near_duplicates.ReducedText] = {}
    for one, other in similar:
        first, second = memories[one], memories[other]
        # The same words of two speakers about themselves are two facts.
        if one == other or (first.place, first.speakers) != (second.place, second.speakers):
            continue
        for each in (one, other):
            if each not in readings:
                readings[each] = near_duplicates.reduce_text(memories[each].content)
        if near_duplicates.same_reduced_content(readings[one], readings[other]):
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
    """A group of memories that becomes one node."""

    node: ShortMemory  # the new one
    text_of: int  # the memory of the group that gave the text
    group: tuple[int, ...]
    passages: tuple[Passage, ...]  # those of all of them

    def details(self) -> dict[str, Any]:
        """Return the origin of the node for its history, so that it can be restored."""
        origin = {"messages": self.node.seqs, "from": self.group}
        return {**origin, **details_of(self.passages)}


def merged(group: Sequence[ShortMemory], new_id: int) -> tuple[ShortMemory, int]:
    """Return the memory that replaces a group, and the id of the one whose text it has.

    The text is the one with the most content; among equals, the earliest.
    """
    strongest = min(group, key=lambda each: (-near_duplicates.content_size(each.content), each.id))
    keywords = [*strongest.keywords, *(word for each in group for word in each.keywords)]
    node = replace(
        strongest,
        id=new_id,
        keywords=tuple(dict.fromkeys(keywords))[:_MOST_KEYWORDS],
        original_length=max(each.original_length for each in group),
        worth=max(each.worth for each in group),
        seqs=tuple(sorted({seq for each in group for seq in each.seqs})),
        said_at=min((each.said_at for each in group if each.said_at), default=None),
        expires_at=max((each.expires_at for each in group if each.expires_at), default=None),
        scan_count=max(each.scan_count for each in group),
    )
    return node, strongest.id


def joined_links(links: Iterable[Link], merged_into: Mapping[int, int]) -> list[Link]:
    """Return the links of merged nodes: the union of the links of their groups, both ways.

    ``merged_into``: the merged node of each old one. Of two links between the same nodes the
    stronger stays; links within a group are gone. Ordered by source, then target.
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
