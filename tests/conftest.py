"""Fixtures for real servers: one PostgreSQL per run, one Redis per process."""

from __future__ import annotations

import logging
import os
import signal
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest
import redis
import structlog
from httpx._config import DEFAULT_TIMEOUT_CONFIG

from memci.config.settings import Settings
from memci.embedded import Postgres, Redis, Servers
from memci.testing import RunServers
from tests.support.databases import Databases
from tests.support.examples import register_profiles
from tests.support.fixtures import client, database, fleet, module_database, producer
from tests.support.fork_server import serve
from tests.support.page_stores import bucket, page_store, s3_endpoint, s3_store

__all__ = [
    "bucket",
    "client",
    "database",
    "fleet",
    "module_database",
    "page_store",
    "producer",
    "s3_endpoint",
    "s3_store",
]

register_profiles()
# One folder for all tests, which have data folders of their own.
os.environ["MEMCI_EMBEDDER_DIR"] = str(Settings().embedder_folder)

RUN = pytest.StashKey[RunServers]()
FOLDER = "memci_run"


def pytest_configure(config: pytest.Config) -> None:
    """Start the servers in the controlling process; workers of pytest-xdist use them too."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a shell started pytest with "&":
        signal.signal(signal.SIGINT, signal.default_int_handler)  # children would ignore SIGINT too
    DEFAULT_TIMEOUT_CONFIG.read = 60.0  # 5 s are too few on a busy machine
    _make_processes_start_soon()
    handed_over: dict[str, Any] | None = getattr(config, "workerinput", None)
    if handed_over is not None:
        config.stash[RUN] = RunServers(Path(handed_over[FOLDER]))
        return
    run = ExitStack()
    config.stash[RUN] = run.enter_context(RunServers.begin())
    config.add_cleanup(run.close)
    if config.getoption("numprocesses", None):
        serve(config.stash[RUN].folder / "forks")


def _make_processes_start_soon() -> None:
    """Avoid repeated work in this process and in those that tests start."""
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # Python need not compile each import again
    # HTTP clients need not read all certificates: tests use servers on this machine only.
    os.environ.pop("SSL_CERT_FILE", None)
    os.environ["SSL_CERT_DIR"] = os.devnull


@pytest.fixture(autouse=True)
def logs_as_they_were() -> Iterator[None]:
    """Restore the logging of this process after each test; drop handlers of closed streams."""
    root = logging.getLogger()
    streams = [(each, getattr(each, "stream", None)) for each in root.handlers]
    root.handlers[:] = [each for each, stream in streams if not getattr(stream, "closed", False)]
    handlers, level = root.handlers[:], root.level
    yield
    if root.handlers != handlers:
        structlog.reset_defaults()
        root.handlers[:] = handlers
        root.setLevel(level)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Give a worker of pytest-xdist the folder of the run."""
    node.workerinput[FOLDER] = str(node.config.stash[RUN].folder)


@pytest.fixture(scope="session")
def shared_postgres(pytestconfig: pytest.Config) -> Postgres:
    """The PostgreSQL of the run. Tests must not stop it."""
    return pytestconfig.stash[RUN].postgres()


@pytest.fixture(scope="session")
def process_redis(pytestconfig: pytest.Config) -> Iterator[Redis]:
    """The Redis of this process. Tests must not stop it."""
    worker: dict[str, Any] = getattr(pytestconfig, "workerinput", {"workerid": "main"})
    server = pytestconfig.stash[RUN].redis(f"redis-{worker['workerid']}")
    yield server
    server.stop()


@pytest.fixture(scope="session")
def databases(shared_postgres: Postgres) -> Iterator[Databases]:
    """Databases for tests of this process, on the PostgreSQL of the run."""
    with closing(Databases(shared_postgres)) as databases_:
        yield databases_


@pytest.fixture
def database_url(databases: Databases) -> Iterator[str]:
    """A migrated, empty database that no other test uses."""
    with databases.lend() as url:
        yield url


@pytest.fixture
def broker_url(process_redis: Redis) -> str:
    """An empty Redis."""
    with closing(redis.Redis.from_url(process_redis.url)) as client:
        client.flushall()
    return process_redis.url


@pytest.fixture
def own_servers(pytestconfig: pytest.Config) -> Iterator[Servers]:
    """A private, migrated PostgreSQL and a private Redis that a test may kill and restart."""
    with pytestconfig.stash[RUN].servers() as servers:
        yield servers
