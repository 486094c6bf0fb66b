"""A plot of how the memories of an agent fade: strength, importance and length over passes.

Imports matplotlib, so this module is imported only to draw.
"""

from collections import Counter
from collections.abc import Sequence
from io import BytesIO
from math import ceil
from statistics import median
from typing import Any

import numpy as np
from matplotlib import colormaps, rc_context
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, fontManager, get_font
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator, NullLocator
from numpy.typing import NDArray

from memci.cli.output import shortened
from memci.domain.memory.node import RemovalReason
from memci.schemas.network import FadingAnswer, FadingMemory


def shares_of(memory: FadingMemory) -> list[float | None]:
    """Return a memory's lengths as shares of the original."""
    whole = max(1, memory.original_length)
    return [None if each is None else each / whole for each in memory.lengths]


def last_seen(line: Sequence[float | None]) -> int:
    """Return the index at which a memory was seen last."""
    return max(at for at, each in enumerate(line) if each is not None)


def end_of(numbers: Sequence[int], line: Sequence[float | None]) -> int:
    """Return the first drawn pass in which a memory was no longer seen."""
    return numbers[min(last_seen(line) + 1, len(numbers) - 1)]


def ticks_up_to(highest: float) -> list[float]:
    """Return ticks for a scale of square roots from 0, the last of them at or above ``highest``.

    They are squares, which have equal distances on that scale.
    """
    roots = max(2, ceil(2 * highest**0.5))
    step = ceil(roots / 10)
    return [(each / 2) ** 2 for each in range(0, roots + step, step)]


def switches_in(fading: FadingAnswer) -> list[int]:
    """Return the drawn passes after which the network was switched to a rebuilt one."""
    first, last = fading.passes[0].number, fading.passes[-1].number
    return [each for each in fading.switched_after if first <= each <= last]


def removal_counts(fading: FadingAnswer) -> dict[RemovalReason, int]:
    """Return the numbers of removed memories by reason; forgotten is always included."""
    gone = Counter(each.removal_reason for each in fading.memories if each.removal_reason)
    del gone[RemovalReason.SWITCHED]
    shown = (each for each in RemovalReason if gone[each] or each is RemovalReason.FORGOTTEN)
    return {each: gone[each] for each in shown}


def medians(lines: Sequence[Sequence[float | None]]) -> list[float]:
    """Return the median over all memories made up to each pass; nan before the first.

    Forgotten memories count as 0, so that forgetting does not raise the median.
    """
    born = [next(at for at, each in enumerate(line) if each is not None) for line in lines]
    columns = [
        [value or 0.0 for value, first in zip(column, born, strict=True) if first <= at]
        for at, column in enumerate(zip(*lines, strict=True))
    ]
    return [median(column) if column else float("nan") for column in columns]


# Common fonts with Chinese characters.
_CHINESE_FONTS = (
    "Noto Sans CJK SC",
    "Noto Sans CJK JP",
    "Noto Sans SC",
    "Source Han Sans SC",
    "Source Han Sans CN",
    "WenQuanYi Micro Hei",
    "WenQuanYi Zen Hei",
    "Droid Sans Fallback",
    "PingFang SC",
    "Microsoft YaHei",
    "SimHei",
)


class Fonts:
    """matplotlib's own font, then the installed fonts with Chinese characters."""

    def __init__(self) -> None:
        """Find the installed fonts."""
        installed = {font.name for font in fontManager.ttflist}
        self.families = ["DejaVu Sans", *(name for name in _CHINESE_FONTS if name in installed)]
        self._fonts = [get_font(findfont(FontProperties(family=each))) for each in self.families]

    def can_draw(self, text: str) -> bool:
        """Return True if the fonts have a glyph for every character."""
        return all(
            any(font.get_char_index(ord(character)) for font in self._fonts) for character in text
        )


_SIZE_INCHES = (10.0, 10.0)
_DPI = 140
# Up to this number, lines are named.
_NAMED = 12
_NAME = 28
_MEDIAN = "median, forgotten ones as 0"
_COLORS = colormaps["turbo"]
# Steps of the golden ratio keep neighbouring colors apart.
_HUE_STEP = (5**0.5 - 1) / 2
_BAND, _BOLD, _GONE, _COUNT = "tab:blue", "black", "tab:red", "tab:orange"
_SWITCH = "tab:purple"
_SWITCHED = "switched to a rebuilt network: only its memories are drawn"


def plot(fading: FadingAnswer, suffix: str) -> bytes:
    """Return the plot as a png, svg or pdf file; requires at least one pass."""
    fonts = Fonts()
    style: dict[Any, Any] = {
        "font.family": fonts.families,
        # Phrases may contain dollar signs.
        "text.parse_math": False,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "grid.alpha": 0.25,
    }
    with rc_context(style):
        figure = Figure(figsize=_SIZE_INCHES, layout="constrained")
        strengths, importances, lengths = figure.subplots(3, 1, sharex=True)
        _draw_strengths(strengths, fading)
        _draw_importances(importances, fading)
        _draw_lengths(lengths, fading, fonts)
        _draw_switches([strengths, importances, lengths], fading)
        figure.suptitle(_title(fading))
        drawn = BytesIO()
        figure.savefig(drawn, format=suffix, dpi=_DPI)
    return drawn.getvalue()


def _title(fading: FadingAnswer) -> str:
    count = len(fading.memories)
    drawn = f"{count} of {count + fading.left_out}" if fading.left_out else f"{count}"
    first, last = fading.passes[0].number, fading.passes[-1].number
    gone = "".join(f", {count} {reason}" for reason, count in removal_counts(fading).items())
    title = f"{fading.agent_id}: {drawn} memories{gone}, passes {first} to {last}"
    rebuilt = switches_in(fading)
    return f"{title}, rebuilt after pass {rebuilt[-1]}" if rebuilt else title


def _draw_switches(panels: Sequence[Axes], fading: FadingAnswer) -> None:
    """Draw a line at each switch to a rebuilt network (M24)."""
    for number in switches_in(fading):
        for axes in panels:
            axes.axvline(number + 0.5, color=_SWITCH, linestyle="-.", linewidth=1)


def _draw_strengths(axes: Axes, fading: FadingAnswer) -> None:
    seen = [each for each in fading.passes if each.strengths.quantiles]
    numbers = [each.number for each in seen]
    lowest, tenth, quarter, middle, third, ninetieth, highest = (
        [each.strengths.quantiles[place] for each in seen] for place in range(7)
    )
    for low, high, alpha, share in (
        (lowest, highest, 0.10, "all"),
        (tenth, ninetieth, 0.18, "80 %"),
        (quarter, third, 0.30, "half"),
    ):
        axes.fill_between(
            numbers, low, high, color=_BAND, alpha=alpha, linewidth=0, label=f"{share} of the links"
        )
    axes.plot(numbers, middle, color=_BOLD, linewidth=2, label="median")
    axes.set(ylabel="strength of links", ylim=(0, 1.03))
    # The median may jump when weak links break, so the number of links is drawn too.
    links_axes = axes.twinx()
    links_axes.plot(
        [each.number for each in fading.passes],
        [each.strengths.links for each in fading.passes],
        color=_COUNT, linestyle=":", linewidth=1.5,
    )  # fmt: skip
    links_axes.set_ylabel("links", color=_COUNT)
    links_axes.set_ylim(bottom=0)
    links_axes.grid(visible=False)
    links_axes.spines.right.set_visible(True)
    count = Line2D([], [], color=_COUNT, linestyle=":", linewidth=1.5, label="number of links")
    _explain(axes, [*axes.get_legend_handles_labels()[0], count])


def _draw_importances(axes: Axes, fading: FadingAnswer) -> None:
    _draw_lines(axes, fading, [each.importances for each in fading.memories])
    axes.axhline(1, color=_GONE, linestyle="--", linewidth=1)
    # Memories below 1 fade; square roots enlarge that range without a kink.
    axes.set_yscale("function", functions=(_root, np.square))
    drawn = (each or 0.0 for memory in fading.memories for each in memory.importances)
    ticks = ticks_up_to(max([1.0, *drawn]))
    axes.set_yticks(ticks)
    axes.yaxis.set_minor_locator(NullLocator())
    axes.set_ylim(0, ticks[-1])
    axes.yaxis.set_major_formatter("{x:g}")
    axes.set_ylabel("importance (square-root scale)")
    fades = Line2D([], [], color=_GONE, linestyle="--", label="below it content fades")
    switched = Line2D([], [], color=_SWITCH, linestyle="-.", label=_SWITCHED)
    median = Line2D([], [], color=_BOLD, linewidth=2, label=_MEDIAN)
    _explain(axes, [median, fades, *([switched] if switches_in(fading) else [])])


def _draw_lengths(axes: Axes, fading: FadingAnswer, fonts: Fonts) -> None:
    shares = [shares_of(each) for each in fading.memories]
    _draw_lines(axes, fading, shares)
    numbers = [each.number for each in fading.passes]
    ends = [
        (end_of(numbers, seen), seen[last_seen(seen)] or 0.0)
        for memory, seen in zip(fading.memories, shares, strict=True)
        if memory.forgotten
    ]
    axes.plot([x for x, _ in ends], [y for _, y in ends], "x", color=_GONE, markersize=5)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    axes.set(xlabel="pass", ylabel="length, share of the original", ylim=(0, 1.05))
    axes.yaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    forgotten = Line2D([], [], color=_GONE, marker="x", linestyle="", label="forgotten")
    _explain(axes, [Line2D([], [], color=_BOLD, linewidth=2, label=_MEDIAN), forgotten])
    if len(fading.memories) <= _NAMED:
        _name_lines(axes, fading, fonts)


def _explain(axes: Axes, handles: Sequence[Artist]) -> None:
    axes.legend(
        handles=handles, loc="lower right", bbox_to_anchor=(1, 1), borderaxespad=0.2,
        fontsize="small", ncols=len(handles), frameon=False,
    )  # fmt: skip


def _draw_lines(axes: Axes, fading: FadingAnswer, lines: Sequence[Sequence[float | None]]) -> None:
    """Draw a faint line for each memory, and their median.

    The line of a forgotten memory continues, level, to the pass that forgot it.
    """
    numbers = [each.number for each in fading.passes]
    many = len(lines) > _NAMED
    for place, line in enumerate(lines):
        seen = [float("nan") if each is None else each for each in line]
        last = last_seen(line)
        if fading.memories[place].forgotten and last + 1 < len(seen):
            seen[last + 1] = seen[last]
        axes.plot(
            numbers,
            seen,
            color=_color(place),
            alpha=max(0.2, min(0.9, 25 / len(lines))),
            linewidth=0.8 if many else 1.4,
            # A memory that was seen once is a point.
            marker=None if many and sum(each is not None for each in line) > 1 else ".",
            markersize=3,
        )
    if lines:
        axes.plot(numbers, medians(lines), color=_BOLD, linewidth=2)


def _name_lines(axes: Axes, fading: FadingAnswer, fonts: Fonts) -> None:
    handles = [
        Line2D([], [], color=_color(place), label=_name(memory, fonts))
        for place, memory in enumerate(fading.memories)
    ]
    axes.figure.legend(handles=handles, loc="outside lower center", fontsize="small", ncols=3)


def _name(memory: FadingMemory, fonts: Fonts) -> str:
    """Return id and phrase; the id alone if the fonts cannot draw the phrase."""
    if memory.phrase is None:
        return f"#{memory.id} ({memory.removal_reason or 'gone'})"
    phrase = shortened(memory.phrase, _NAME)
    return f"#{memory.id} {phrase}" if fonts.can_draw(phrase) else f"#{memory.id}"


def _color(place: int) -> tuple[float, float, float, float]:
    return _COLORS(0.05 + 0.9 * (place * _HUE_STEP % 1))


def _root(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.sqrt(np.maximum(values, 0))
