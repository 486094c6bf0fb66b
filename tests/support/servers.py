"""A fake clock, a frozen server, and a bare connection."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta

import psycopg

from memci.embedded.server import Server, ServerProcess


class FakeClock:
    """A clock that moves only by ``advance``; ``clock()`` is its time, aware UTC."""

    def __init__(self, now: datetime = datetime(2026, 1, 1, tzinfo=UTC)) -> None:
        """Set the clock."""
        self.now = now

    def __call__(self) -> datetime:
        """Return its time."""
        return self.now

    def advance(self, seconds: float) -> None:
        """Move the clock forward."""
        self.now += timedelta(seconds=seconds)


@contextmanager
def frozen(server: Server) -> Iterator[None]:
    """Freeze a server until the block ends: connections stay open without answers."""
    pid = server.pid
    if pid is None:
        raise AssertionError(f"{server.name} does not run")
    with ExitStack() as stack:
        process = ServerProcess(pid)
        stack.callback(process.release)
        process.send(signal.SIGSTOP)  # it starts no more children
        family = process.with_children(stack)
        for member in family:
            member.send(signal.SIGSTOP)
        try:
            yield
        finally:
            for member in family:
                member.send(signal.SIGCONT)


def open_database(database_url: str) -> psycopg.Connection:
    """Connect with bare psycopg in autocommit mode; close it, or use it in a ``with``."""
    plain = database_url.replace("postgresql+psycopg://", "postgresql://", 1)
    return psycopg.connect(plain, autocommit=True)
