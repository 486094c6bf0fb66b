"""Compares the tokens of a question with those of a text, by their sign bits (E8).

For each token of the question the most similar token of the text counts (MaxSim of ColBERT, Khattab
and Zaharia 2020), weighted by how rare the question's token is. The share of equal bits of two
vectors grows with the cosine of their angle.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Bits = npt.NDArray[np.uint8]
_WORD = 8  # bytes that are compared at once


@dataclass(frozen=True, slots=True)
class QuestionTokens:
    """The tokens of a question: sign bits, shape (n, bytes), and their weights, shape (n,).

    The bytes are a multiple of eight.
    """

    bits: Bits
    weights: npt.NDArray[np.float32]

    def likeness(self, texts: Sequence[bytes]) -> npt.NDArray[np.float64]:
        """Return the likeness of texts, -1 to 1, shape (len(texts),).

        A text has the bits of its tokens, one after another. Without any token it is 0, and so it
        is for bytes that are no tokens.
        """
        width = self.bits.shape[1]
        texts = [b"" if len(text) % width else text for text in texts]
        lengths = np.array([len(text) // width for text in texts], dtype=np.intp)
        alike = np.zeros(len(texts))
        if not len(self.bits) or not lengths.any():
            return alike
        different = different_bits(self.bits, bits_of_tokens(b"".join(texts), width))
        starts = (np.cumsum(lengths) - lengths)[lengths > 0]
        nearest = 1.0 - 2.0 * np.minimum.reduceat(different, starts, axis=1) / (8 * width)
        alike[lengths > 0] = self.weights @ nearest / self.weights.sum()
        return alike


def bits_of_tokens(bits: bytes, width: int) -> Bits:
    """Return the bits of tokens of ``width`` bytes that stand one after another."""
    return np.frombuffer(bits, np.uint8).reshape(-1, width)


def different_bits(some: Bits, others: Bits) -> npt.NDArray[np.uint16]:
    """Return how many bits differ between tokens, shape (len(some), len(others))."""
    one, other = (np.ascontiguousarray(each).view(np.uint64) for each in (some, others))
    different = np.zeros((len(one), len(other)), dtype=np.uint16)
    for place in range(one.shape[1]):
        different += np.bitwise_count(one[:, place, None] ^ other[:, place])
    return different
