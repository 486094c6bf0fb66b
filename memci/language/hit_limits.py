"""How many hits a question gets (R10).

This module stands apart, so that parameters can be read without the rules of language.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class HitLimits:
    """How many hits a question gets: ``least`` up to ``threshold``, then linearly to ``most``."""

    least: int = 3
    most: int = 15
    threshold: float = 0.5  # of complexity, 0 to 1

    def k(self, complexity: float) -> int:
        """Return how many hits each source offers for a question of such complexity, 0 to 1."""
        most = max(self.least, self.most)
        if complexity <= self.threshold:
            return most if self.threshold >= 1 <= complexity else self.least
        share = (complexity - self.threshold) / (1 - self.threshold)
        return self.least + round(share * (most - self.least))
