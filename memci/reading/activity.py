"""Noting which agents are read: what beat looks at (M16). Reads themselves write nothing."""

from __future__ import annotations

import threading

from memci.errors import MemciError
from memci.storage.reading.state import touch_read
from memci.storage.session import Database

_PERIOD_S = 1.0


class ReadActivity:
    """Collects agents and notes them together, at most once a second; safe for threads."""

    def __init__(self, database: Database, *, period_s: float = _PERIOD_S) -> None:
        """Begin with none noted."""
        self._database = database
        self._period_s = period_s
        self._lock = threading.Lock()
        self._writing = threading.Lock()  # held while the database is in use: close waits for it
        self._agents: set[str] = set()
        self._timer: threading.Timer | None = None
        self._closed = False

    def note(self, agent_id: str) -> None:
        """Note that an agent was read; it is written within the period."""
        with self._lock:
            self._agents.add(agent_id)
            self._arm()

    def flush(self) -> None:
        """Write what is noted. What cannot be written now stays for the next time."""
        with self._writing:
            with self._lock:
                noted, self._agents = self._agents, set()
            busy = self._write(noted) if noted else set()
        if busy:
            with self._lock:
                self._agents |= busy
                self._arm()

    def close(self) -> None:
        """Write what is noted, once more; what is noted later is written by ``flush`` only."""
        with self._lock:
            self._closed = True
            if self._timer is not None:
                self._timer.cancel()
        self.flush()

    def _write(self, noted: set[str]) -> set[str]:
        """Write them, and return those that have to wait."""
        try:
            with self._database.lane_transaction(durable=False) as connection:
                return touch_read(connection, noted)
        except MemciError:
            return noted

    def _arm(self) -> None:
        if self._timer is None and not self._closed:
            self._timer = threading.Timer(self._period_s, self._fire)
            self._timer.daemon = True
            self._timer.start()

    def _fire(self) -> None:
        with self._lock:
            self._timer = None
        self.flush()
