"""Lets a job that its processes did not survive run alone, so that its death harms no other job.

A job that kills its process takes those beside it along, and nobody knows which of them did it. So
each of them soon runs alone in its process: then only the guilty one is lost once more.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Condition

# A lost job waits so long for the others to end, and then is alone for so long. Longer ones share
# the process again: others must not wait for them.
_ALONE_S = 5.0


class Quarantine:
    """Admits the jobs of one process; safe for threads."""

    def __init__(self) -> None:
        """Admit all jobs."""
        self._changed = Condition()
        self._running = 0
        self._closed_until = 0.0  # by the monotonic clock
        self._alone: object = None  # the last job that was alone

    def wait(self) -> None:
        """Wait while a job runs alone."""
        with self._changed:
            self._wait()

    @contextmanager
    def admitted(self, *, alone: bool) -> Iterator[None]:
        """Run the block as a job: beside others, or without them for some seconds."""
        job = object()
        with self._changed:
            self._wait()
            if alone:
                self._close(2 * _ALONE_S, job)
                self._changed.wait_for(lambda: self._running == 0, _ALONE_S)
                self._close(_ALONE_S, job)
            self._running += 1
        try:
            yield
        finally:
            with self._changed:
                self._running -= 1
                if self._alone is job:
                    self._closed_until = 0.0
                self._changed.notify_all()

    def _wait(self) -> None:
        while (left_s := self._closed_until - time.monotonic()) > 0:
            self._changed.wait(left_s)

    def _close(self, seconds: float, job: object) -> None:
        self._closed_until = time.monotonic() + seconds
        self._alone = job
