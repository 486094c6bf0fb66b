"""Keeps the leases of one process alive while their holders work."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Event, Lock, Thread

import structlog

from memci.errors import DatabaseUnavailableError
from memci.queue.claim import Claims
from memci.queue.lease import Lease

_log = structlog.get_logger(__name__)


class LeaseKeeper:
    """One thread that renews all held leases; started with the first one.

    A renewal that fails is no error: the fence in every effect is what protects the data.
    """

    def __init__(self, claims: Claims, renew_ms: int) -> None:
        """Renew every ``renew_ms``."""
        self._claims = claims
        self._period_s = renew_ms / 1000
        self._held: set[Lease] = set()
        self._lock = Lock()
        self._stop = Event()
        self._thread: Thread | None = None

    @contextmanager
    def holding(self, leases: Sequence[Lease]) -> Iterator[None]:
        """Renew these leases until the block ends."""
        with self._lock:
            self._held.update(leases)
            if self._thread is None:
                self._thread = Thread(target=self._run, name="lease-keeper", daemon=True)
                self._thread.start()
        try:
            yield
        finally:
            with self._lock:
                self._held.difference_update(leases)

    def let_go(self, lease: Lease) -> None:
        """Stop renewing a lease that is free again."""
        with self._lock:
            self._held.discard(lease)

    def close(self) -> None:
        """Stop the thread."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        while not self._stop.wait(self._period_s):
            with self._lock:
                held = list(self._held)
            if not held:
                continue
            try:
                self._claims.renew(held)
            except DatabaseUnavailableError:
                _log.warning("leases not renewed", leases=len(held))
            except Exception:  # noqa: BLE001 - nothing may end this thread
                # A deadlock, a lock time-out: without renewals no long job would ever end.
                _log.exception("leases not renewed", leases=len(held))
