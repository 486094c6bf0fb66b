"""A token bucket for each API key, in this process only.

Several API processes each grant the whole rate; put a limit that must hold exactly before them.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from memci.errors import RateLimitedError


class RateLimit:
    """Lets ``per_minute`` requests of a key pass; 0 lets all pass. Safe for threads."""

    def __init__(self, per_minute: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        """Take the rate, and a clock in seconds that never goes back."""
        self._per_minute = per_minute
        self._clock = clock
        self._lock = threading.Lock()
        self._buckets: dict[str, tuple[float, float]] = {}  # name → tokens left, when

    def take(self, name: str) -> None:
        """Take one token of a key, or raise ``RateLimitedError`` with the wait for the next."""
        if not self._per_minute:
            return
        now = self._clock()
        with self._lock:
            left, since = self._buckets.get(name, (float(self._per_minute), now))
            left = min(left + (now - since) * self._per_minute / 60, self._per_minute)
            self._buckets[name] = (left - 1 if left >= 1 else left, now)
        if left < 1:
            raise RateLimitedError(
                f"the key {name!r} may send {self._per_minute} requests a minute; slow down",
                retry_after_s=(1 - left) * 60 / self._per_minute,
            )
