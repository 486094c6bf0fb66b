"""Compares the tokens of a question with those of a text, by their sign bits (E8).

For each token of the question the most similar token of the text counts (MaxSim of ColBERT, Khattab
and Zaharia 2020), weighted by how rare the question's token is. The share of equal bits of two
vectors grows with the cosine of their angle.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Bits = npt.NDArray[np.uint8]

_ONES = np.array([number.bit_count() for number in range(256)], dtype=np.uint8)


@dataclass(frozen=True, slots=True)
class QuestionTokens:
    """The tokens of a question: sign bits, shape (n, bytes), and their weights, shape (n,)."""

    bits: Bits
    weights: npt.NDArray[np.float32]

    def likeness(self, text: bytes) -> float:
        """Return the likeness of a text's tokens, -1 to 1; ``text``: their bits, one by one."""
        width = self.bits.shape[1]
        tokens = np.frombuffer(text, np.uint8).reshape(-1, width)
        if not len(tokens) or not len(self.bits):
            return 0.0
        different = _ONES[self.bits[:, None, :] ^ tokens[None, :, :]].sum(axis=2, dtype=np.int32)
        nearest = 1.0 - 2.0 * different.min(axis=1) / (8 * width)
        return float((nearest * self.weights).sum() / self.weights.sum())
