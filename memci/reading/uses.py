"""What reads have given, noted after the answer: receipts and use events (R11, M26, M27).

No read waits for it. In a crash the last few are lost, and so are those for which there is no room.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from uuid import uuid4

import structlog

from memci.errors import MemciError
from memci.reading.soon import Soon
from memci.storage.reading.receipts import Given, NewReceipt
from memci.storage.reading.state import Progress
from memci.storage.session import Database
from memci.storage.uses import append_uses

_log = structlog.get_logger(__name__)

# The next thing that the agent's model says must find its receipt; what comes within this time is
# written together.
_PERIOD_S = 0.1
_MOST = 2_000


@dataclass(frozen=True, slots=True)
class Use:
    """A receipt of a read; ``kept`` tells whether it is stored already."""

    agent_id: str
    receipt: NewReceipt
    kept: bool = False


def use_of(
    agent_id: str,
    kind: str,
    now: Progress,
    given: tuple[Iterable[int], Collection[int]],
    ids: Mapping[int, str],
) -> Use | None:
    """Return the use that a read made of messages and nodes; None if it gave nothing.

    ``given``: seqs of messages whose words were given, also as memories; and those memories.
    """
    seqs, nodes = frozenset(given[0]), frozenset(given[1])
    if not seqs and not nodes:
        return None
    body = {
        "seq": now.seq,
        "pending": now.pending,
        "message_ids": [ids[seq] for seq in sorted(seqs) if seq in ids],
        "node_ids": sorted(nodes),
    }
    about = Given(now.message_seq, seqs, seqs, nodes)
    return Use(agent_id, NewReceipt(uuid4(), kind, body, given=about))


class UseLog:
    """Collects uses and writes them soon, agent by agent; safe for threads."""

    def __init__(
        self, database: Database, *, period_s: float = _PERIOD_S, most: int = _MOST
    ) -> None:
        """Begin with none; hold ``most`` at once, the newest."""
        self._database = database
        self._most = most
        self._lock = threading.Lock()
        self._writing = threading.Lock()  # held while the database is in use: close waits for it
        self._noted: deque[Use] = deque()
        self._lost = 0
        self._soon = Soon(self.flush, period_s)

    def note(self, use: Use) -> None:
        """Note a use; it is written within the period."""
        with self._lock:
            self._noted.append(use)
            self._trim()
        self._soon.want()

    def flush(self) -> None:
        """Write what is noted; wait for no erasure. What cannot be written is tried again soon."""
        with self._writing:
            with self._lock:
                noted, self._noted = list(self._noted), deque()
                lost, self._lost = self._lost, 0
            if lost:
                _log.warning("uses not noted: there were too many at once", count=lost)
            by_agent: dict[str, list[Use]] = {}
            for use in noted:
                by_agent.setdefault(use.agent_id, []).append(use)
            left = [use for uses in by_agent.values() if not self._write(uses) for use in uses]
        if left:
            with self._lock:
                self._noted.extendleft(reversed(left))
                self._trim()
            self._soon.want()

    def close(self) -> None:
        """Write what is noted, once more."""
        self._soon.close()
        self.flush()

    def _trim(self) -> None:
        while len(self._noted) > self._most:
            self._noted.popleft()
            self._lost += 1

    def _write(self, uses: Sequence[Use]) -> bool:
        receipts = [use.receipt for use in uses]
        written = {use.receipt.id for use in uses if use.kept}
        try:
            with self._database.agent_transaction(uses[0].agent_id, durable=False) as connection:
                return append_uses(connection, uses[0].agent_id, receipts, written)
        except MemciError:
            return False
        except Exception:  # noqa: BLE001 - nothing may end the timer, and no use is worth a retry
            _log.exception("uses not noted", count=len(uses))
        return True
