"""Something done a little later, once, however often it is wanted until then."""

from __future__ import annotations

import threading
from collections.abc import Callable

import structlog

_log = structlog.get_logger(__name__)

# Of what is wanted again and again the thread stays: to start one takes longer than most reads can
# spare. After so long without anything wanted it goes.
_IDLE_S = 30.0


class Soon:
    """Runs ``act`` in a thread, within the period after it is wanted; safe for threads."""

    def __init__(self, act: Callable[[], None], period_s: float) -> None:
        """Begin with nothing wanted."""
        self._act = act
        self._period_s = period_s
        self._lock = threading.Lock()
        self._wanted = threading.Event()
        self._closed = threading.Event()
        self._is_running = False

    def want(self) -> None:
        """Have it done soon; after ``close`` this does nothing."""
        with self._lock:
            if self._closed.is_set():
                return
            self._wanted.set()
            if not self._is_running:
                self._is_running = True
                threading.Thread(target=self._run, name="soon", daemon=True).start()

    def close(self) -> None:
        """Have nothing done any more; what has begun goes on."""
        with self._lock:
            self._closed.set()
            self._wanted.set()

    def _run(self) -> None:
        while self._is_wanted() and not self._closed.wait(self._period_s):
            # What is wanted from here on may come too late for this time.
            self._wanted.clear()
            try:
                self._act()
            except Exception:  # noqa: BLE001 - it is logged, and nothing may end the thread
                _log.exception("notes of reads were not written")

    def _is_wanted(self) -> bool:
        """Wait until it is; end the thread if it is not for long, or never will be."""
        if not self._closed.is_set() and self._wanted.wait(_IDLE_S):
            return True
        with self._lock:
            self._is_running = self._wanted.is_set()
            return self._is_running
