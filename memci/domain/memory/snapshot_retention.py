"""Which snapshots of a network are kept: the newest densely, older ones ever more sparsely."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

# What the snapshots of one agent may weigh, unless it is set.
SNAPSHOT_BYTES = 4 * 1024 * 1024
# Each attempt lets go of at most about a fifth more than the one before.
_COARSER = 1.25


def kept_snapshots(weights: Mapping[int, int], budget: int) -> list[int]:
    """Return the passes whose snapshots stay, ascending, so that they weigh at most ``budget``.

    ``weights`` are bytes by pass. Distances between neighbours grow in proportion to their age,
    so a history of any length is covered from its first snapshot to its newest. The newest always
    stays, whatever it weighs; the first does as long as both fit.
    """
    passes = sorted(weights)
    if len(passes) <= 1 or sum(weights.values()) <= budget:
        return passes
    ratio = 1 / (passes[-1] - passes[0])
    while ratio <= 1:
        kept = _spaced(passes, ratio)
        if sum(weights[each] for each in kept) <= budget:
            return kept
        ratio *= _COARSER
    ends = [passes[0], passes[-1]]
    return ends if sum(weights[each] for each in ends) <= budget else ends[1:]


def _spaced(passes: Sequence[int], ratio: float) -> list[int]:
    """Return first and last, and those between that lie ``ratio`` of their age before the next."""
    oldest, newest = passes[0], passes[-1]
    kept = [newest]
    for each in reversed(passes[1:-1]):
        if kept[-1] - each >= ratio * (newest - each):
            kept.append(each)
    if len(kept) > 1 and kept[-1] - oldest < ratio * (newest - oldest):
        kept.pop()
    return [oldest, *reversed(kept)]
