"""How many answers a question deserves (R10)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Bounds:
    """How many hits a question may have: ``least`` up to ``threshold``, then in a line to ``most``.

    ``threshold``: complexity, 0 to 1.
    """

    least: int = 3
    most: int = 15
    threshold: float = 0.5

    def k(self, complexity: float) -> int:
        """Return how many hits each source offers for a question of such complexity, 0 to 1."""
        most = max(self.least, self.most)
        if complexity <= self.threshold:
            return most if self.threshold >= 1 <= complexity else self.least
        share = (complexity - self.threshold) / (1 - self.threshold)
        return self.least + round(share * (most - self.least))
