"""Tokens that are published by a thread of their own: no accept waits for the broker."""

from __future__ import annotations

import time
from queue import SimpleQueue
from threading import Thread

import structlog

from memci.broker.token import Tokens

_log = structlog.get_logger(__name__)

# The first token goes out at once; under load, those of this time go out together.
_PAUSE_S = 0.002


class TokenOutbox:
    """Publishes what it is given, in order; safe for threads.

    What a killed process had not published yet, the sweeper puts out (queue.md).
    """

    def __init__(self, tokens: Tokens) -> None:
        """Start the thread."""
        self._tokens = tokens
        self._waiting: SimpleQueue[str | None] = SimpleQueue()
        self._thread = Thread(target=self._run, name="token-outbox", daemon=True)
        self._thread.start()

    def wake_lane(self, agent_id: str) -> None:
        """Have lane workers told that there is work."""
        self._waiting.put(agent_id)

    def close(self) -> None:
        """Publish what still waits, then stop the thread."""
        self._waiting.put(None)
        self._thread.join()

    def _run(self) -> None:
        while True:
            # What has come while the last ones were published goes out together.
            taken = [self._waiting.get()]
            while not self._waiting.empty():
                taken.append(self._waiting.get())
            try:
                self._tokens.wake_lanes([each for each in taken if each is not None])
            except Exception:  # noqa: BLE001 - nothing may end this thread
                _log.exception("tokens not published", count=len(taken))
            if None in taken:
                return
            time.sleep(_PAUSE_S)
