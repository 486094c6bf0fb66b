"""Compares two things on a busy machine: alternating runs, medians and spread."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from statistics import median
from typing import TypeVar

from benchmarks.report import Bar, Finding

T = TypeVar("T")


class Size(Enum):
    """How much a part measures."""

    TINY = "tiny"  # only shows that it works
    QUICK = "quick"
    FULL = "full"

    def pick(self, tiny: T, quick: T, full: T) -> T:
        """Return the value for this size."""
        return {Size.TINY: tiny, Size.QUICK: quick, Size.FULL: full}[self]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Rates or times of two things; the n-th runs of both followed each other."""

    ours: Sequence[float]
    baseline: Sequence[float]

    @property
    def ratios(self) -> list[float]:
        """Ours ÷ baseline for each pair of neighbouring runs: a slow minute slows both."""
        return [a / b for a, b in zip(self.ours, self.baseline, strict=True)]

    def finding(
        self, name: str, unit: str, against: str, bar: Bar | None = None, note: str = ""
    ) -> Finding:
        """Return the medians as a line of the report."""
        return Finding(
            name,
            median(self.ours),
            unit,
            baseline=median(self.baseline),
            against=against,
            ratio=median(self.ratios),
            low=min(self.ratios),
            high=max(self.ratios),
            bar=bar,
            note=note,
        )


def alternate(
    ours: Callable[[], float], baseline: Callable[[], float], runs: int, what: str
) -> Comparison:
    """Measure both ``runs`` times, in alternating order."""
    mine: list[float] = []
    theirs: list[float] = []
    for run in range(runs):
        for is_ours in (True, False) if run % 2 else (False, True):
            (mine if is_ours else theirs).append((ours if is_ours else baseline)())
        say(f"{what}, run {run + 1} of {runs}: {mine[-1]:,.1f} against {theirs[-1]:,.1f}")
    return Comparison(mine, theirs)


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value that ``share`` (0 to 1) of the values do not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def say(text: str) -> None:
    """Print progress to standard error; only the report goes to standard output."""
    print(f"  {text}", file=sys.stderr, flush=True)
