"""Sums of small decision trees, as LightGBM trains them, for many rows at once (R11).

Each node that a row fails rules out the leaves on its left side; the first leaf that is left is the
row's (QuickScorer, Lucchese and others 2015). So all nodes of all trees are compared in one step.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

MOST_LEAVES = 8


@dataclass(frozen=True, slots=True)
class BoostedTrees:
    """Trees of at most eight leaves; arrays of shape (trees, 7), leaves of shape (trees, 8)."""

    features: Sequence[str]  # names of the columns that the trees were trained on
    columns: npt.NDArray[np.int64]
    thresholds: npt.NDArray[np.float32]
    masks: npt.NDArray[np.uint8]  # leaves that remain if the value is above the threshold
    leaves: npt.NDArray[np.float32]

    @classmethod
    def read(cls, text: str) -> "BoostedTrees":
        """Read a model file. Raises ``ValueError`` or ``KeyError`` if it is none."""
        model: Mapping[str, Any] = json.loads(text)
        return cls(
            tuple(model["features"]),
            np.array(model["columns"], dtype=np.int64),
            np.array(model["thresholds"], dtype=np.float32),
            np.array(model["masks"], dtype=np.uint8),
            np.array(model["leaves"], dtype=np.float32),
        )

    def predict(self, rows: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """Return the sum of the trees for each row of features, shape (n,)."""
        above = rows[:, self.columns] > self.thresholds
        left = np.bitwise_and.reduce(np.where(above, self.masks, np.uint8(0xFF)), axis=2)
        sums: npt.NDArray[np.float32] = self.leaves[
            np.arange(len(self.leaves)), _LOWEST_BIT[left]
        ].sum(axis=1)
        return sums


# The place of the lowest bit that is set.
_LOWEST_BIT = np.array([max((n & -n).bit_length() - 1, 0) for n in range(256)], dtype=np.int64)
