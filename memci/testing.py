"""Helpers for tests, of memci and of what is built on it; nothing in memci imports them.

Tests run on real servers. One PostgreSQL serves a whole run, also when pytest-xdist spreads it
over processes; each test gets a database of its own, copied from one that the migrations made.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import LiteralString, TypeVar

from psycopg import sql

from memci.embedded import Postgres, Redis, Servers, servers_of
from memci.storage.migrate import upgrade

T = TypeVar("T")

_LOOK_EVERY_S = 0.02
_PREFIX = "memci-run-"


def wait_until(condition: Callable[[], T], message: str, *, timeout_s: float = 10.0) -> T:
    """Wait until the condition is true, and return its value.

    Raises ``AssertionError`` with ``message`` after the time-out.
    """
    deadline = time.monotonic() + timeout_s
    while not (value := condition()):
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {timeout_s:g} s: {message}")
        time.sleep(_LOOK_EVERY_S)
    return value


class RunServers:
    """The servers of one test run, each in a folder of the run.

    The process that runs or controls the tests opens a run with ``begin``; its worker processes
    use ``RunServers(folder)``.
    """

    def __init__(self, folder: Path) -> None:
        """Use the servers of the run in this folder."""
        self.folder = folder

    @classmethod
    @contextmanager
    def begin(cls) -> Iterator[RunServers]:
        """Open a run, and end it with all its servers.

        It first removes the servers and folders of runs that were killed.
        """
        _clear_left_over()
        folder = Path(tempfile.mkdtemp(prefix="memci-new-"))
        with (folder / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            # Rename it only when locked: other runs remove unlocked folders of this name.
            folder = folder.rename(folder.with_name(_PREFIX + secrets.token_hex(6)))
            try:
                yield cls(folder)
            finally:
                _clear(folder)

    def postgres(self) -> Postgres:
        """Return the PostgreSQL of the run, with the template made; start it if nobody did."""
        postgres = servers_of(self.folder / "shared", durable=False).postgres
        with (self.folder / "starting").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            postgres.start()
            upgrade(postgres.migration_url)
        postgres.release()
        return postgres

    def redis(self, name: str) -> Redis:
        """Return a Redis of the run by its name, started."""
        redis = servers_of(self.folder / name, durable=False).redis
        redis.start()
        return redis

    @contextmanager
    def servers(self, *, durable: bool = False) -> Iterator[Servers]:
        """Yield a private pair of servers, with the migrations run, to kill and restart.

        ``durable=True`` makes them write through to the disk: for measurements.
        """
        servers = servers_of(self.folder / secrets.token_hex(4), durable=durable)
        with ExitStack() as stack:
            for server in (servers.redis, servers.postgres):
                stack.callback(server.stop)
                server.start()
            upgrade(servers.postgres.migration_url)
            yield servers


@contextmanager
def database_copy(postgres: Postgres) -> Iterator[str]:
    """Yield the URL of a fresh copy of the migrated database; it is dropped afterwards."""
    name = f"test_{secrets.token_hex(6)}"
    _as_superuser(postgres, "CREATE DATABASE {} TEMPLATE memci OWNER memci_owner", name)
    try:
        yield postgres.database_url(name)
    finally:
        _as_superuser(postgres, "DROP DATABASE {} WITH (FORCE)", name)


def _as_superuser(postgres: Postgres, statement: LiteralString, name: str) -> None:
    with postgres.connect_as_superuser() as connection:
        connection.execute(sql.SQL(statement).format(sql.Identifier(name)))


def _clear_left_over() -> None:
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with suppress(OSError):  # another run may be clearing it as well
            if folder.lstat().st_uid == os.geteuid():
                with (folder / "lock").open("w") as lock:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    _clear(folder)


def _clear(folder: Path) -> None:
    for data_dir in (each for each in folder.iterdir() if each.is_dir()):
        servers = servers_of(data_dir)
        for server in (servers.redis, servers.postgres):
            server.stop()
        shutil.rmtree(servers.postgres.home.parent)
    shutil.rmtree(folder)
