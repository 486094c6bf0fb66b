"""Which pairs of messages are worth reading for changes: a model of their tokens' bits (E8, R6).

The bits are there, so that a pair costs a fraction of what it costs to read it. Each token of the
older text attends to the newer text's tokens and is compared with what it finds there
(decomposable attention; Parikh and others, 2016). Another model tells which sentences are news at
all. ``training.change_filter`` learned the weights of both.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from memci.domain.search.late_interaction import Bits, bits_of_tokens, different_bits
from memci.smallmodel.offline import sentence_model
from memci.smallmodel.offline.sentence_model import Learned, linear, logistic, rectified, softmax
from memci.smallmodel.vector_space import Vectors

FILE = "change_filter.npz"
BYTES = 48  # of a token's bits
# Tokens of each message; what is longer is cut.
MOST = 96
# The odds of a pair that is read. Four percent of the changes in the judged files get less.
LEAST = 0.065
# Messages of a memory that are looked at.
_READ = 2
# Messages whose tokens are remembered: a message is compared with several.
_REMEMBERED = 512


def news(features: Vectors) -> Vectors:
    """Return how likely sentences end what was told before, shape (n,), from their features."""
    learned = sentence_model.weights(FILE)
    return logistic(linear(learned, "news_out", rectified(learned, "news", features))[:, 0])


def may_end(
    older: Sequence[bytes], newer: Sequence[bytes], likely_news: float = 0.5
) -> dict[int, float] | None:
    """Return which older messages tell a fact that newer ones may end, the likeliest first.

    The values are odds. Only two are looked at, as an answer and its question. None if bits are
    missing. ``older``, ``newer``: of each message 48 bytes a token, one token after another.
    ``likely_news``: of the newer ones, see ``news``.
    """
    messages = [*older, *newer]
    if not (older and newer) or not all(each and len(each) % BYTES == 0 for each in messages):
        return None
    said = np.concatenate([_tokens(each) for each in newer])
    odds = {
        at: _odds(likely_news) * _odds(probability(_tokens(older[at]), said))
        for at in _nearest(older, newer)
    }
    return {at: odds[at] for at in sorted(odds, key=lambda at: -odds[at]) if odds[at] >= LEAST}


def _nearest(older: Sequence[bytes], newer: Sequence[bytes]) -> Sequence[int]:
    """Return the places of the older messages that are most like the newer ones."""
    if len(older) <= _READ:
        return range(len(older))
    bits = np.concatenate([_bits(each) for each in newer])
    unlike = [_unlikeness(_bits(each), bits) for each in older]
    return sorted(range(len(older)), key=unlike.__getitem__)[:_READ]


def _odds(likely: float) -> float:
    return max(likely, 1e-9) / max(1 - likely, 1e-9)


def _unlikeness(one: Bits, other: Bits) -> float:
    """Return in how many bits tokens differ from the nearest of the other side (MaxSim; E8)."""
    different = different_bits(one, other)
    return float(different.min(axis=1).mean() + different.min(axis=0).mean())


def _bits(message: bytes) -> Bits:
    return bits_of_tokens(message, BYTES)[:MOST]


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
    scores = linear(learned, "query", older) @ linear(learned, "key", newer).T
    seen = softmax(scores / older.shape[1] ** 0.5) @ linear(learned, "value", newer)
    both = np.concatenate([older, seen, older * seen, np.abs(older - seen)], axis=1)
    compared = rectified(learned, "compared", both)
    pooled = softmax(linear(learned, "attention", compared).T) @ compared
    features = np.append(pooled, compared.max(axis=0))[None]
    return float(logistic(linear(learned, "out", rectified(learned, "hidden", features)))[0, 0])
