"""Which worker processes have a low priority."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.support.fleet import NO_MODEL, Fleet, Worker


def policies(worker: Worker) -> set[int]:
    """Return the scheduling policies of the threads of the process."""
    threads = Path(f"/proc/{worker.process.pid}/task").iterdir()
    return {os.sched_getscheduler(int(thread.name)) for thread in threads}


@pytest.mark.parametrize(
    ("queue", "policy"),
    [
        ("memci.compress", "SCHED_IDLE"),
        ("memci.compress,memci.lane", "SCHED_OTHER"),
    ],
)
def test_only_workers_that_only_compress_have_a_low_priority(fleet: Fleet, queue: str, policy: str):
    fleet.app, fleet.yields = "workers", True
    worker = fleet.start(queue, **NO_MODEL)
    assert policies(worker) == {getattr(os, policy)}
