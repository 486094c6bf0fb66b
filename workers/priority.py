"""Which worker goes first where several share a processor."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path


def yield_processor() -> None:
    """Let the threads of this process, and those that they start, run where a processor is idle.

    Forgetting hurries nobody: what is said and asked meanwhile goes first on this machine. Being
    nice is not enough where the system has an idle policy: a nice thread still ends its turn, and
    the threads of a model, which wait for one another at each step, all wait for that turn.
    """
    if sys.platform == "linux":
        try:
            _idle(0)
        except OSError:  # sandboxes may forbid it
            os.nice(19)
            return
        for thread in Path("/proc/self/task").iterdir():
            with suppress(OSError):  # it has ended
                _idle(int(thread.name))
    else:
        os.nice(19)


def _idle(thread: int) -> None:
    os.sched_setscheduler(thread, os.SCHED_IDLE, os.sched_param(0))
