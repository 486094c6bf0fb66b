"""What the built-in model reads in a sentence: key messages, types, worth, ends of topics.

Two small layers read states of the embedder's tokens; ``training.sentence_model`` learned them from
labelled sentences in English and Chinese. A sentence's features are pooled from what they give for
its tokens by attention; linear heads read them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, TypeAlias

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
# Messages before a message, and sentences after a seam, that tell whether the topic changes.
SEEN_BEFORE, SEEN_AFTER = 4, 2
# Sentences of the same message before a seam, at most.
_MOST_BEFORE = 50
# Means of what stands before and after a seam, the sentences beside it, the product of the means,
# and whether it is inside a message, and between messages of one speaker.
SEAM_FEATURES = 5 * FEATURES + 2

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
    found: list[Span] = []
    for start, stop in spans:
        # A token can hold characters of two sentences; each has at least one token.
        first, last = np.searchsorted(ends, [start, stop - 1], side="right").tolist()
        # Sentences of marks alone can be more than the tokens.
        if last >= len(pieces) or len(found) == len(pieces):
            break
        found.append((first + 1, last + 2))
    return Tokens([BEGIN, *(each.id for each in pieces), END], found)


Learned: TypeAlias = Mapping[str, npt.NDArray[np.float32]]


@cache
def weights(name: str = FILE) -> Learned:
    """Return the learned weights of a model by their names."""
    with (resources.files(__package__) / "data" / name).open("rb") as file:
        return {name: each.astype(np.float32) for name, each in np.load(file).items()}


def pooled(states: Vectors, spans: Sequence[Span]) -> Vectors:
    """Return the features of sentences, shape (len(spans), 256).

    ``states``: ``pooled`` of a graph, shape (tokens, heads + 128 + 128).
    """
    scores, value, mean = np.split(states, [-FEATURES, -FEATURES // 2], axis=1)
    features = np.empty((len(spans), FEATURES), dtype=np.float32)
    for row, (start, stop) in enumerate(spans):
        own = np.exp(scores[start:stop] - scores[start:stop].max(axis=0))
        seen = (own / own.sum(axis=0)).T @ value[start:stop]
        features[row, : FEATURES // 2] = np.maximum(seen, 0.0).mean(axis=0)
        features[row, FEATURES // 2 :] = np.maximum(mean[start:stop].mean(axis=0), 0.0)
    return features


def linear(learned: Learned, name: str, values: Vectors) -> Vectors:
    """Return what a linear layer gives."""
    found: Vectors = values @ learned[f"{name}.w"].T + learned[f"{name}.b"]
    return found


def rectified(learned: Learned, name: str, values: Vectors) -> Vectors:
    """Return what a linear layer gives, without negative numbers."""
    return np.maximum(linear(learned, name, values), 0.0)


def logistic(logits: Vectors) -> Vectors:
    """Return the probabilities of logits."""
    found: Vectors = (1 / (1 + np.exp(-logits))).astype(np.float32)
    return found


def probabilities(head: str, features: Vectors, speaker: str) -> Vectors:
    """Return the probabilities of ``KEYS`` ("key"), ``TYPES`` ("kind") or ``WORTHS`` ("worth").

    Shape (n, len(names)).
    """
    table, bias = weights()[f"{head}.w"], weights()[f"{head}.b"]
    by = table[:, FEATURES + SPEAKERS.index(speaker)]
    return softmax(features @ table[:, :FEATURES].T + by + bias)


def change_probabilities(messages: Sequence[tuple[str, Vectors]]) -> list[list[float]]:
    """Return for each sentence the probability that it begins another topic; 0 for the very first.

    ``messages``: a conversation in order: each speaker, and the features of the sentences.
    """
    found = []
    for at, (speaker, own) in enumerate(messages):
        before = [each for _, each in messages[max(0, at - SEEN_BEFORE) : at] if len(each)]
        seams = [
            seam_features(own[max(0, row - _MOST_BEFORE) : row], own[row:], inside=True, same=True)
            for row in range(1, len(own))
        ]
        if before and len(own):
            same = speaker == messages[at - 1][0]
            said = np.concatenate(before)
            seams.insert(0, seam_features(said, own, inside=False, same=same))
        likely = _changes(np.array(seams, dtype=np.float32).reshape(-1, SEAM_FEATURES))
        found.append([0.0] * (len(own) - len(likely)) + likely)
    return found


def _changes(seams: Vectors) -> list[float]:
    learned = weights()
    logits = linear(learned, "seam_out", rectified(learned, "seam", seams))[:, 0]
    found: list[float] = logistic(logits).tolist()
    return found


def seam_features(before: Vectors, after: Vectors, *, inside: bool, same: bool) -> Vectors:
    """Return the features of what stands before and after a seam, shape (``SEAM_FEATURES``,)."""
    first, then = before.mean(axis=0), after[:SEEN_AFTER].mean(axis=0)
    flags = np.array([inside, same], dtype=np.float32)
    return np.concatenate([first, before[-1], after[0], then, first * then, flags])


def softmax(logits: Vectors) -> Vectors:
    """Return the shares of the exponentials, row by row."""
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    found: Vectors = powers / powers.sum(axis=1, keepdims=True)
    return found
