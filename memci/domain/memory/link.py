"""Links, what they add up to, and how they fade (M11, M12.3)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from memci.domain.memory.parameters import MemoryParameters

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
