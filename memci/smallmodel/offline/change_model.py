"""Which facts of an older text a newer text ends: a model that reads both together (R6).

All layers of the embedder with low-rank adapters (LoRA; Hu and others, 2021), which
``training.change_model`` learned from pairs of texts in English and Chinese. The facts of the older
text and the newer text are pooled as sentences are; a head compares them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from memci.language.sentences import Span
from memci.smallmodel.offline import sentence_model
from memci.smallmodel.offline.sentence_model import (
    END,
    Learned,
    Tokens,
    linear,
    logistic,
    pooled,
    rectified,
    tokens_of,
)
from memci.smallmodel.vector_space import Vectors

FILE = "change_model.npz"
# Tokens of the older and of the newer text; what is longer is not read.
_OLDER, _NEWER = 200, 100


def pair_tokens(tokenizer: Any, older: str, newer: str, facts: Sequence[Span]) -> Tokens:
    """Return the tokens of two texts with their speakers ("Ann: I live in Bern.").

    ``facts``: [start, stop) in ``older``, in characters. The last span is that of ``newer``.
    """
    first = tokens_of(tokenizer, older, facts, _OLDER)
    second = tokenizer.encode(newer)[:_NEWER]
    begin = len(first.ids) + 1
    ids = [*first.ids, END, *second, END]
    # Of an empty text the mark of its end is read.
    return Tokens(ids, [*first.spans, (begin, begin + max(1, len(second)))])


def weights() -> Learned:
    """Return the learned weights by name."""
    return sentence_model.weights(FILE)


def ended_probabilities(states: Vectors, spans: Sequence[Span]) -> list[float]:
    """Return for each fact the probability that the newer text ends it.

    ``states``: as for ``pooled``. ``spans``: as in ``pair_tokens``.
    """
    learned = weights()
    features = pooled(states, spans)
    newer = np.broadcast_to(features[-1], features[:-1].shape)
    both = np.concatenate([features[:-1], newer], axis=1)
    logits = linear(learned, "ends_out", rectified(learned, "ends", both))
    found: list[float] = logistic(logits[:, 0]).tolist()
    return found
