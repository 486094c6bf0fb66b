"""What reads leave to be written: they themselves write nothing.

Which agents are read is what beat looks at (M16); dangling links that a recall has reported go by
a job of their agent, where that is wanted (M15); so is a summary made that was missing (R15).
What they gave is noted apart (uses.py).
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress

from memci.errors import MemciError
from memci.queue.drops import submit_drop
from memci.queue.summaries import ask_summary
from memci.reading.soon import Soon
from memci.reading.uses import Use, UseLog
from memci.storage.reading.state import touch_read
from memci.storage.session import Database

_PERIOD_S = 1.0


class ReadActivity:
    """Collects agents and notes them together, at most once a second; safe for threads."""

    def __init__(self, database: Database, *, period_s: float = _PERIOD_S) -> None:
        """Begin with none noted."""
        self._database = database
        self._uses = UseLog(database)
        self._lock = threading.Lock()
        self._writing = threading.Lock()  # held while the database is in use: close waits for it
        # By agent, the forgotten nodes to which links are to go.
        self._noted: dict[str, set[int]] = {}
        # Agents and their sessions (None: what was said in none) to be summed up.
        self._unsummed: set[tuple[str, str | None]] = set()
        self._soon = Soon(self.flush, period_s)

    def note(
        self, agent_id: str, *, dropping: Collection[int] = (), use: Use | None = None
    ) -> None:
        """Note that an agent was read; it is written within the period.

        Links to the forgotten nodes ``dropping`` are to go (M15). ``use`` is what it was given.
        """
        if use is not None:
            self._uses.note(use)
        with self._lock:
            self._add(agent_id, dropping)
        self._soon.want()

    def want_summary(self, agent_id: str, session_id: str | None) -> None:
        """Note that a session's summary was missed; it is asked for within the period."""
        with self._lock:
            self._unsummed.add((agent_id, session_id))
        self._soon.want()

    def flush(self) -> None:
        """Write what is noted. What cannot be written now stays for the next time."""
        self._uses.flush()
        with self._writing:
            with self._lock:
                noted, self._noted = self._noted, {}
                unsummed, self._unsummed = self._unsummed, set()
            for agent_id, session_id in unsummed:
                self._ask_summary(agent_id, session_id)
            busy = self._write(noted) if noted else ()
        if busy:
            with self._lock:
                for agent_id in busy:
                    self._add(agent_id, noted[agent_id])
            self._soon.want()

    def close(self) -> None:
        """Write what is noted, once more; what is noted later is written by ``flush`` only."""
        self._soon.close()
        self._uses.close()
        self.flush()

    def _add(self, agent_id: str, dropping: Iterable[int]) -> None:
        self._noted.setdefault(agent_id, set()).update(dropping)

    def _write(self, noted: Mapping[str, set[int]]) -> Collection[str]:
        """Write what is noted, and return the agents that have to wait."""
        try:
            with self._database.lane_transaction(durable=False) as connection:
                busy = touch_read(connection, noted)
        except MemciError:
            return noted.keys()
        # In transactions of their own: those agents' lanes are all free again.
        dropping = {each: noted[each] for each in noted if noted[each] and each not in busy}
        return busy.union(each for each in dropping if not self._drop(each, dropping[each]))

    def _ask_summary(self, agent_id: str, session_id: str | None) -> None:
        # Whoever misses it again asks again.
        with suppress(MemciError):
            ask_summary(self._database, agent_id, session_id)

    def _drop(self, agent_id: str, targets: Iterable[int]) -> bool:
        try:
            with self._database.lane_transaction(durable=False) as connection:
                return submit_drop(connection, agent_id, targets)
        except MemciError:
            return False
