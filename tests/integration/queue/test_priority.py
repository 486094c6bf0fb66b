"""Which worker processes stand back for others on one machine."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.support.fleet import NO_MODEL, Fleet, Worker


def policies(worker: Worker) -> set[int]:
    """Of every thread of the process."""
    threads = Path(f"/proc/{worker.process.pid}/task").iterdir()
    return {os.sched_getscheduler(int(thread.name)) for thread in threads}


@pytest.mark.parametrize(
    ("queue", "policy"),
    [
        ("memci.compress", "SCHED_IDLE"),
        ("memci.compress,memci.lane", "SCHED_OTHER"),
    ],
)
def test_only_workers_that_do_nothing_but_compress_stand_back(
    fleet: Fleet, queue: str, policy: str
):
    fleet.app, fleet.yields = "workers", True
    worker = fleet.start(queue, **NO_MODEL)
    assert policies(worker) == {getattr(os, policy)}
