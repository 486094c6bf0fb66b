"""Recall: breadth-first search from the focus (M20), its text, and reasons for a miss (M23).

Storage looks up the links of one layer at a time; this module interprets them.
"""

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from memci.domain.memory.node import NodeKind
from memci.language.detection import Language, language_of

# The least likeness of a match for a keyword that no memory has as a token.
MATCH = 0.45
# The same for a memory in another language, where texts of one meaning are less alike: measured on
# pairs of texts in English and Chinese, as few others match.
MATCH_ACROSS = 0.22


class Step(NamedTuple):
    """A link followed from ``origin`` to ``neighbour``, in either direction.

    ``kind`` is the neighbour's; None if the neighbour is removed and the link dangles (M14).
    """

    origin: int
    neighbour: int
    relation: str
    strength: float
    hint: str
    kind: NodeKind | None


@dataclass(frozen=True, slots=True)
class Reached:
    """A reached living node: its distance in links, and the strength product of its best way.

    ``layer`` is None if no way leads to it; its strength is 0 then.
    """

    node_id: int
    layer: int | None
    strength: float
    kind: NodeKind


@dataclass(frozen=True, slots=True)
class Forgotten:
    """A removed node, with the name and hint of the strongest link to it (M15)."""

    node_id: int
    relation: str
    hint: str
    layer: int
    strength: float


class Walk:
    """A breadth-first search: call ``advance`` with the steps from ``frontier`` repeatedly."""

    def __init__(self, focus: Iterable[int]) -> None:
        """Start at the focus points, layer 0."""
        self.layer = 0
        self.reached = {each: Reached(each, 0, 1.0, NodeKind.ENTITY) for each in focus}
        self.forgotten: dict[int, Forgotten] = {}
        self.frontier: tuple[int, ...] = tuple(self.reached)

    def advance(self, steps: Iterable[Step]) -> None:
        """Advance one layer. Among ways of the same length the one of greatest product counts."""
        self.layer += 1
        found: dict[int, tuple[float, NodeKind]] = {}
        for step in steps:
            strength = self.reached[step.origin].strength * step.strength
            if step.kind is None:
                self._add_forgotten(step, strength)
            elif step.neighbour not in self.reached:
                best = found.get(step.neighbour)
                if best is None or strength > best[0]:
                    found[step.neighbour] = strength, step.kind
        for node_id, (strength, kind) in found.items():
            self.reached[node_id] = Reached(node_id, self.layer, strength, kind)
        self.frontier = tuple(found)

    def add_unreached(self, memories: Iterable[int]) -> None:
        """Add memories to which no way leads, behind all others."""
        for each in memories:
            self.reached.setdefault(each, Reached(each, None, 0.0, NodeKind.MEMORY))

    def memories(self, matches: Mapping[int, float] | None) -> list[Reached]:
        """Return reached memories that match (None: all), by layer, strength, match, then id."""

        def order(each: Reached) -> tuple[float, float, float, int]:
            layer = math.inf if each.layer is None else each.layer
            match = matches[each.node_id] if matches is not None else 0.0
            return layer, -each.strength, -match, each.node_id

        reached = (each for each in self.reached.values() if each.kind is NodeKind.MEMORY)
        return sorted(
            (each for each in reached if matches is None or each.node_id in matches), key=order
        )

    def _add_forgotten(self, step: Step, strength: float) -> None:
        known = self.forgotten.get(step.neighbour)
        if known is None or (known.layer, -known.strength) > (self.layer, -strength):
            self.forgotten[step.neighbour] = Forgotten(
                step.neighbour, step.relation, step.hint, self.layer, strength
            )


def in_order(forgotten: Iterable[Forgotten]) -> list[Forgotten]:
    """Return forgotten nodes by layer, strength, then id, as memories are ordered."""
    return sorted(forgotten, key=lambda each: (each.layer, -each.strength, each.node_id))


def mentions(terms: Collection[str], keywords: Iterable[Collection[str]]) -> bool:
    """Return True if a text of these terms has all terms of any keyword."""
    return any(keyword and all(term in terms for term in keyword) for keyword in keywords)


class Miss(StrEnum):  # M23
    """The reason why a recall found nothing."""

    NEVER_KNOWN = "never_known"
    FORGOTTEN = "forgotten"
    PENDING = "pending"  # accepted, not yet in a memory
    OUT_OF_REACH = "out_of_reach"  # remembered, but not within ``depth`` of the focus


def why_nothing(*, pending: bool, out_of_reach: bool, forgotten: bool) -> Miss:
    """Return the most helpful reason: first those that can still lead to a hit."""
    if pending:
        return Miss.PENDING
    if out_of_reach:
        return Miss.OUT_OF_REACH
    return Miss.FORGOTTEN if forgotten else Miss.NEVER_KNOWN


SEPARATOR = "\n---\n"
MEMORY_MARK = {Language.ENGLISH: "[memory] ", Language.CHINESE: "[记忆] "}
_OUT_OF_REACH = {Language.ENGLISH: "(out of reach) ", Language.CHINESE: "（未触及）"}
_UNTIL = {Language.ENGLISH: "(until {}) ", Language.CHINESE: "（至 {} 为止）"}
_FORGOTTEN = {Language.ENGLISH: "[forgotten] {}: {}", Language.CHINESE: "[遗忘] {}：{}"}
_MISS = {
    Language.ENGLISH: {
        Miss.NEVER_KNOWN: "[never known] nothing about this was ever remembered",
        Miss.FORGOTTEN: "[forgotten] this was known once",
        Miss.PENDING: "[pending] messages about this are still being made into memories",
        Miss.OUT_OF_REACH: "[out of reach] remembered, but far from what is talked about now",
    },
    Language.CHINESE: {
        Miss.NEVER_KNOWN: "[从未知晓] 没有与此有关的记忆",
        Miss.FORGOTTEN: "[遗忘] 曾经知道此事",
        Miss.PENDING: "[待处理] 与此有关的消息尚未整理成记忆",
        Miss.OUT_OF_REACH: "[未触及] 记得此事，但离当前话题太远",
    },
}


def memory_entry(
    content: str, language: Language, until: datetime | None = None, *, out_of_reach: bool = False
) -> str:
    """Write a memory for recall's text form, in the memory's own language.

    ``until``: the time since which another memory supersedes it (R6). ``out_of_reach``: it is
    farther from the focus than was asked.
    """
    mark = _OUT_OF_REACH[language] if out_of_reach else ""
    return MEMORY_MARK[language] + mark + until_mark(until, language) + content


def until_mark(until: datetime | None, language: Language) -> str:
    """Return the mark before a text that was valid ``until`` then; "" if it still is (R6)."""
    return "" if until is None else _UNTIL[language].format(until.date().isoformat())


def until_note(until: datetime, language: Language) -> str:
    """Return the note behind a part of a text that was valid ``until`` then (R6)."""
    note = until_mark(until, language).strip()
    return note if language is Language.CHINESE else f" {note}"


def forgotten_entry(relation: str, hint: str) -> str:
    """Write the relation and hint of a forgotten memory, in the language of its hint."""
    return _FORGOTTEN[language_of(hint or relation)].format(relation, hint)


def miss_entry(miss: Miss, language: Language) -> str:
    """Write the reason for a miss, in the language of the question."""
    return _MISS[language][miss]
