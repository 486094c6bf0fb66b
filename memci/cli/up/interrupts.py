"""Ctrl-C and its like: noted, and acted on when it is safe to."""

from __future__ import annotations

import signal
from types import FrameType
from typing import Any, Self

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupts:
    """Counts how often we were asked to stop; the second time hurries.

    While ``impatient``, each raises KeyboardInterrupt at once instead.
    """

    def __init__(self) -> None:
        """Count from nothing."""
        self.asked = 0
        self.impatient = True
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Self:
        for number in _SIGNALS:
            self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _note(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        self.asked += 1
        if self.impatient:
            raise KeyboardInterrupt
