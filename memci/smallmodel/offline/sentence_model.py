"""What the built-in model reads in a sentence: key messages, types, worth, ends of topics (E9).

The last layers of the embedder run a second time with low-rank adapters (LoRA; Hu and others,
2021), which ``training.sentence_model`` learned from labelled sentences in English and Chinese. A
sentence's features are pooled from the states of its tokens by attention; linear heads read them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

import numpy as np
import numpy.typing as npt

from memci.language.sentences import Span
from memci.smallmodel.offline.e5_graph import POSITIONS
from memci.smallmodel.vector_space import Vectors

FILE = "sentence_model.npz"
SPEAKERS = ("user", "person", "assistant")
KEYS = ("none", "task", "constraint", "preference", "decision")
TYPES = ("none", "episodic", "semantic", "procedural")
WORTHS = ("talk", "trifle", "remark", "fact", "life", "vital")
FEATURES = 256

# The embedder was trained with it before texts to be found.
PASSAGE = "passage: "
BEGIN, END = 0, 2


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of a text as the model reads it, and the places of its sentences among them.

    ``spans`` are [start, stop); sentences beyond what the model reads are left out.
    """

    ids: list[int]
    spans: list[Span]


def tokens_of(
    tokenizer: Any, text: str, spans: Sequence[Span], most: int = POSITIONS - 2
) -> Tokens:
    """Return the tokens of a text whose sentences are at ``spans``, in characters, ascending.

    ``most``: tokens that are read.
    """
    pieces = tokenizer.encode(PASSAGE + text, return_type="proto").pieces[:most]
    ends = np.cumsum([len(each.surface) for each in pieces]) - len(PASSAGE)
    found = []
    for start, stop in spans:
        # A token can hold characters of two sentences; each has at least one token.
        first, last = np.searchsorted(ends, [start, stop - 1], side="right").tolist()
        if last >= len(pieces):
            break
        found.append((first + 1, last + 2))
    return Tokens([BEGIN, *(each.id for each in pieces), END], found)


@cache
def weights() -> Mapping[str, npt.NDArray[np.float32]]:
    """Return the learned weights by name."""
    with (resources.files(__package__) / "data" / FILE).open("rb") as file:
        return {name: each.astype(np.float32) for name, each in np.load(file).items()}


def pooled(states: Vectors, spans: Sequence[Span]) -> Vectors:
    """Return the features of sentences, shape (len(spans), 256).

    ``states``: of the adapted layers, shape (tokens, d).
    """
    learned, doubled = weights(), states * 2
    attention = doubled @ learned["query.w"].T + learned["query.b"]
    features = np.empty((len(spans), FEATURES), dtype=np.float32)
    for row, (start, stop) in enumerate(spans):
        own = doubled[start:stop]
        heat = np.exp(attention[start:stop] - attention[start:stop].max(axis=0))
        seen = (heat / heat.sum(axis=0)).T @ own
        features[row] = np.concatenate(
            [
                _rectified("value", seen).mean(axis=0),
                _rectified("mean", own.mean(axis=0)),
            ]
        )
    return features


def _linear(name: str, values: Vectors) -> Vectors:
    learned = weights()
    found: Vectors = values @ learned[f"{name}.w"].T + learned[f"{name}.b"]
    return found


def _rectified(name: str, values: Vectors) -> Vectors:
    return np.maximum(_linear(name, values), 0.0)


def key_probabilities(features: Vectors, speaker: str) -> Vectors:
    """Return the probabilities of ``KEYS``, shape (n, 5)."""
    return _softmax(_linear("key", _spoken(features, speaker)))


def _spoken(features: Vectors, speaker: str) -> Vectors:
    by = np.array([each == speaker for each in SPEAKERS], dtype=np.float32)
    return np.concatenate([features, np.tile(by, (len(features), 1))], axis=1)


def _softmax(logits: Vectors) -> Vectors:
    heat = np.exp(logits - logits.max(axis=1, keepdims=True))
    found: Vectors = heat / heat.sum(axis=1, keepdims=True)
    return found
