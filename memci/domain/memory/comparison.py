"""Two editions of a network, compared (M24): what both have, and what only one of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

# Strengths of links by (source, target), both living nodes.
Strengths: TypeAlias = Mapping[tuple[int, int], float]
_Key: TypeAlias = tuple[str | None, tuple[int, ...], int, int]


@dataclass(frozen=True, slots=True)
class ComparedNode:
    """A living node. ``digest`` tells its text from others; ``importance`` by M11."""

    id: int
    entity_key: str | None  # None: a memory
    seqs: tuple[int, ...]
    original_length: int
    length: int
    digest: str
    importance: float


@dataclass(frozen=True, slots=True)
class ComparedNetwork:
    """One of the editions; nodes by id, ascending."""

    nodes: Sequence[ComparedNode]
    strengths: Strengths


@dataclass(frozen=True, slots=True)
class Pair:
    """The same memory or entity in both editions."""

    current: ComparedNode
    rebuilt: ComparedNode


@dataclass(frozen=True, slots=True)
class Comparison:
    """What came of it; the lists hold memories alone, the most important first."""

    pairs: list[Pair]  # of memories
    only_current: list[ComparedNode]
    only_rebuilt: list[ComparedNode]
    same_links: int
    links_only_current: int
    links_only_rebuilt: int
    largest_strength_difference: float
    largest_importance_difference: float

    @property
    def changed(self) -> list[Pair]:
        """Memories that say different things in the two editions."""
        return [each for each in self.pairs if each.current.digest != each.rebuilt.digest]


def compare(current: ComparedNetwork, rebuilt: ComparedNetwork) -> Comparison:
    """Compare them. Nodes are the same when they were made of the same; ids differ always."""
    ours, theirs = _keyed(current.nodes), _keyed(rebuilt.nodes)
    both = [Pair(ours[key], theirs[key]) for key in ours if key in theirs]
    names = {pair.current.id: pair.rebuilt.id for pair in both}
    linked = {
        (names.get(source, -source), names.get(target, -target)): strength
        for (source, target), strength in current.strengths.items()
    }
    same = linked.keys() & rebuilt.strengths.keys()
    strengths = (abs(linked[pair] - rebuilt.strengths[pair]) for pair in same)
    importances = (abs(each.current.importance - each.rebuilt.importance) for each in both)
    memories = [each for each in both if each.current.entity_key is None]
    return Comparison(
        pairs=sorted(memories, key=lambda each: _rank(each.current)),
        only_current=_memories(node for key, node in ours.items() if key not in theirs),
        only_rebuilt=_memories(node for key, node in theirs.items() if key not in ours),
        same_links=len(same),
        links_only_current=len(linked) - len(same),
        links_only_rebuilt=len(rebuilt.strengths) - len(same),
        largest_strength_difference=max(strengths, default=0.0),
        largest_importance_difference=max(importances, default=0.0),
    )


def _keyed(nodes: Sequence[ComparedNode]) -> dict[_Key, ComparedNode]:
    """Name nodes by what they were made of; the first of several is the first in both."""
    found: dict[_Key, ComparedNode] = {}
    seen: Counter[tuple[str | None, tuple[int, ...], int]] = Counter()
    for node in nodes:
        made_of: tuple[str | None, tuple[int, ...], int] = (None, node.seqs, node.original_length)
        if node.entity_key is not None:
            made_of = (node.entity_key, (), 0)
        found[(*made_of, seen[made_of])] = node
        seen[made_of] += 1
    return found


def _memories(nodes: Iterable[ComparedNode]) -> list[ComparedNode]:
    return sorted((node for node in nodes if node.entity_key is None), key=_rank)


def _rank(node: ComparedNode) -> tuple[float, int]:
    return -node.importance, node.id
