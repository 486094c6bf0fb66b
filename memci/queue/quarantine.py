"""Lets a job that its processes did not survive run alone, so that its death harms no other job.

A job that kills its process takes those beside it along, and nobody knows which of them did it. So
each of them soon runs alone in its process: then mostly the guilty one alone is lost once more.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Condition, Event

# A lost job waits so long for the others to end, and then is alone for so long. Longer ones share
# the process again: others must not wait for them.
_ALONE_S = 5.0
# Who waits looks at the clock and for the stop of the process at least this often.
_STEP_S = 0.1


class Quarantine:
    """Admits the jobs of one process; safe for threads."""

    def __init__(self, stopping: Event) -> None:
        """Admit all jobs; once ``stopping`` is set, none, and nobody waits any more."""
        self._stopping = stopping
        self._changed = Condition()
        self._running = 0
        self._closed_until = 0.0  # by the monotonic clock
        self._alone: object = None  # the last job that was alone

    def wait(self) -> None:
        """Wait while a job runs alone."""
        with self._changed:
            self._wait(self._is_open)

    @contextmanager
    def admitted(self, *, alone: bool) -> Iterator[bool]:
        """Run the block as a job: beside others, or without them for some seconds.

        False if the process stops: then the job must not begin.
        """
        job = object()
        with self._changed:
            self._wait(self._is_open)
            if alone:
                self._close(2 * _ALONE_S, job)
                ends = time.monotonic() + _ALONE_S
                self._wait(lambda: self._running == 0 or time.monotonic() >= ends)
                self._close(_ALONE_S, job)
            self._running += 1
        try:
            yield not self._stopping.is_set()
        finally:
            with self._changed:
                self._running -= 1
                if self._alone is job:
                    self._closed_until = 0.0
                self._changed.notify_all()

    def _wait(self, is_over: Callable[[], bool]) -> None:
        while not (self._stopping.is_set() or is_over()):
            self._changed.wait(_STEP_S)

    def _is_open(self) -> bool:
        return time.monotonic() >= self._closed_until

    def _close(self, seconds: float, job: object) -> None:
        self._closed_until = time.monotonic() + seconds
        self._alone = job
