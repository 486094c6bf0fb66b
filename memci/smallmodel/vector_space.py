"""Compare and combine vectors of any embedding model on one scale.

The vectors of a model may lie in a narrow cone around a center, as those of E5 do: unrelated texts
then have a high cosine. Limits are given as likeness: 0 for unrelated texts, 1 for equal ones.
"""

from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

# Shape (n, dimension), unit length rows.
Vectors: TypeAlias = npt.NDArray[np.float32]


def unit_rows(vectors: Vectors) -> Vectors:
    """Scale every row to length 1; a row of zeros stays."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    scaled: Vectors = (vectors / np.where(lengths > 0, lengths, 1)).astype(np.float32)
    return scaled


@dataclass(frozen=True, slots=True)
class VectorSpace:
    """The space of an embedding model's vectors.

    ``center``, shape (d,) or (1,), is the mean vector of general text; zero for models whose
    vectors spread in all directions.
    """

    center: Vectors = field(default_factory=lambda: np.zeros(1, dtype=np.float32))
    # Texts of a lower likeness have nothing to do with each other.
    floor: float = 0.1
    unrelated: float = field(init=False)  # the cosine of unrelated texts, 0 to less than 1

    def __post_init__(self) -> None:
        """Measure the cosine of unrelated texts."""
        object.__setattr__(self, "unrelated", float(np.square(self.center).sum()))

    def likeness(self, cosine: float) -> float:
        """Return the likeness for a cosine; below 0 for texts less alike than unrelated ones."""
        return (cosine - self.unrelated) / (1.0 - self.unrelated)

    def cosine(self, likeness: float) -> float:
        """Return the cosine for a likeness."""
        return self.unrelated + likeness * (1.0 - self.unrelated)

    def pooled(self, sums: Vectors, weights: npt.NDArray[np.float32]) -> Vectors:
        """Return unit vectors for weighted sums of unit vectors, as if each were of one text.

        A mean of many vectors comes too close to the center: its deviation is stretched to the
        length that the deviation of one text has. Shapes (n, d) and (n,); rows of weight 0 are
        zero.
        """
        deviations = unit_rows(sums - weights[:, None] * self.center)
        vectors = self.center + np.sqrt(1.0 - self.unrelated) * deviations
        return unit_rows(np.where(weights[:, None] > 0, vectors, 0.0).astype(np.float32))
