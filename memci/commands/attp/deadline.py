"""The end of a run by the clock: a process that is not done by then is killed."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Lock, Timer
from time import monotonic
from types import TracebackType
from typing import Self

from memci.commands.attp.outcome import Fault, StopError

# Within it the interpreter says itself that the time is up, and in which line.
_GRACE_S = 0.2


@dataclass
class Deadline:
    """Kills a process when its time is up, unless it was left before."""

    pid: int | None
    seconds: float
    passed: bool = False
    _left: bool = False
    _lock: Lock = field(default_factory=Lock)

    def __post_init__(self) -> None:
        self._end = monotonic() + self.seconds
        self._timer = Timer(self.seconds + _GRACE_S, self._kill)
        self._timer.daemon = True

    def check(self) -> None:
        """Raise ``StopError`` when the time is up: between two calls of ours nobody else looks."""
        if monotonic() >= self._end:
            raise StopError(self.fault)

    @property
    def fault(self) -> Fault:
        """What to say when the time is up."""
        return Fault(
            "TimeoutError",
            f"the code ran for more than {self.seconds:.3g} s",
            advice="Do less in one call.",
        )

    def __enter__(self) -> Self:
        self._timer.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # After this the number may be that of another process.
        with self._lock:
            self._left = True
        self._timer.cancel()

    def _kill(self) -> None:
        with self._lock:
            if self._left:
                return
            self.passed = True
            if self.pid is not None:
                with suppress(ProcessLookupError):
                    os.kill(self.pid, signal.SIGKILL)
