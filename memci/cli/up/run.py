"""``memci up``: starts the embedded servers and all parts, and stops them again."""

import fcntl
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from memci import __version__, embedded
from memci.cli.output import say
from memci.cli.up.addresses import Addresses, choose_addresses, local_parts
from memci.cli.up.fork_server import ForkServer
from memci.cli.up.part import Part, PartLog, Readiness
from memci.cli.up.supervisor import INTERRUPTED, Interrupts, Observer, Supervisor, open_board
from memci.config.settings import Settings, check_shared
from memci.embedded import Servers
from memci.embedded.files import PLAIN, new_password, write_private
from memci.embedded.owner import Addresses as ServerAddresses
from memci.embedded.owner import addresses_of, owner_of
from memci.errors import ConfigurationError

_LOOK_EVERY_S, _TRIES = 0.02, 25
_PREPARE_S = 60.0  # within which a server that dies is started again
_API_FILE = "api.url"
_OF_MIGRATION = "MEMCI_MIGRATION_URL"


def check_not_running(settings: Settings) -> None:
    """Raise ``ConfigurationError`` while another process owns the servers of the data folder."""
    if settings.database_url is not None and settings.broker_url is not None:
        return  # then the folder has no servers to own
    process = owner_of(settings.data_dir)
    if process is not None:
        raise ConfigurationError(
            f"process {process} already runs memci in {settings.data_dir}: use that one, or stop "
            "it first; for a second one, set other MEMCI_DATA_DIR, MEMCI_PORT and MEMCI_FLOWER_PORT"
        )


def part_environment(
    servers: ServerAddresses, flower_password: str, addresses: Addresses, notify: str
) -> Mapping[str, str]:
    """Return the environment of every part: this process's own, with these values set.

    No part may change the schema.
    """
    return {
        **{name: value for name, value in _environment().items() if name != _OF_MIGRATION},
        "MEMCI_DATABASE_URL": servers.database_url,
        "MEMCI_BROKER_URL": servers.broker_url,
        "MEMCI_FLOWER_PASSWORD": flower_password,
        "MEMCI_PORT": str(addresses.port),
        "MEMCI_FLOWER_PORT": str(addresses.flower_port),
        "NOTIFY_SOCKET": notify,
    }


def _environment() -> Mapping[str, str]:
    return {
        # Threads of numpy would compete with those of the workers: products of small matrices took
        # four times as long.
        "OMP_NUM_THREADS": "1",
        **os.environ,
        "PYTHONUNBUFFERED": "1",
    }


def flower_password(settings: Settings) -> tuple[str, str]:
    """Return the password, and a phrase that says where it is stored."""
    if settings.flower_password is not None:
        return settings.flower_password.get_secret_value(), "password as in MEMCI_FLOWER_PASSWORD"
    path = settings.data_dir / "flower.password"
    if not path.exists():
        write_private(path, new_password() + "\n", PLAIN)
    return path.read_text(encoding="ascii").strip(), f"password in {path}"


def run_everything(settings: Settings) -> int:
    """Run until asked to stop; return the exit code."""
    check_shared(settings)
    check_not_running(settings)
    addresses = choose_addresses(settings)
    try:
        with (
            Interrupts() as interrupts,
            _fork_server(settings) as starting,
            _servers(settings) as servers,
        ):
            return _run(settings, addresses, servers, starting, interrupts)
    except KeyboardInterrupt:
        return INTERRUPTED


@contextmanager
def _servers(settings: Settings) -> Iterator[Servers | None]:
    """Own the embedded servers, unless both addresses are set."""
    if settings.database_url is not None and settings.broker_url is not None:
        settings.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        yield None
        return
    say(f"starting PostgreSQL and Redis in {settings.data_dir} …")
    left_over = embedded.servers_of(settings.data_dir)
    adopted_pids = {left_over.postgres.pid, left_over.redis.pid} - {None}
    with embedded.own(settings.data_dir) as servers:
        for server in (servers.postgres, servers.redis):
            adopted = " · was running, and is adopted" if server.pid in adopted_pids else ""
            say(f"{server.name:<9} {'ready':<10} 127.0.0.1:{server.port}{adopted}")
        yield servers
        say("stopping PostgreSQL and Redis …")


@contextmanager
def _fork_server(settings: Settings) -> Iterator[ForkServer]:
    """Start the process that starts the parts: it loads while the databases start."""
    logs = _logs(settings)
    server = ForkServer(_environment(), logs / "start.log")
    server.start()
    try:
        yield server
    finally:
        server.stop()


def _logs(settings: Settings) -> Path:
    logs = settings.data_dir / "logs"
    logs.mkdir(mode=0o700, parents=True, exist_ok=True)
    return logs


def _run(
    settings: Settings,
    addresses: Addresses,
    servers: Servers | None,
    starting: ForkServer,
    interrupts: Interrupts,
) -> int:
    urls = addresses_of(settings, servers.addresses if servers else None)
    password, where = flower_password(settings)
    readiness = Readiness(addresses, ("memci", password))
    environment = part_environment(urls, password, addresses, readiness.address)
    logs = _logs(settings)
    preparing = {**environment, _OF_MIGRATION: urls.migration_url}
    _prepare(starting, preparing, PartLog(logs / "prepare.log"), servers)
    parts = [
        Part(name, command, environment, PartLog(logs / f"{name}.log"), starting)
        for name, command in local_parts(os.cpu_count() or 1).items()
    ]
    for line in _headline(settings, addresses, where, logs):
        say(line)
    with _announced(settings.data_dir, addresses.api_url), open_board(parts) as board:
        supervisor = Supervisor(parts, Observer(readiness, servers), board, interrupts)
        return supervisor.run(f"memci is ready at {addresses.api_url} · Ctrl-C stops everything")


@contextmanager
def _announced(data_dir: Path, url: str) -> Iterator[None]:
    """Let other programs find the address of the API: see ``announced_api``.

    With servers elsewhere, a second ``memci up`` may run on the folder: the first one is announced.
    """
    path = data_dir / _API_FILE
    path.touch(mode=0o600)
    with path.open("r+", encoding="ascii") as file:
        if _lock(file):
            file.truncate()
            file.write(f"{url}\n")
            file.flush()
        yield


def _lock(file: IO[str]) -> bool:
    """Lock a file unless another process keeps its lock; a reader has it for an instant."""
    for _ in range(_TRIES):
        with suppress(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        time.sleep(_LOOK_EVERY_S)
    return False


def announced_api(data_dir: Path) -> str | None:
    """Return the address of the API that runs on this folder, if one does.

    A killed process leaves its file, and its port may be another's by now: the lock decides.
    """
    try:
        with (data_dir / _API_FILE).open(encoding="ascii") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return file.read().strip() or None
    except OSError:
        pass  # there was none yet
    return None


def _prepare(
    starting: ForkServer, environment: Mapping[str, str], log: PartLog, servers: Servers | None
) -> None:
    """Upgrade the database, and check it; ``ConfigurationError`` says what is wrong.

    If an embedded server dies meanwhile, it is started again.
    """
    deadline = time.monotonic() + _PREPARE_S
    while (code := _exit_code(starting, environment, log)) != 0:
        if code != os.EX_TEMPFAIL or servers is None or time.monotonic() > deadline:
            said = log.last_lines(1)
            raise ConfigurationError(said[0] if said else f"the start has failed; see {log.path}")
        servers.postgres.start()


def _exit_code(starting: ForkServer, environment: Mapping[str, str], log: PartLog) -> int | None:
    """Run ``memci.cli.up.prepare`` to its end."""
    command = ("python", "-m", "memci.cli.up.prepare")
    descriptor = log.open()
    try:
        pid = starting.fork("prepare", command, environment, descriptor)
    finally:
        os.close(descriptor)
    while pid is not None and (code := starting.poll(pid)) is None:
        time.sleep(_LOOK_EVERY_S)
    return None if pid is None else code


def _headline(settings: Settings, addresses: Addresses, where: str, logs: Path) -> list[str]:
    keys = ", ".join(f"{each.name} ({each.scope})" for each in settings.api_keys)
    return [
        f"memci     {__version__}",
        f"API       {addresses.api_url}   documentation {addresses.api_url}/docs",
        *([f"console   {addresses.api_url}/console"] if settings.console else []),
        f"Flower    {addresses.flower_url}   user memci, {where}",
        f"logs      {logs}",
        f"keys      {keys or 'see `memci keys list`; without any, only this machine is served'}",
        *([f"open      {addresses.exposure_warning}"] if addresses.exposure_warning else []),
    ]
