"""What segments are worth, and how long they are meant to last (R3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from memci.domain.memory.creation import AnnotatedSegment
from memci.domain.memory.parameters import MemoryParameters
from memci.domain.memory.tier import tier_of
from memci.smallmodel.ports import Annotation

_HIGHEST = 10.0


def worth_of(annotation: Annotation) -> float:
    """Return how much a segment is worth keeping, 0 to 10, as its annotation says."""
    return min(max(annotation.worth, 0.0), _HIGHEST)


def tiered(
    segments: Sequence[AnnotatedSegment],
    received: Mapping[int, datetime],
    parameters: MemoryParameters,
) -> list[AnnotatedSegment]:
    """Put each segment into its tier; ``received``: when messages came in, by seq."""
    placed = []
    for segment in segments:
        newest = max(received[seq] for seq in segment.seqs)
        tier, expires_at = tier_of(segment.worth, newest, parameters)
        placed.append(replace(segment, tier=tier, expires_at=expires_at))
    return placed
