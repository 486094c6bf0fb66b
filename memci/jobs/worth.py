"""What segments are worth, and how long they are meant to last (R3)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from memci.domain.memory.creation import AnnotatedSegment
from memci.domain.memory.node import NodeTier
from memci.domain.memory.parameters import MemoryParameters
from memci.domain.memory.tier import tier_of
from memci.smallmodel.ports import Judgement

_HIGHEST = 10.0


def tiered(
    segments: Sequence[AnnotatedSegment],
    judgements: Sequence[Judgement],
    received: Mapping[int, datetime],
    parameters: MemoryParameters,
    lasting: Collection[int] = (),
) -> list[AnnotatedSegment]:
    """Put each segment into its tier, with its worth; what the judge answers is cut to its limits.

    ``received``: when messages came in, by seq. What was made of ``lasting`` ones alone is meant to
    last, whatever the judge says.
    """
    placed = []
    for segment, judgement in zip(segments, judgements, strict=True):
        newest = max(received[seq] for seq in segment.seqs)
        # In this order a worth that is no number is none.
        worth = min(max(0.0, judgement.worth), _HIGHEST)
        tier, expires_at = tier_of(worth, newest, parameters, eligible=judgement.eligible)
        if set(segment.seqs).issubset(lasting):
            tier, expires_at = NodeTier.LONG, None
        placed.append(replace(segment, worth=worth, tier=tier, expires_at=expires_at))
    return placed
