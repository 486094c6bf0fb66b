"""Is one ranking better than another? ``python -m training.compare OURS.json OTHER.json``.

Both files hold ``rows``: for each question its ``id`` and its measures. Prints the difference of
the means in points with its 95 % interval, by a paired bootstrap over questions (Efron and
Tibshirani 1993). An interval without zero is a significant difference.
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

_SAMPLES = 10_000
_MEASURES = ("whole@500t", "whole@1000t", "whole@2000t", "whole@4000t", "recall@10")


class Difference(NamedTuple):
    """A difference of two means, and the ends of its interval."""

    mean: float
    low: float
    high: float


def difference(ours: Sequence[float], other: Sequence[float], seed: int = 1) -> Difference:
    """Return the mean difference of pairs, and its 95 % interval."""
    pairs = np.subtract(ours, other)
    chosen = np.random.default_rng(seed).integers(len(pairs), size=(_SAMPLES, len(pairs)))
    means = pairs[chosen].mean(axis=1)
    return Difference(float(pairs.mean()), *map(float, np.percentile(means, [2.5, 97.5])))


def main() -> None:
    """Print the differences of two files."""
    parser = argparse.ArgumentParser(prog="training.compare", description=__doc__)
    parser.add_argument("ours", type=Path)
    parser.add_argument("other", type=Path)
    given = parser.parse_args()
    ours, other = (
        {row["id"]: row for row in json.loads(path.read_text("utf-8"))["rows"]}
        for path in (given.ours, given.other)
    )
    both = sorted(ours.keys() & other.keys())
    print(f"{len(both)} questions of {given.ours.name} and {given.other.name}")
    for measure in _MEASURES:
        found = difference(
            [ours[each][measure] for each in both], [other[each][measure] for each in both]
        )
        mean, low, high = (100 * each for each in found)
        print(f"{measure:12} {mean:+6.1f}  [{low:+.1f}, {high:+.1f}]")


if __name__ == "__main__":
    main()
