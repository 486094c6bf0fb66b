"""What is drawn of memories over passes; None: it was not there. Each was there at least once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import median

from memci.shapes.network import FadingAnswer, FadingMemory, Fate


def shares_of(memory: FadingMemory) -> list[float | None]:
    """Return a memory's lengths as shares of the original."""
    whole = max(1, memory.original_length)
    return [None if each is None else each / whole for each in memory.lengths]


def last_seen(line: Sequence[float | None]) -> int:
    """Return the place where a memory was seen last."""
    return max(at for at, each in enumerate(line) if each is not None)


def sights_in(line: Sequence[float | None]) -> int:
    """Return how often a memory was seen."""
    return sum(each is not None for each in line)


def switches_in(fading: FadingAnswer) -> list[int]:
    """Return the passes, among those that are drawn, after which the network was another one."""
    first, last = fading.passes[0].number, fading.passes[-1].number
    return [each for each in fading.switched_after if first <= each <= last]


def gone_in(fading: FadingAnswer) -> dict[Fate, int]:
    """Return how many memories are gone, by what became of them; of forgotten ones also none."""
    gone = Counter(each.gone for each in fading.memories if each.gone)
    told = (Fate.FORGOTTEN, Fate.RESTORED, Fate.MERGED, Fate.ERASED)
    return {fate: gone[fate] for fate in told if gone[fate] or fate is Fate.FORGOTTEN}


def medians(lines: Sequence[Sequence[float | None]]) -> list[float]:
    """Return at each place the median of all that was made so far; nan before the first.

    What is forgotten counts as 0: else the median would rise whenever something is.
    """
    born = [next(at for at, each in enumerate(line) if each is not None) for line in lines]
    columns = [
        [value or 0.0 for value, first in zip(column, born, strict=True) if first <= at]
        for at, column in enumerate(zip(*lines, strict=True))
    ]
    return [median(column) if column else float("nan") for column in columns]
