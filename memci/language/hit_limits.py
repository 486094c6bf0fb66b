"""The number of hits for a question (R10).

A module of its own, so that parameters can be read without the rules of language.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class HitLimits:
    """The number of hits: ``least`` up to ``threshold``, then linear to ``most``."""

    least: int = 3
    most: int = 15
    threshold: float = 0.5  # of complexity, 0 to 1

    def k(self, complexity: float) -> int:
        """Return the number of hits of each source for a question's complexity, 0 to 1."""
        most = max(self.least, self.most)
        if complexity <= self.threshold:
            return most if self.threshold >= 1 <= complexity else self.least
        share = (complexity - self.threshold) / (1 - self.threshold)
        return self.least + round(share * (most - self.least))
