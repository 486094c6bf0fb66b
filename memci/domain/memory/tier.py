"""What becomes of a short-term memory when its session ends or its time is over (R5)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from memci.domain.memory.parameters import MemoryParameters

# From it on a memory keeps its whole text (M12.5).
_IMPORTANT = 1.0


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
