"""The scan of a node, the atom of compression (M12), as far as it can be decided at once.

A scan decides from a node's importance what becomes of it. That its links fade afterwards
(M12.3) changes no other node's importance in the pass: a link counts for its source alone. So
only nodes forgotten earlier make one scan depend on another.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from memci.domain.memory.link import importance
from memci.domain.memory.node import NodeKind
from memci.domain.memory.parameters import MemoryParameters


class Forgetting(StrEnum):
    """Why a node is forgotten (M27)."""

    NO_IMPORTANCE = "importance"  # nothing that lives supports it
    TOO_SHORT = "threshold"  # what would be left of it could not be understood
    SLOT_TAKEN = "slot"  # a new node needed its place (M19)
    SWITCHED = "switched"  # a rebuilt network took the place of the one that it was in (M24)


@dataclass(frozen=True, slots=True)
class Protected:
    """A focus point: neither its content nor its links fade (M12.1)."""


@dataclass(frozen=True, slots=True)
class Kept:
    """Its links fade, its content stays."""


@dataclass(frozen=True, slots=True)
class Compress:
    """Its links fade, and its content shrinks to at most ``target`` characters."""

    target: int


@dataclass(frozen=True, slots=True)
class Forgotten:
    """It goes, with its own links."""

    reason: Forgetting


Verdict: TypeAlias = Protected | Kept | Compress | Forgotten


@dataclass(frozen=True, slots=True)
class ScannedNode:
    """What a scan needs to know of a node; lengths are characters (Unicode code points)."""

    id: int
    kind: NodeKind
    length: int
    original_length: int


# Of each node: the strengths of its links to living nodes, by target.
Supports: TypeAlias = Mapping[int, Mapping[int, float]]


def scan(
    nodes: Iterable[ScannedNode],
    supports: Supports,
    focus: Collection[int],
    parameters: MemoryParameters,
) -> Iterator[tuple[ScannedNode, Verdict]]:
    """Scan nodes in order; a node forgotten on the way supports those after it no longer."""
    forgotten: set[int] = set()
    for node in nodes:
        verdict: Verdict = Protected()
        if node.id not in focus:
            links = supports.get(node.id, {})
            strengths = [links[target] for target in links if target not in forgotten]
            verdict = judge(node, importance(strengths), parameters)
        if isinstance(verdict, Forgotten):
            forgotten.add(node.id)
        yield node, verdict


def judge(node: ScannedNode, node_importance: float, parameters: MemoryParameters) -> Verdict:
    """Decide what becomes of a node that is no focus point (M12.4 to M12.6)."""
    if node_importance == 0:
        return Forgotten(Forgetting.NO_IMPORTANCE)
    if node.kind is NodeKind.ENTITY or node_importance >= 1:
        return Kept()
    original = parameters.compression_base == "original"
    target = math.floor((node.original_length if original else node.length) * node_importance)
    if target < parameters.delete_threshold:
        return Forgotten(Forgetting.TOO_SHORT)
    cut = node.length - target
    worth_a_call = cut > 0 and cut >= parameters.min_shrink * node.length
    return Compress(target) if worth_a_call else Kept()
