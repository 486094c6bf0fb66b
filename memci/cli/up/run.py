"""``memci up``: starts the embedded servers and all parts, and stops them again."""

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

from memci import __version__, embedded
from memci.cli.output import say
from memci.cli.up.addresses import PARTS, Addresses, choose_addresses
from memci.cli.up.part import Part, PartLog, Readiness
from memci.cli.up.supervisor import INTERRUPTED, Interrupts, Observer, Supervisor, open_board
from memci.config.settings import Settings
from memci.embedded import Servers
from memci.embedded.files import PLAIN, new_password, write_private
from memci.embedded.owner import Addresses as ServerAddresses
from memci.embedded.owner import addresses_of, owner_of
from memci.errors import ConfigurationError
from memci.smallmodel.registry import build_small_models
from memci.storage.migrate import upgrade
from memci.storage.page_store.choose import check_shared
from memci.storage.search.vectors import VectorModel, check_model
from memci.storage.session import Database


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


def check_embedder(settings: Settings, database_url: str) -> None:
    """Raise ``WrongEmbedderError`` if the database's vectors are of another embedder."""
    embedder = build_small_models(settings).embedder
    with closing(Database(database_url)) as database, database.lane_transaction() as connection:
        check_model(connection, VectorModel(embedder.model, embedder.dimension))


def part_environment(
    servers: ServerAddresses, flower_password: str, addresses: Addresses
) -> Mapping[str, str]:
    """Return the environment of every part: this process's own, with these values set."""
    here = str(Path(sys.executable).parent)
    return {
        # Threads of numpy would compete with those of the workers: products of small matrices took
        # four times as long.
        "OMP_NUM_THREADS": "1",
        **os.environ,
        # `python` and `celery` are those of this interpreter.
        "PATH": os.pathsep.join([here, os.environ.get("PATH", os.defpath)]),
        "PYTHONUNBUFFERED": "1",
        "MEMCI_DATABASE_URL": servers.database_url,
        "MEMCI_BROKER_URL": servers.broker_url,
        "MEMCI_FLOWER_PASSWORD": flower_password,
        "MEMCI_PORT": str(addresses.port),
        "MEMCI_FLOWER_PORT": str(addresses.flower_port),
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
        with Interrupts() as interrupts, _servers(settings) as servers:
            return _run(settings, addresses, servers, interrupts)
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


def _run(
    settings: Settings, addresses: Addresses, servers: Servers | None, interrupts: Interrupts
) -> int:
    urls = addresses_of(settings, servers.addresses if servers else None)
    upgrade(urls.database_url)
    check_embedder(settings, urls.database_url)
    password, where = flower_password(settings)
    environment = part_environment(urls, password, addresses)
    logs = settings.data_dir / "logs"
    logs.mkdir(mode=0o700, exist_ok=True)
    parts = [
        Part(name, command, environment, PartLog(logs / f"{name}.log"))
        for name, command in PARTS.items()
    ]
    readiness = Readiness(addresses, urls.broker_url, ("memci", password))
    for line in _headline(settings, addresses, where, logs):
        say(line)
    with open_board(parts) as board:
        supervisor = Supervisor(parts, Observer(readiness, servers), board, interrupts)
        return supervisor.run(f"memci is ready at {addresses.api_url} · Ctrl-C stops everything")


def _headline(settings: Settings, addresses: Addresses, where: str, logs: Path) -> list[str]:
    keys = ", ".join(f"{each.name} ({each.scope})" for each in settings.api_keys)
    return [
        f"memci     {__version__}",
        f"API       {addresses.api_url}   documentation {addresses.api_url}/docs",
        f"Flower    {addresses.flower_url}   user memci, {where}",
        f"logs      {logs}",
        f"keys      {keys or 'none: only programs of this machine are served'}",
        *([f"open      {addresses.exposure_warning}"] if addresses.exposure_warning else []),
    ]
