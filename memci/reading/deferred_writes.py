"""Writes that reads defer: activity, receipts and uses of memories (R11, M26, M27).

No read waits for them. A crash loses the last few; so does a full buffer.

Beat reads the times of reads (M16). A job removes the dangling links that a recall reported, if the
agent's settings demand it (M15). A job makes a missing summary (R15).
"""

import threading
from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from uuid import uuid4

import structlog

from memci.errors import MemciError
from memci.queue.job_requests import request_link_drop
from memci.queue.summary_requests import request_summary
from memci.storage.reading.snapshot_state import Progress, touch_read
from memci.storage.receipts import NewReceipt, ReadReferences, append_uses
from memci.storage.session import Database

_log = structlog.get_logger(__name__)

# The thread waits this long for requests: starting one takes longer than most reads.
_IDLE_S = 30.0


class DelayedCall:
    """Runs ``act`` in a thread, within the period after a request; safe for threads."""

    def __init__(self, act: Callable[[], None], period_s: float) -> None:
        """Begin without a request."""
        self._act = act
        self._period_s = period_s
        self._lock = threading.Lock()
        self._requested = threading.Event()
        self._closed = threading.Event()
        self._is_running = False

    def request(self) -> None:
        """Request a call; after ``close`` this does nothing."""
        with self._lock:
            if self._closed.is_set():
                return
            self._requested.set()
            if not self._is_running:
                self._is_running = True
                threading.Thread(target=self._run, name="soon", daemon=True).start()

    def close(self) -> None:
        """Refuse further requests; a running call continues."""
        with self._lock:
            self._closed.set()
            self._requested.set()

    def _run(self) -> None:
        while self._is_requested() and not self._closed.wait(self._period_s):
            # A request from here on may come too late for this call.
            self._requested.clear()
            try:
                self._act()
            except Exception:  # noqa: BLE001 - it is logged, and nothing may end the thread
                _log.exception("read activity not stored")

    def _is_requested(self) -> bool:
        """Wait for a request; return False, which ends the thread, if none comes for long."""
        if not self._closed.is_set() and self._requested.wait(_IDLE_S):
            return True
        with self._lock:
            self._is_running = self._requested.is_set()
            return self._is_running


# The next message of the agent must find its receipt. Uses within this time are written together.
_PERIOD_S = 0.1
_MOST = 2_000


@dataclass(frozen=True, slots=True)
class Use:
    """The use of memories by a read."""

    agent_id: str
    receipt: NewReceipt
    is_stored: bool = False


def use_of(
    agent_id: str,
    kind: str,
    now: Progress,
    given: tuple[Iterable[int], Collection[int]],
    ids: Mapping[int, str],
) -> Use | None:
    """Return the use of messages and nodes by a read; None without any.

    ``given``: seqs of the messages in the answer, also in memories, and the ids of those memories.
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
    about = ReadReferences(now.message_seq, seqs, seqs, nodes)
    return Use(agent_id, NewReceipt(uuid4(), kind, body, given=about))


class UseLog:
    """Collects uses and writes them together, agent by agent; safe for threads."""

    def __init__(
        self, database: Database, *, period_s: float = _PERIOD_S, most: int = _MOST
    ) -> None:
        """Begin with none; keep the newest ``most``."""
        self._database = database
        self._most = most
        self._lock = threading.Lock()
        self._writing = threading.Lock()  # held while the database is in use: close waits for it
        self._noted: deque[Use] = deque()
        self._lost = 0
        self._soon = DelayedCall(self.flush, period_s)

    def note(self, use: Use) -> None:
        """Add a use; it is written within the period."""
        with self._lock:
            self._noted.append(use)
            self._trim()
        self._soon.request()

    def flush(self) -> None:
        """Write all uses without waiting for an erasure; failed writes are repeated soon."""
        with self._writing:
            with self._lock:
                noted, self._noted = list(self._noted), deque()
                lost, self._lost = self._lost, 0
            if lost:
                _log.warning("read activity not stored: too many uses at once", count=lost)
            by_agent: dict[str, list[Use]] = {}
            for use in noted:
                by_agent.setdefault(use.agent_id, []).append(use)
            left = [use for uses in by_agent.values() if not self._write(uses) for use in uses]
        if left:
            with self._lock:
                self._noted.extendleft(reversed(left))
                self._trim()
            self._soon.request()

    def close(self) -> None:
        """Write the remaining uses."""
        self._soon.close()
        self.flush()

    def _trim(self) -> None:
        while len(self._noted) > self._most:
            self._noted.popleft()
            self._lost += 1

    def _write(self, uses: Sequence[Use]) -> bool:
        receipts = [use.receipt for use in uses]
        written = {use.receipt.id for use in uses if use.is_stored}
        try:
            with self._database.agent_transaction(uses[0].agent_id, durable=False) as connection:
                return append_uses(connection, uses[0].agent_id, receipts, written)
        except MemciError:
            return False
        except Exception:  # noqa: BLE001 - nothing may end the timer, and no use is worth a retry
            _log.exception("read activity not stored", count=len(uses))
        return True


_WRITE_PERIOD_S = 1.0


class ReadActivity:
    """Collects the agents that were read, and stores them once a second; safe for threads."""

    def __init__(self, database: Database, *, period_s: float = _WRITE_PERIOD_S) -> None:
        """Begin with none."""
        self._database = database
        self._uses = UseLog(database)
        self._lock = threading.Lock()
        self._writing = threading.Lock()  # held while the database is in use: close waits for it
        # By agent, the forgotten nodes whose links are to be removed.
        self._noted: dict[str, set[int]] = {}
        # Agents and sessions (None: messages of no session) without a summary.
        self._unsummed: set[tuple[str, str | None]] = set()
        self._soon = DelayedCall(self.flush, period_s)

    def note(
        self, agent_id: str, *, dropping: Collection[int] = (), use: Use | None = None
    ) -> None:
        """Record that an agent was read; it is stored within the period.

        Links to the forgotten nodes ``dropping`` are to be removed (M15).
        """
        if use is not None:
            self._uses.note(use)
        with self._lock:
            self._noted.setdefault(agent_id, set()).update(dropping)
        self._soon.request()

    def want_summary(self, agent_id: str, session_id: str | None) -> None:
        """Record that a session lacks a summary; it is requested within the period."""
        with self._lock:
            self._unsummed.add((agent_id, session_id))
        self._soon.request()

    def flush(self) -> None:
        """Write the recorded activity. Failed writes are kept for the next time."""
        self._uses.flush()
        with self._writing:
            with self._lock:
                noted, self._noted = self._noted, {}
                unsummed, self._unsummed = self._unsummed, set()
            for agent_id, session_id in unsummed:
                # The next read without it requests it again.
                with suppress(MemciError):
                    request_summary(self._database, agent_id, session_id)
            busy = self._write(noted) if noted else ()
        if busy:
            with self._lock:
                for agent_id in busy:
                    self._noted.setdefault(agent_id, set()).update(noted[agent_id])
            self._soon.request()

    def close(self) -> None:
        """Write the rest; later activity is written by ``flush`` only."""
        self._soon.close()
        self._uses.close()
        self.flush()

    def _write(self, noted: Mapping[str, set[int]]) -> Collection[str]:
        """Write the activity; return the agents whose lanes are busy."""
        try:
            with self._database.lane_transaction(durable=False) as connection:
                busy = touch_read(connection, noted)
        except MemciError:
            return noted.keys()
        # In transactions of their own: those agents' lanes are all free again.
        dropping = {each: noted[each] for each in noted if noted[each] and each not in busy}
        return busy.union(each for each in dropping if not self._drop(each, dropping[each]))

    def _drop(self, agent_id: str, targets: Iterable[int]) -> bool:
        try:
            with self._database.lane_transaction(durable=False) as connection:
                return request_link_drop(connection, agent_id, targets)
        except MemciError:
            return False
