"""Jobs that do nothing, or wait as for a small model, to measure the lane alone."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from memci.domain.job import Job
from memci.queue.runner import Effect, Handler
from memci.storage.session import Connection

NOTHING = "bench.nothing"
WAITING = "bench.waiting"


class Nothing:
    """Waits for a given time, as for a small model, and writes nothing."""

    triggers_compression = False

    def __init__(self, kind: str, wait_s: float) -> None:
        self.kind = kind
        self._wait_s = wait_s

    def prepare(self, job: Job) -> Effect:
        del job
        if self._wait_s:
            time.sleep(self._wait_s)
        return _write_nothing


def _write_nothing(connection: Connection) -> Mapping[str, Any]:
    del connection
    return {}


def idle_handlers() -> Mapping[str, Handler]:
    """Return the handlers of both kinds."""
    return {NOTHING: Nothing(NOTHING, 0.0), WAITING: Nothing(WAITING, 0.020)}
