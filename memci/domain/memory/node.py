"""Kinds of nodes, links and relations, and how links fade (M6, M11, M12.3, M14)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from memci.domain.memory.parameters import MemoryParameters
from memci.language.detection import Language


class NodeKind(StrEnum):
    """What a node stands for."""

    MEMORY = "memory"  # a cut of conversation
    ENTITY = "entity"  # a thing that conversations are about; its content is its name


class NodeType(StrEnum):
    """What a memory tells (R4)."""

    EPISODIC = "episodic"  # what happened
    SEMANTIC = "semantic"  # what is so
    PROCEDURAL = "procedural"  # how to


class NodeTier(StrEnum):
    """How long a memory is meant to last (R3, R5). Both decay alike; no tier deletes anything."""

    SHORT = "short"  # of its session, until that ends or its time is over; then it is judged anew
    LONG = "long"


class Fate(StrEnum):
    """Why a node is no longer there: what happened to it last."""

    FORGOTTEN = "forgotten"
    RESTORED = "restored"  # forgotten, and another node was made of the same
    MERGED = "merged"  # another stands for it and others (R5)
    ERASED = "erased"  # with messages that it was made of
    SWITCHED = "switched"  # with its network, whose place a rebuilt one took


class NodeEvent(StrEnum):
    """What can happen to a node; its history keeps details of each event."""

    CREATED = "created"  # job, messages, passages of them (passage.py), or kind, of an entity;
    # from: the memories that were merged into it
    COMPRESSED = "compressed"  # from, to: characters
    FORGOTTEN = "forgotten"  # reason; tier: as it was at the end
    RESTORED = "restored"  # as: of the forgotten node, the new one; of: the other way round
    MERGED = "merged"  # into: the memory that stands for it and others
    PROMOTED = "promoted"  # reason: what spoke for it at the end of its short term
    SETTLED = "settled"  # its short term is over, and nothing spoke for it
    SUPERSEDED = "superseded"  # by: the memory that says otherwise
    USED = "used"  # receipts, times
    ERASED = "erased"


class VersionReason(StrEnum):
    """Why another memory took the place of one that is kept as it was."""

    MERGED = "merged"
    SUPERSEDED = "superseded"


LOCKED = 1.0  # strength of every link at a focus point (M10)

# Breaks in any case: numbers do not get smaller for ever, and the database refuses those too small.
FAINTEST = 1e-100


@dataclass(frozen=True, slots=True)
class Link:
    """A directed, named link; it belongs to its source, and its target may be gone.

    ``hint`` is the target's phrase when the link was made.
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


def decayed(strength: float, parameters: MemoryParameters) -> float | None:
    """Return what one scan leaves of an unlocked link's strength; None: it breaks (M12.3)."""
    left = max(strength, FAINTEST) * fading(parameters)
    return None if left < breaking_point(parameters) else left


def fading(parameters: MemoryParameters) -> float:
    """Return what one scan multiplies a strength by."""
    return max(parameters.decay_rate, FAINTEST)


def breaking_point(parameters: MemoryParameters) -> float:
    """Return the strength below which a link breaks."""
    return max(parameters.link_break_threshold, FAINTEST)


# A node that has lost more than this of its content no longer bears out what its links say.
_FADED = 0.2


@dataclass(frozen=True, slots=True)
class RelationNames:
    """What the fixed relations are called in one language (M7, M8)."""

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
    """Tell whether links at a node of ``length`` characters get the generic name (M12.6)."""
    return length < _FADED * original_length
