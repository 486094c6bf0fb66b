"""Which pairs of messages are worth reading for changes: a model of their tokens' bits (E8, R6).

The bits are there, so that a pair costs a fraction of what it costs to read it. Each token of the
older text attends to the newer text's tokens and is compared with what it finds there
(decomposable attention; Parikh and others, 2016). ``training.change_filter`` learned the weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

import numpy as np

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


def may_end(older: Sequence[bytes], newer: Sequence[bytes]) -> bool:
    """Return False if newer messages hardly end a fact of older ones; True if bits are missing.

    ``older``, ``newer``: of each message 48 bytes a token, one token after another.
    """
    if not (older and newer and all(older) and all(newer)):
        return True
    said = np.concatenate([_tokens(each) for each in newer])
    return max(_probabilities([_tokens(each) for each in older], said)) >= LEAST


def signs(bits: bytes) -> Vectors:
    """Return the bits of the first tokens as -1 and 1, shape (tokens, 384)."""
    read = np.unpackbits(np.frombuffer(bits, np.uint8).reshape(-1, BYTES)[:MOST], axis=1)
    return read.astype(np.float32) * 2 - 1


@lru_cache(_REMEMBERED)
def _tokens(bits: bytes) -> Vectors:
    """Return the tokens as the model reads them, shape (tokens, 64)."""
    tokens: Vectors = np.tanh(linear(sentence_model.weights(FILE), "token", signs(bits)))
    return tokens


def _probabilities(older: Sequence[Vectors], newer: Vectors) -> list[float]:
    """Return how likely a newer text ends a fact of each older one, all of shape (tokens, 64)."""
    learned: Learned = sentence_model.weights(FILE)
    one = np.concatenate(older)
    heat = linear(learned, "query", one) @ linear(learned, "key", newer).T / one.shape[1] ** 0.5
    seen = softmax(heat) @ linear(learned, "value", newer)
    compared = rectified(
        learned, "compared", np.concatenate([one, seen, one * seen, np.abs(one - seen)], axis=1)
    )
    attention = linear(learned, "attention", compared).T
    ends = np.cumsum([len(each) for each in older]).tolist()
    parts = [slice(start, end) for start, end in pairwise([0, *ends])]
    pooled = np.array(
        [
            np.append(softmax(attention[:, each]) @ compared[each], compared[each].max(axis=0))
            for each in parts
        ]
    )
    logits = linear(learned, "out", rectified(learned, "hidden", pooled))[:, 0]
    found: list[float] = (1 / (1 + np.exp(-logits))).tolist()
    return found
