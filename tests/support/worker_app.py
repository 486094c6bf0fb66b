"""The real workers with scripted jobs: ``celery -A tests.support.worker_app worker …``.

``MEMCI_TEST_FOLDER`` is where it keeps what must survive a process; ``MEMCI_TEST_DIE`` names a
place to die at, once: ``after-effect`` or ``before-removal``.
"""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace

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
match os.environ.get("MEMCI_TEST_DIE"):
    case "after-effect":
        here.traces = DyingTraces(folder / "after-effect")
    case "before-removal":
        here.agent_queues = DyingQueues(here.agent_queues, folder / "before-removal")
