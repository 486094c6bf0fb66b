"""Real workers with scripted jobs: ``celery -A tests.support.worker_app worker …``.

``MEMCI_TEST_FOLDER`` is a folder for data that outlives a process. ``MEMCI_TEST_DIE`` names a
place where one process dies: ``after-effect`` or ``before-removal``. Constants of memci:
``MEMCI_TEST_LANE_MS`` and ``MEMCI_TEST_SLICE_MS`` (slices of lanes and of compression),
``MEMCI_TEST_MAX_STARTED``, and ``MEMCI_TEST_PERIOD_S`` (of all tasks of beat).
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

from memci.queue import lane
from tests.support.scripted_jobs import DyingQueues, DyingTraces, NodeByNode, scripted_handlers
from workers.app import app
from workers.lifecycle import runtime

__all__ = ["app"]

folder = Path(os.environ["MEMCI_TEST_FOLDER"])
here = runtime()
here.models = SimpleNamespace(
    embedder=SimpleNamespace(embed=lambda texts: texts, model="none", dimension=1),
    load=lambda: None,
)
slice_ms = int(os.environ.get("MEMCI_TEST_SLICE_MS", "1000"))
here.handlers = scripted_handlers(here.database, folder)
here.compression = NodeByNode(here.database, slice_ms)
if "MEMCI_TEST_LANE_MS" in os.environ:
    lane.SLICE_S = int(os.environ["MEMCI_TEST_LANE_MS"]) / 1000
if "MEMCI_TEST_MAX_STARTED" in os.environ:
    started = int(os.environ["MEMCI_TEST_MAX_STARTED"])
    here.job_limits = replace(here.job_limits, started=started)
if "MEMCI_TEST_PERIOD_S" in os.environ:
    for duty in app.conf.beat_schedule.values():
        duty["schedule"] = float(os.environ["MEMCI_TEST_PERIOD_S"])
match os.environ.get("MEMCI_TEST_DIE"):
    case "after-effect":
        here.traces = DyingTraces(folder / "after-effect")
    case "before-removal":
        here.agent_queues = DyingQueues(here.agent_queues, folder / "before-removal")
