"""Numbers of charts that templates draw as SVG."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple


class Bar(NamedTuple):
    """A part of a bar: its name, value, and place in percent."""

    name: str
    value: float
    left: float
    width: float


def bar(values: Mapping[str, float], whole: float) -> list[Bar]:
    """Return the parts of a bar, one after the other; ``whole`` is 100 %, or all parts are."""
    whole = max(whole, sum(values.values()), 1)
    parts, left = [], 0.0
    for name, value in values.items():
        parts.append(Bar(name, value, round(left, 3), round(100 * value / whole, 3)))
        left += 100 * value / whole
    return parts


def line(values: Sequence[float], *, highest: float) -> str:
    """Return the points of a line in a field of 100 by 100, from the left to the right."""
    values = [*values, *values] if len(values) == 1 else values
    step = 100 / max(1, len(values) - 1)
    top = max(highest, *values, 1e-9) if values else 1
    return " ".join(
        f"{place * step:.2f},{100 - 100 * each / top:.2f}" for place, each in enumerate(values)
    )
