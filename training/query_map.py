"""Fits the map of question vectors: where the answer of a question lies.

A question lies nearer to other questions than to its answer. A ridge regression predicts from the
question's vector where its evidence lies, relative to the mean of the archive; that is added to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from memci.smallmodel.offline.e5_embedder import DIMENSION, OfflineEmbedder
from training.corpus import Archive

Floats: TypeAlias = npt.NDArray[np.float64]
Pairs: TypeAlias = tuple[Floats, Floats]  # vectors of questions, and where their evidence lies

# How much the map is drawn to zero, relative to the questions. Chosen on sets that are not in
# training.
_RIDGE = 1.0


def pairs_of(embedder: OfflineEmbedder, archives: Sequence[Archive]) -> Pairs:
    """Return the model's vectors of questions, and the unit directions of their evidence."""
    questions, directions = [], []
    for archive in archives:
        entries = embedder.embed([each.searched for each in archive.entries])
        mean = entries.mean(axis=0)
        asked = [each for each in archive.questions if each.evidence]
        questions.append(embedder.embed_questions([each.text for each in asked]))
        directions += [entries[list(each.evidence)].mean(axis=0) - mean for each in asked]
    away = np.array(directions, dtype=np.float64)
    return np.concatenate(questions, dtype=np.float64), away / np.linalg.norm(
        away, axis=1, keepdims=True
    )


def fit(sets: Sequence[Pairs]) -> Floats:
    """Return the map, shape (1 + d, d): what is added to zero, and to each unit vector.

    Each set is weighed by the root of its size.
    """
    asked = np.concatenate([questions for questions, _ in sets])
    away = np.concatenate([directions for _, directions in sets])
    weights = np.concatenate([np.full(len(each), len(each) ** -0.5) for each, _ in sets])
    weights = weights[:, None] / weights.mean()
    mean = asked.mean(axis=0)
    centered = asked - mean
    scale = np.square(centered).sum() / DIMENSION
    ridge = _RIDGE * scale * np.eye(DIMENSION)
    weighed = centered * weights
    matrix = np.linalg.solve(weighed.T @ centered + ridge, weighed.T @ away)
    return np.concatenate([(-mean @ matrix)[None], matrix])
