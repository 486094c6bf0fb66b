"""The real workers with jobs and reads that do nothing, and with passes that embed nothing.

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
from memci.smallmodel.ports import Vectors
from workers.app import app
from workers.lifecycle import runtime

__all__ = ["app"]


class NoVectors:
    """Embeds nothing, at once."""

    model = "none"
    dimension = 1

    def embed(self, texts: Sequence[str]) -> Vectors:
        return np.ones((len(texts), 1), dtype=np.float32)


here = runtime()
# No vector is of use here: none is made, and no model loaded for it.
here.models = replace(here.models, embedder=NoVectors())
here.handlers = idle_handlers()
here.readings = cast(
    "Readings", SimpleNamespace(answer=lambda *_: {"hits": []}, close=lambda: None)
)
