"""Sums of small decision trees, as LightGBM trains them, for many rows at once (R11).

Each node that a row fails rules out the leaves on its left side; the first leaf that is left is the
row's (QuickScorer, Lucchese and others 2015). The nodes of a feature are sorted by threshold, so
those that a value fails are the first ones: what they leave of each tree is known beforehand.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

MOST_LEAVES = 16

_ALL = np.uint16((1 << MOST_LEAVES) - 1)
# The place of the lowest bit that is set.
_LOWEST_BIT = np.array(
    [max((n & -n).bit_length() - 1, 0) for n in range(1 << MOST_LEAVES)], dtype=np.intp
)


@dataclass(frozen=True, slots=True)
class _Nodes:
    """The nodes of one feature, by threshold."""

    column: int
    thresholds: npt.NDArray[np.float32]
    # Leaves of each tree that are left above the first n thresholds, shape (n + 1, trees).
    left: npt.NDArray[np.uint16]


@dataclass(frozen=True, slots=True)
class BoostedTrees:
    """Trees of at most 16 leaves."""

    features: Sequence[str]  # names of the columns that the trees were trained on
    nodes: Sequence[_Nodes]
    leaves: npt.NDArray[np.float32]  # shape (trees, 16)

    @classmethod
    def read(cls, text: str) -> "BoostedTrees":
        """Read a model file. Raises ``ValueError`` or ``KeyError`` if it is none."""
        model: Mapping[str, Any] = json.loads(text)
        columns = np.array(model["columns"], dtype=np.intp)
        thresholds = np.array(model["thresholds"], dtype=np.float32)
        masks = np.array(model["masks"], dtype=np.uint16)
        nodes = []
        for column in np.unique(columns):
            trees, places = np.nonzero(columns == column)
            order = np.argsort(thresholds[trees, places], kind="stable")
            trees, places = trees[order], places[order]
            steps = np.full((len(order) + 1, len(columns)), _ALL)
            steps[np.arange(1, len(order) + 1), trees] = masks[trees, places]
            left = np.bitwise_and.accumulate(steps, axis=0)
            nodes.append(_Nodes(int(column), thresholds[trees, places], left))
        return cls(tuple(model["features"]), nodes, np.array(model["leaves"], dtype=np.float32))

    def predict(self, rows: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """Return the sum of the trees for each row of features, shape (n,)."""
        left = np.full((len(rows), len(self.leaves)), _ALL)
        for each in self.nodes:
            failed = np.searchsorted(each.thresholds, rows[:, each.column], side="left")
            left &= each.left[failed]
        places = _LOWEST_BIT[left]
        sums: npt.NDArray[np.float32] = self.leaves[np.arange(len(self.leaves)), places].sum(axis=1)
        return sums
