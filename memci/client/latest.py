"""What a client itself has written last, so that its reads wait for it."""

from __future__ import annotations

import threading


class LatestSeqs:
    """The highest seq that each agent was given here; safe for threads."""

    def __init__(self) -> None:
        """Begin with none."""
        self._lock = threading.Lock()
        self._seqs: dict[str, int] = {}

    def note(self, agent_id: str, seq: int) -> None:
        """Keep a seq, if it is the highest."""
        with self._lock:
            self._seqs[agent_id] = max(seq, self._seqs.get(agent_id, 0))

    def of(self, agent_id: str) -> int | None:
        """Return the highest seq; None when nothing was written here."""
        return self._seqs.get(agent_id)
