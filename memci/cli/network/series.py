"""What is drawn of memories over passes; None: it was not there. Each was there at least once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import count
from statistics import median

from memci.shapes.network import FadingAnswer, FadingMemory, Fate

# Of the height of the panel.
_NEAREST_TICKS = 0.07


def shares_of(memory: FadingMemory) -> list[float | None]:
    """Return a memory's lengths as shares of the original."""
    whole = max(1, memory.original_length)
    return [None if each is None else each / whole for each in memory.lengths]


def last_seen(line: Sequence[float | None]) -> int:
    """Return the place where a memory was seen last."""
    return max(at for at, each in enumerate(line) if each is not None)


def end_of(numbers: Sequence[int], line: Sequence[float | None]) -> int:
    """Return the pass that ended a memory: the first, of those drawn, in which it was not seen."""
    return numbers[min(last_seen(line) + 1, len(numbers) - 1)]


def ticks_up_to(highest: float) -> list[float]:
    """Return ticks for a scale of square roots from 0, the last of them at or above ``highest``.

    They are round numbers, none nearer to the next than lets both be read.
    """
    top = next(each for each in _round_numbers() if each >= highest)
    ticks = [0.0]
    for each in _round_numbers():
        if each >= top:
            break
        near = min(each**0.5 - ticks[-1] ** 0.5, top**0.5 - each**0.5)
        if near >= _NEAREST_TICKS * top**0.5:
            ticks.append(each)
    return [*ticks, top]


def _round_numbers() -> Iterator[float]:
    yield from (0.25, 0.5)
    for power in count():
        yield from (digit * 10.0**power for digit in (1, 2, 3, 5, 7))


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
