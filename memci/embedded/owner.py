"""One process owns the servers of a data folder; all others only connect to them."""

import fcntl
import hashlib
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from memci.config.settings import Settings
from memci.embedded import files
from memci.embedded.files import Account, server_account
from memci.embedded.postgres import Postgres
from memci.embedded.redis import Redis
from memci.errors import ConfigurationError

_LOCK = "lock"


@dataclass(frozen=True, slots=True)
class Addresses:
    """The addresses of database and broker; they may contain passwords."""

    database_url: str = field(repr=False)
    broker_url: str = field(repr=False)
    # The database for the login that may change its schema.
    migration_url: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Servers:
    """The two servers of a data folder."""

    postgres: Postgres
    redis: Redis

    @property
    def addresses(self) -> Addresses:
        """The addresses for programs."""
        return Addresses(self.postgres.url, self.redis.url, self.postgres.migration_url)


@contextmanager
def own(data_dir: Path) -> Iterator[Servers]:
    """Own the servers of this folder: start or adopt them, and stop them at the end.

    The servers of an owner that is killed keep running for the next one. Raises
    ``ConfigurationError`` when another process owns them, the wheels are not installed, or a server
    does not start.
    """
    servers = servers_of(data_dir)
    with _sole_owner(data_dir), ExitStack() as stack:
        for server in (servers.redis, servers.postgres):
            stack.callback(server.stop)
            server.start()
        yield servers


def connect(data_dir: Path) -> Addresses | None:
    """Return the addresses of this folder's servers if both answer; never starts one."""
    account = server_account()
    servers = _servers(_base(data_dir, account), account)
    if servers.redis.answers() and servers.postgres.answers():
        return servers.addresses
    return None


def servers_of(data_dir: Path, *, durable: bool = True) -> Servers:
    """Return the servers of this folder, not started and without an owner.

    For tests, which start, kill and restart them one by one; all other code uses ``own``.
    """
    account = server_account()
    data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    base = _base(data_dir, account)
    base.parent.mkdir(parents=True, exist_ok=True)
    return _servers(files.private_folder(base, account), account, durable=durable)


def owner_of(data_dir: Path) -> str | None:
    """Return the process id of the present owner of this folder's servers, if any.

    It is an early check only: ownership is decided when the servers are started.
    """
    try:
        with (data_dir / _LOCK).open(encoding="ascii") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return lock.read().strip() or "(unknown)"
    except OSError:
        pass  # without a lock file, or if it is unreadable, starting the servers reports the owner
    return None


@contextmanager
def _sole_owner(data_dir: Path) -> Iterator[None]:
    path = data_dir / _LOCK
    path.touch(mode=0o600)
    with path.open("r+", encoding="ascii") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ConfigurationError(
                f"process {lock.read().strip() or '(unknown)'} already runs the servers in "
                f"{data_dir}: stop it first, or set MEMCI_DATA_DIR to another folder"
            ) from None
        # Only for the message above: the lock decides.
        lock.truncate()
        lock.write(f"{os.getpid()}\n")
        lock.flush()
        yield


def _base(data_dir: Path, account: Account) -> Path:
    """Return the folder of the servers' homes: the data folder, if the account can use it."""
    if account.homes is None:
        return data_dir.absolute()
    return account.homes / hashlib.sha256(os.fsencode(data_dir.absolute())).hexdigest()[:16]


def _servers(base: Path, account: Account, *, durable: bool = True) -> Servers:
    return Servers(
        Postgres(base / "postgres", account=account, durable=durable),
        Redis(base / "redis", account=account, durable=durable),
    )


def addresses_of(settings: Settings, embedded: Addresses | None = None) -> Addresses:
    """Return the addresses of database and broker: from the settings, or of embedded servers.

    Those are ``embedded``, or the ones that run in the data folder.
    """
    given = {
        "database_url": settings.database_url,
        "broker_url": settings.broker_url,
        "migration_url": settings.migration_url or settings.database_url,
    }
    known = {name: url.get_secret_value() for name, url in given.items() if url is not None}
    if len(known) == len(given):
        return Addresses(**known)
    running = embedded or connect(settings.data_dir)
    if running is None:
        raise ConfigurationError(
            "no database and broker: set MEMCI_DATABASE_URL and MEMCI_BROKER_URL, or start the "
            "embedded ones with `memci up` in another terminal"
        )
    return replace(running, **known)
