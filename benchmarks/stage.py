"""The environment of one run: own servers in a temporary folder, and real worker processes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_hex
from socket import socket
from tempfile import TemporaryDirectory
from typing import Any

import psycopg
import redis
from psycopg.conninfo import make_conninfo
from sqlalchemy import make_url

from memci.config.settings import Settings
from memci.embedded import Servers
from memci.embedded.files import free_port
from memci.storage.session import Database
from memci.testing import RunServers, database_copy, wait_until

ROOT = Path(__file__).parents[1]
READY_S = 180.0
LANE_POOL = ("-P", "threads", "-c", "8")


@dataclass
class Process:
    """A measured process and its output."""

    name: str
    popen: subprocess.Popen[bytes]
    log: Path

    def wait_for(self, text: str, timeout_s: float = READY_S) -> None:
        """Wait until the process has printed this text."""

        def has_printed() -> bool:
            printed = self.log.read_text(errors="replace")
            if self.popen.poll() is not None:
                raise RuntimeError(f"{self.name} ended:\n{printed[-3000:]}")
            return text in printed

        wait_until(has_printed, f"{self.name} says {text!r}", timeout_s=timeout_s)

    @property
    def cpu_s(self) -> float:
        """CPU seconds so far."""
        fields = Path(f"/proc/{self.popen.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def stop(self) -> None:
        """Terminate the process; kill it if it does not end."""
        if self.popen.poll() is None:
            self.popen.send_signal(signal.SIGTERM)
            try:
                self.popen.wait(20)
            except subprocess.TimeoutExpired:
                self.popen.kill()
        self.popen.wait()


@dataclass
class Stage:
    """One database and one broker, and the processes that work on them."""

    servers: Servers
    database_url: str
    folder: Path
    processes: list[Process] = field(default_factory=list)

    @property
    def broker_url(self) -> str:
        """The broker."""
        return self.servers.redis.url

    def start(self, name: str, *command: str, **environment: str) -> Process:
        """Start a Python program (``-m module arguments``) with the settings of the stage."""
        log = self.folder / f"{name}-{token_hex(3)}.log"
        with log.open("wb") as out:
            popen = subprocess.Popen(
                [sys.executable, *command],
                cwd=ROOT,
                env={**self.environment, **environment},
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
            )
        process = Process(name, popen, log)
        self.processes.append(process)
        return process

    def start_api(self) -> tuple[Process, int]:
        """Start the API and wait until it answers; return the process and its port."""
        port = free_port()
        api = self.start("api", "-m", "memci.http", MEMCI_PORT=str(port))

        def is_up() -> bool:
            with socket() as probe:
                return probe.connect_ex(("127.0.0.1", port)) == 0

        wait_until(is_up, "the API listens", timeout_s=READY_S)
        return api, port

    def call(self, module: str, **settings: object) -> Any:
        """Run a module of the benchmarks with these settings; return the JSON it printed."""
        done = subprocess.run(
            [sys.executable, "-m", module, json.dumps(settings)],
            cwd=ROOT, env=self.environment, check=True, stdout=subprocess.PIPE, timeout=300,
        )  # fmt: skip
        return json.loads(done.stdout)

    def start_worker(
        self, app: str, queue: str, *pool: str, name: str = "worker", **environment: str
    ) -> Process:
        """Start a Celery worker of one queue, and return when it is ready."""
        worker = self.start(
            name, "-m", "celery", "-A", app, "worker", "-n", f"{name}@bench", "-Q", queue, *pool,
            "--without-gossip", "--without-mingle", "-E", "-l", "INFO", **environment,
        )  # fmt: skip
        worker.wait_for(" ready.")
        return worker

    def stop(self, processes: Sequence[Process]) -> None:
        """Stop processes."""
        for process in processes:
            process.stop()
            self.processes.remove(process)

    @property
    def environment(self) -> dict[str, str]:
        """The environment of processes: the servers of this stage, without other settings."""
        kept = {key: value for key, value in os.environ.items() if not key.startswith("MEMCI_")}
        return {
            **kept,
            "PYTHONPATH": str(ROOT),
            "MEMCI_DATABASE_URL": self.database_url,
            "MEMCI_BROKER_URL": self.broker_url,
            "MEMCI_EMBEDDER_DIR": str(Settings().embedder_folder),
            "OMP_NUM_THREADS": "1",  # as ``memci up`` and the deployments set it
        }

    @contextmanager
    def database(self) -> Iterator[Database]:
        """Lend a ``Database``."""
        database = Database(self.database_url)
        try:
            yield database
        finally:
            database.close()

    @property
    def migration_url(self) -> str:
        """The database, for the login that changes its schema."""
        name = make_url(self.database_url).database
        url = make_url(self.servers.postgres.migration_url).set(database=name)
        return url.render_as_string(hide_password=False)

    @property
    def owner_conninfo(self) -> str:
        """The connection string with which another process connects as ``owner``, over TCP."""
        with self.owner() as connection:
            return make_conninfo(connection.info.dsn, host="127.0.0.1")

    def owner(self) -> psycopg.Connection:
        """Connect as the superuser in autocommit mode, to fill and read tables."""
        name = self.database_url.partition("?")[0].rpartition("/")[2]
        return self.servers.postgres.connect_as_superuser(name)

    @contextmanager
    def redis(self) -> Iterator[redis.Redis]:
        """Lend a client of the broker."""
        with closing(redis.Redis.from_url(self.broker_url)) as client:
            yield client

    def clear(self) -> None:
        """Empty every table."""
        with self.owner() as connection:
            tables = connection.execute(
                "SELECT string_agg(format('%I', tablename), ', ') FROM pg_tables"
                " WHERE schemaname = 'public' AND tablename <> 'alembic_version'"
            ).fetchone()
            assert tables is not None
            connection.execute(f"TRUNCATE {tables[0]}".encode())


@contextmanager
def open_servers() -> Iterator[Servers]:
    """Start PostgreSQL and Redis with durable writes; stop and remove them at the end.

    A run removes what a killed one left behind.
    """
    with RunServers.begin() as run, run.servers(durable=True) as servers:
        yield servers


@contextmanager
def open_stage(servers: Servers) -> Iterator[Stage]:
    """Lend a fresh database and an empty broker; end every process that was started on them."""
    with (
        TemporaryDirectory(prefix="memci-bench-") as folder,
        database_copy(servers.postgres) as url,
        closing(redis.Redis.from_url(servers.redis.url)) as client,
    ):
        client.flushall()
        stage = Stage(servers, url, Path(folder))
        try:
            yield stage
        finally:
            stage.stop(list(stage.processes))
