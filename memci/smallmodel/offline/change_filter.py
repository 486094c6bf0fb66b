"""Which pairs of messages are worth reading for changes: a model of their tokens' bits (E8, R6).

The bits are there, so that a pair costs a fraction of what it costs to read it. Each token of the
older text attends to the newer text's tokens and is compared with what it finds there
(decomposable attention; Parikh and others, 2016). ``training.change_filter`` learned the weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from memci.domain.search.late_interaction import Bits, different_bits, tokens_of
from memci.smallmodel.offline import sentence_model
from memci.smallmodel.offline.sentence_model import Learned, linear, rectified, softmax
from memci.smallmodel.vector_space import Vectors

FILE = "change_filter.npz"
BYTES = 48  # of a token's bits
# Tokens of each message; what is longer is cut.
MOST = 96
# Of a hundred changes, one gets a lower probability and is missed.
LEAST = 0.1
# Messages whose tokens are remembered: a message is compared with several.
_REMEMBERED = 512


def likeness(older: Sequence[bytes], newer: Sequence[bytes]) -> list[float]:
    """Return how like each older message is to the newer ones; nothing if bits are missing.

    Each token counts with the one nearest to it, of both sides (MaxSim; E8). ``older``, ``newer``:
    of each message 48 bytes a token, one token after another.
    """
    if not (older and newer and all(older) and all(newer)):
        return []
    tokens = [_bits(each) for each in older]
    different = different_bits(np.concatenate(tokens), np.concatenate([_bits(n) for n in newer]))
    lengths = np.array([len(each) for each in tokens])
    starts = np.cumsum(lengths) - lengths
    one = np.minimum.reduceat(different, starts).mean(axis=1)
    other = np.add.reduceat(different.min(axis=1), starts, dtype=float) / lengths
    found: list[float] = (-one - other).tolist()
    return found


def may_end(older: Sequence[bytes], newer: Sequence[bytes]) -> bool:
    """Return False if newer messages hardly end a fact of the older one that is most like them.

    True if bits are missing. ``older``, ``newer``: as for ``likeness``.
    """
    alike = likeness(older, newer)
    if not alike:
        return True
    nearest = older[int(np.argmax(alike))]
    said = np.concatenate([_tokens(each) for each in newer])
    return probability(_tokens(nearest), said) >= LEAST


def _bits(message: bytes) -> Bits:
    return tokens_of(message, BYTES)[:MOST]


def signs(message: bytes) -> Vectors:
    """Return the bits of the first tokens as -1 and 1, shape (tokens, 384)."""
    return np.unpackbits(_bits(message), axis=1).astype(np.float32) * 2 - 1


@lru_cache(_REMEMBERED)
def _tokens(bits: bytes) -> Vectors:
    """Return the tokens as the model reads them, shape (tokens, 64)."""
    tokens: Vectors = np.tanh(linear(sentence_model.weights(FILE), "token", signs(bits)))
    return tokens


def probability(older: Vectors, newer: Vectors) -> float:
    """Return how likely a newer text ends a fact of an older one, both of shape (tokens, 64)."""
    learned: Learned = sentence_model.weights(FILE)
    heat = linear(learned, "query", older) @ linear(learned, "key", newer).T
    seen = softmax(heat / older.shape[1] ** 0.5) @ linear(learned, "value", newer)
    both = np.concatenate([older, seen, older * seen, np.abs(older - seen)], axis=1)
    compared = rectified(learned, "compared", both)
    pooled = softmax(linear(learned, "attention", compared).T) @ compared
    features = np.append(pooled, compared.max(axis=0))[None]
    ((logit,),) = linear(learned, "out", rectified(learned, "hidden", features))
    return float(1 / (1 + np.exp(-logit)))
