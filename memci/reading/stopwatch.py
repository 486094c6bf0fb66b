"""How long the steps of a read took."""

from __future__ import annotations

import time


class Stopwatch:
    """Times steps one after the other; each lap ends where the next begins."""

    def __init__(self) -> None:
        """Start the first lap."""
        self._last = time.perf_counter()
        self._laps_ms: dict[str, float] = {}

    def lap(self, step: str) -> None:
        """End a step."""
        now = time.perf_counter()
        self._laps_ms[step] = round((now - self._last) * 1000, 3)
        self._last = now

    @property
    def laps_ms(self) -> dict[str, float]:
        """Milliseconds of each step."""
        return dict(self._laps_ms)
