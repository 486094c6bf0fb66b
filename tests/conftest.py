"""Real servers for every test that asks for them: one PostgreSQL a run, one Redis a process."""

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

from memci.embedded import Postgres, Redis, Servers
from memci.testing import RunServers
from tests.support.databases import Databases
from tests.support.examples import register_profiles
from tests.support.fixtures import client, database, fleet, module_database, producer
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

RUN = pytest.StashKey[RunServers]()
FOLDER = "memci_run"


def pytest_configure(config: pytest.Config) -> None:
    """Open the run in the controlling process; its workers take part in it."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # begun with "&" by a shell, and so would
        signal.signal(signal.SIGINT, signal.default_int_handler)  # be what tests start
    _make_processes_start_soon()
    handed_over: dict[str, Any] | None = getattr(config, "workerinput", None)
    if handed_over is not None:
        config.stash[RUN] = RunServers(Path(handed_over[FOLDER]))
        return
    run = ExitStack()
    config.stash[RUN] = run.enter_context(RunServers.begin())
    config.add_cleanup(run.close)


def _make_processes_start_soon() -> None:
    """Spare this process, and those that tests start, what they would do again and again."""
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # to compile all that is imported
    # To read the authorities of the world, for each new HTTP client: tests reach this machine only.
    os.environ.pop("SSL_CERT_FILE", None)
    os.environ["SSL_CERT_DIR"] = os.devnull


@pytest.fixture(autouse=True)
def logs_as_they_were() -> Iterator[None]:
    """Undo what a test, or a process's beginning that it runs, does to the logs of this process.

    Streams that it logged to are closed behind it.
    """
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
    """Tell a worker of pytest-xdist which run it takes part in."""
    node.workerinput[FOLDER] = str(node.config.stash[RUN].folder)


@pytest.fixture(scope="session")
def shared_postgres(pytestconfig: pytest.Config) -> Postgres:
    """The PostgreSQL of the run: not to be stopped by a test."""
    return pytestconfig.stash[RUN].postgres()


@pytest.fixture(scope="session")
def process_redis(pytestconfig: pytest.Config) -> Iterator[Redis]:
    """The Redis of this process: not to be stopped by a test."""
    worker: dict[str, Any] = getattr(pytestconfig, "workerinput", {"workerid": "main"})
    server = pytestconfig.stash[RUN].redis(f"redis-{worker['workerid']}")
    yield server
    server.stop()


@pytest.fixture(scope="session")
def databases(shared_postgres: Postgres) -> Iterator[Databases]:
    """Databases for tests of this process, on the PostgreSQL of the run."""
    with closing(Databases(shared_postgres)) as made:
        yield made


@pytest.fixture
def database_url(databases: Databases) -> Iterator[str]:
    """A database with the migrations run and no rows, which no other test sees."""
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
    """A private PostgreSQL (with the migrations run) and Redis, to kill, freeze and restart."""
    with pytestconfig.stash[RUN].servers() as servers:
        yield servers
