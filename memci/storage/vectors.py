"""Vectors on their way into and out of halfvec columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

# Shape (n, dimension), unit length rows.
Vectors: TypeAlias = npt.NDArray[np.float32]


def to_text(vectors: Vectors) -> list[str]:
    """Return each row as pgvector reads it; five digits are more than a halfvec keeps."""
    pattern = "[" + ",".join(["%.5g"] * vectors.shape[1]) + "]"
    return [pattern % tuple(row) for row in vectors.astype(np.float16).tolist()]


def as_stored(vectors: Vectors) -> Vectors:
    """Return unit vectors as they will be read back: a rebuilt network sees the same ones."""
    return from_arrays(vectors.astype(np.float16).astype(np.float32))


def from_arrays(rows: Sequence[Sequence[float]] | Vectors) -> Vectors:
    """Return the rows of ``embedding::real[]`` as vectors of unit length again."""
    vectors = np.asarray(rows, dtype=np.float32)
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: Vectors = vectors / np.maximum(norms, np.finfo(np.float32).tiny)
    return unit
