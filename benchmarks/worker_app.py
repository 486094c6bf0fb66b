"""The real workers with jobs and reads that do nothing: ``celery -A benchmarks.worker_app …``."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

from benchmarks.idle_jobs import idle_handlers
from memci.reading.readings import Readings
from memci.smallmodel.registry import SmallModels
from workers.app import app
from workers.lifecycle import runtime

__all__ = ["app"]

here = runtime()
# Nothing here needs a model: no use to load one at the start.
here.models = cast("SmallModels", SimpleNamespace(embedder=SimpleNamespace(embed=list)))
here.handlers = idle_handlers()
here.readings = cast(
    "Readings", SimpleNamespace(answer=lambda *_: {"hits": []}, close=lambda: None)
)
