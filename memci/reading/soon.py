"""Something done a little later, once, however often it is wanted until then."""

from __future__ import annotations

import threading
from collections.abc import Callable


class Soon:
    """Runs ``act`` in a thread, within the period after it is wanted; safe for threads."""

    def __init__(self, act: Callable[[], None], period_s: float) -> None:
        """Begin with nothing wanted."""
        self._act = act
        self._period_s = period_s
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None
        self._closed = False

    def want(self) -> None:
        """Have it done soon; after ``close`` this does nothing."""
        with self._lock:
            if self._timer is None and not self._closed:
                self._timer = threading.Timer(self._period_s, self._fire)
                self._timer.daemon = True
                self._timer.start()

    def close(self) -> None:
        """Have nothing done any more; what has begun goes on."""
        with self._lock:
            self._closed = True
            if self._timer is not None:
                self._timer.cancel()

    def _fire(self) -> None:
        with self._lock:
            self._timer = None
        self._act()
