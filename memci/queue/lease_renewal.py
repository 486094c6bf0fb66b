"""Renews the leases of one process, and takes back starts that came to nothing."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from threading import Event, Lock, Thread

import structlog

from memci.domain.job import Job
from memci.errors import DatabaseUnavailableError
from memci.queue import mailbox
from memci.queue.claim import Claims
from memci.queue.lease import Lease
from memci.storage.session import Database

_log = structlog.get_logger(__name__)


class LeaseRenewal:
    """One thread that renews all held leases; started with the first one.

    A renewal that fails is no error: the fence in every effect is what protects the data.

    A job counts its starts because a process that it kills can count nothing any more. One that
    a process has outlived, as when the database went away in the middle of it, is taken back by
    that process.
    """

    def __init__(self, database: Database, claims: Claims, renew_ms: int) -> None:
        """Renew every ``renew_ms``."""
        self._database = database
        self._claims = claims
        self._period_s = renew_ms / 1000
        self._held: set[Lease] = set()
        self._outlived: deque[Job] = deque()
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

    def outlived(self, job: Job) -> None:
        """Take back the last start of this job, as soon as the database answers."""
        self._outlived.append(job)

    def close(self) -> None:
        """Stop the thread."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        while not self._stop.wait(self._period_s):
            with self._lock:
                held = list(self._held)
            if held:
                self._try(partial(self._claims.renew, held), "leases not renewed", len(held))
            if self._outlived:
                self._try(self._take_back, "starts not taken back", len(self._outlived))

    def _take_back(self) -> None:
        while self._outlived:
            mailbox.unbegin(self._database, self._outlived[0])
            self._outlived.popleft()

    def _try(self, act: Callable[[], None], failure: str, count: int) -> None:
        try:
            act()
        except DatabaseUnavailableError:
            _log.warning(failure, count=count)
        except Exception:  # noqa: BLE001 - nothing may end this thread
            # A deadlock, a lock time-out: without renewals no long job would ever end.
            _log.exception(failure, count=count)
