"""Real workers with jobs and reads that do nothing, and with passes that embed nothing.

``celery -A benchmarks.worker_app worker …``
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import cast

import numpy as np

from benchmarks.idle_jobs import idle_handlers
from memci.reading.registry import Readings
from memci.smallmodel.vector_space import Vectors, VectorSpace
from workers.app import app
from workers.lifecycle import runtime

__all__ = ["app"]


class NoVectors:
    """Embeds nothing and takes no time."""

    model = "none"
    dimension = 1
    space = VectorSpace()

    def embed(self, texts: Sequence[str]) -> Vectors:
        return np.ones((len(texts), 1), dtype=np.float32)

    embed_questions = embed


worker = runtime()
# Vectors are not needed, so no model is loaded.
worker.models = replace(worker.models, embedder=NoVectors())
worker.handlers = idle_handlers()
worker.readings = cast(
    "Readings", SimpleNamespace(answer=lambda *_: {"hits": []}, close=lambda: None)
)
