"""Which older memories a new one resembles (M8); vectors stay outside, numbers come in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memci.domain.memory.parameters import MemoryParameters


@dataclass(frozen=True, slots=True)
class Likeness:
    """Cosines of the segments of one job; only the best of each need be there.

    ``older[i]`` maps nodes from before the job to their cosine with segment i; ``within[i]`` maps
    segments j < i of the job to theirs.
    """

    older: Sequence[Mapping[int, float]]
    within: Sequence[Mapping[int, float]]

    def relatives(
        self, index: int, made: Mapping[int, int], parameters: MemoryParameters
    ) -> list[int]:
        """Return the nodes more similar to segment ``index`` than the threshold, best first.

        ``made`` maps earlier segments of the job to their nodes.
        """
        cosines = dict(self.older[index])
        cosines |= {made[j]: cosine for j, cosine in self.within[index].items() if j in made}
        similar = [node for node in cosines if cosines[node] > parameters.related_threshold]
        return sorted(similar, key=lambda node: (-cosines[node], node))
