"""Which tier a memory belongs to: a new one (R3), and one whose short term is over (R5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Self, TypeAlias

from memci.domain.memory.node import NodeTier
from memci.domain.memory.parameters import MemoryParameters

# From it on a memory keeps its whole text (M12.5).
_IMPORTANT = 1.0


def tier_of(
    worth: float, received_at: datetime, parameters: MemoryParameters, *, eligible: bool
) -> tuple[NodeTier, datetime | None]:
    """Return the tier of a memory, and when a short one is to be judged anew.

    ``worth``: 0 to 10; ``eligible``: it is for the long term at all. ``received_at``: when the
    newest of its messages came in, aware UTC.
    """
    worthy = eligible and worth >= parameters.long_term_importance_threshold
    if worthy or not parameters.tiered_memory_enabled:
        return NodeTier.LONG, None
    return NodeTier.SHORT, received_at + parameters.short_term


class Promotion(StrEnum):
    """What spoke for a memory."""

    IMPORTANCE = "importance"  # its links hold it: it would not be shortened now
    WORTH = "worth"  # the judge found it worth keeping
    USE = "use"  # it was read


@dataclass(frozen=True, slots=True)
class Judged:
    """What a short-term memory is judged by, once its term is over."""

    node_id: int
    importance: float
    worth: float
    used: bool


def promotion(judged: Judged, parameters: MemoryParameters) -> Promotion | None:
    """Return why a memory is promoted; None: it becomes an ordinary long-term memory.

    Both decay alike from here on, and neither is deleted: a promotion is a note of what spoke for
    it, for people and programs to look at.
    """
    if judged.worth >= parameters.long_term_importance_threshold:
        return Promotion.WORTH
    if judged.used:
        return Promotion.USE
    return Promotion.IMPORTANCE if judged.importance >= _IMPORTANT else None


# Messages, and where in them the text lies (span.py): () is all of it.
Source: TypeAlias = tuple[tuple[int, ...], tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class Settled:
    """That the short term of a memory ended: what it was made of, and what spoke for it."""

    source: Source
    reason: Promotion | None

    @classmethod
    def read(cls, entry: Sequence[Any]) -> Self:
        """Return one from the replay log."""
        seqs, span, reason = entry
        return cls((tuple(seqs), tuple(span)), reason and Promotion(reason))

    def written(self) -> list[Any]:
        """Return it for the replay log, in numbers."""
        return [*self.source, self.reason]
