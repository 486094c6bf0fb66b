"""Nodes, links and relations; decay of links, tiers of memories (M6, M11, M12.3, R3, R5)."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Self, TypeAlias

from memci.domain.memory.parameters import MemoryParameters
from memci.language.detection import Language


class NodeKind(StrEnum):
    """The kind of a node."""

    MEMORY = "memory"  # a topic segment of a conversation
    ENTITY = "entity"  # a thing that conversations are about; its content is its name


class NodeType(StrEnum):
    """The type of a memory's content."""  # R4

    EPISODIC = "episodic"  # an event
    SEMANTIC = "semantic"  # a fact
    PROCEDURAL = "procedural"  # how to do something


class NodeTier(StrEnum):
    """The intended lifetime of a memory (R3, R5). Both tiers decay alike and delete nothing."""

    SHORT = "short"  # until its session or its term ends; then it is judged again
    LONG = "long"


class RemovalReason(StrEnum):
    """The reason why a node was removed: the last event of its history."""

    FORGOTTEN = "forgotten"
    RESTORED = "restored"  # forgotten, then restored as another node
    MERGED = "merged"  # into another node (R5)
    ERASED = "erased"  # with its messages
    CORRECTED = "corrected"  # a person replaced it by another memory
    DELETED = "deleted"  # by a person; its messages stay
    SWITCHED = "switched"  # a rebuilt network replaced its network


class NodeEvent(StrEnum):
    """The events of a node; its history keeps the details of each."""

    CREATED = "created"  # job, messages, passages of them (passage.py), or kind, of an entity;
    # from: the memories that were merged into it
    COMPRESSED = "compressed"  # from, to: characters
    FORGOTTEN = "forgotten"  # reason; tier: as it was at the end
    RESTORED = "restored"  # as: the new node; of: the forgotten one
    MERGED = "merged"  # into: the merged memory
    PROMOTED = "promoted"  # reason: a Promotion
    SETTLED = "settled"  # its short term ended without a promotion
    SUPERSEDED = "superseded"  # by: the newer memory
    USED = "used"  # receipts, times
    EDITED = "edited"  # pinned, type, worth: those that a person set
    CORRECTED = "corrected"  # seq: of the message with the text that replaces it
    DELETED = "deleted"
    ERASED = "erased"


class VersionReason(StrEnum):
    """The reason why another memory replaced one that is kept unchanged."""

    MERGED = "merged"
    SUPERSEDED = "superseded"
    CORRECTED = "corrected"  # replaced by itself until the memory with the new text is made


LOCKED = 1.0  # strength of every link at a focus point (M10)

# A weaker link always breaks: the database refuses smaller numbers.
MIN_STRENGTH = 1e-100


@dataclass(frozen=True, slots=True)
class Link:
    """A directed, named link; it belongs to its source, and its target may be removed.

    ``hint`` is the target's phrase as it was last (M15).
    """

    source: int
    target: int
    relation: str
    strength: float
    hint: str


def importance(strengths: Iterable[float]) -> float:
    """Add up the strengths of a node's links to living nodes (M11).

    The sum is exact, so that it does not depend on the order of links.
    """
    return math.fsum(strengths)


def decay_factor(parameters: MemoryParameters) -> float:
    """Return the factor by which one scan multiplies a strength."""
    return max(parameters.decay_rate, MIN_STRENGTH)


def break_threshold(parameters: MemoryParameters) -> float:
    """Return the strength below which a link breaks."""
    return max(parameters.link_break_threshold, MIN_STRENGTH)


# With less than this share of its content, a node no longer supports the relations of its links.
_FADED = 0.2


@dataclass(frozen=True, slots=True)
class RelationNames:
    """Names of the fixed relations in one language (M7, M8)."""

    next: str
    previous: str
    related: str  # also the generic one


_NAMES = {
    Language.ENGLISH: RelationNames("next", "previous", "related"),
    Language.CHINESE: RelationNames("下文", "上文", "相关"),
}


def relation_names(language: Language) -> RelationNames:
    """Return the names in a language."""
    return _NAMES[language]


def is_generic(length: int, original_length: int) -> bool:
    """Return True if links of a node of ``length`` characters get the generic name (M12.6)."""
    return length < _FADED * original_length


# At this importance compression keeps the whole text of a memory (M12.5).
_IMPORTANT = 1.0


def tier_of(
    worth: float, received_at: datetime, parameters: MemoryParameters, *, eligible: bool
) -> tuple[NodeTier, datetime | None]:
    """Return the tier of a new memory, and the end of its short term (R3).

    ``worth``: 0 to 10. ``eligible``: the memory may be long-term. ``received_at``: the receipt of
    its newest message, aware UTC.
    """
    worthy = eligible and worth >= parameters.long_term_importance_threshold
    if worthy or not parameters.tiered_memory_enabled:
        return NodeTier.LONG, None
    return NodeTier.SHORT, received_at + parameters.short_term


class Promotion(StrEnum):
    """The reason for a promotion at the end of the short term (R5)."""

    IMPORTANCE = "importance"  # its links: compression would not shorten it now
    WORTH = "worth"  # the judge found it worth keeping
    USE = "use"  # it was read


@dataclass(frozen=True, slots=True)
class DueMemory:
    """A short-term memory at the end of its term."""

    node_id: int
    importance: float
    worth: float
    used: bool


def promotion(memory: DueMemory, parameters: MemoryParameters) -> Promotion | None:
    """Return the reason to promote a memory; None: it becomes an ordinary long-term memory.

    Both decay alike afterwards; a promotion is only displayed.
    """
    if memory.worth >= parameters.long_term_importance_threshold:
        return Promotion.WORTH
    if memory.used:
        return Promotion.USE
    return Promotion.IMPORTANCE if memory.importance >= _IMPORTANT else None


# Messages, and the span of the text in them (passage.py): () is all of it.
Source: TypeAlias = tuple[tuple[int, ...], tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class EndedTerm:
    """The end of a memory's short term, as the replay log keeps it."""

    source: Source
    reason: Promotion | None

    @classmethod
    def read(cls, entry: Sequence[Any]) -> Self:
        """Parse an entry of the replay log."""
        seqs, span, reason = entry
        return cls((tuple(seqs), tuple(span)), reason and Promotion(reason))

    def written(self) -> list[Any]:
        """Return the entry for the replay log."""
        return [*self.source, self.reason]
