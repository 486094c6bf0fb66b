"""Ends a worker process that an input keeps busy: what a thread computes cannot be stopped.

The process is started again, and other processes go on with its work. Other threads' reads get no
answer, and their callers ask again; jobs begin again, and one that ended five processes is dead.
"""

import faulthandler
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import structlog

# Seconds of processor time after which a thread that holds the interpreter's lock ends the process.
STUCK_S = 30.0
# The exit code of a process that was ended because of its work (EX_SOFTWARE of sysexits.h).
EXIT_CODE = 70
_PERIOD_S = 1.0

_log = structlog.get_logger(__name__)


@dataclass
class _Work:
    """What a thread does: ``limit_s`` is its own processor time, ``began_s`` when it began."""

    name: str
    thread: int
    began_s: float
    limit_s: float

    def spent_s(self) -> float:
        """Return the processor time since it began: waiting for others is no fault of the work."""
        return _processor_time(self.thread) - self.began_s


def _processor_time(thread: int) -> float:
    if hasattr(time, "pthread_getcpuclockid"):
        return time.clock_gettime(time.pthread_getcpuclockid(thread))
    return time.process_time()  # macOS: of all threads, which is never less


_works: dict[int, _Work] = {}  # by thread


@contextmanager
def limited(name: str, limit_s: float) -> Iterator[None]:
    """End the process if the block computes longer; ``name`` is logged.

    ``limit_s``: seconds of the thread's processor time. Nothing happens before ``watch``.
    """
    thread = threading.get_ident()
    outer = _works.get(thread)
    _works[thread] = _Work(name, thread, _processor_time(thread), limit_s)
    try:
        yield
    finally:
        if outer is None:
            del _works[thread]
        else:
            _works[thread] = outer


def allow_more(seconds: float) -> None:
    """Raise the limit of the thread's work, once its size is known."""
    work = _works.get(threading.get_ident())
    if work is not None:
        work.limit_s += seconds


def watch() -> None:
    """Begin to watch the process, in a thread of its own."""
    faulthandler.register(signal.SIGPROF, chain=True)  # then the process ends
    threading.Thread(target=_watch, name="watchdog", daemon=True).start()


def _watch() -> None:
    while True:
        # The kernel sends the signal unless this loop runs again. It counts processor time, so
        # that a process that gets no processor does not end.
        signal.setitimer(signal.ITIMER_PROF, STUCK_S)
        for work in list(_works.values()):
            if work.spent_s() > work.limit_s:
                _log.error("a worker ends: its work takes too long", work=work.name)
                faulthandler.dump_traceback()
                os._exit(EXIT_CODE)
        time.sleep(_PERIOD_S)
