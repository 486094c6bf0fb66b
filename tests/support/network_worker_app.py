"""Real workers with scripted models: ``celery -A tests.support.network_worker_app worker …``."""

from __future__ import annotations

from tests.support.models import ScriptedModels
from workers.app import app
from workers.lifecycle import runtime

__all__ = ["app"]

here = runtime()
here.models = ScriptedModels()
