"""Which agents' queues are worth asking for, on a broker that does not list them."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable
from itertools import islice
from threading import Lock

_MOST_KNOWN = 10_000
_MOST_WAITING = 5000
_REFILL_S = 60.0
_FIRST_ROUND = 100


class Known:
    """Agents whose queue was seen to exist; safe for threads."""

    def __init__(self) -> None:
        """Know none."""
        self._agents: dict[str, None] = {}
        self._lock = Lock()

    def __contains__(self, agent_id: str) -> bool:
        return agent_id in self._agents

    def add(self, agent_id: str) -> None:
        """Remember one; the one that had its turn longest ago is forgotten for it."""
        with self._lock:
            if agent_id not in self._agents and len(self._agents) >= _MOST_KNOWN:
                del self._agents[next(iter(self._agents))]
            self._agents.setdefault(agent_id)

    def discard(self, agent_id: str) -> None:
        """Forget one."""
        with self._lock:
            self._agents.pop(agent_id, None)

    def next(self, most: int) -> list[str]:
        """Return those whose turn it is; they go to the end of the line."""
        with self._lock:
            agents = list(islice(self._agents, most))
            for each in agents:
                self._agents[each] = self._agents.pop(each)
        return agents


class Strangers:
    """Agents of whom it is not known whether they have a queue; for one thread.

    Most never have: each question is an error in the broker's log. So they take turns, one at a
    time; only the first round, when nothing is known yet, is quick.
    """

    def __init__(self, agents: Callable[[], Iterable[str]]) -> None:
        """Begin each round with what ``agents`` returns."""
        self._agents = agents
        self._line: deque[str] = deque(maxlen=_MOST_WAITING)
        self._rounds = 0
        self._refill_at = 0.0

    def prefer(self, agent_ids: Iterable[str]) -> None:
        """Let these be next."""
        self._line.extendleft(agent_ids)

    def next(self) -> list[str]:
        """Return those whose turn it is."""
        if not self._line and time.monotonic() >= self._refill_at:
            self._line.extend(self._agents())
            self._refill_at = time.monotonic() + _REFILL_S
            self._rounds += 1
        turn = _FIRST_ROUND if self._rounds <= 1 else 1
        return [self._line.popleft() for _ in range(min(turn, len(self._line)))]
