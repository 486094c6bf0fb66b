"""Serves the application on a free port, in a thread."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from pydantic import SecretStr
from sqlalchemy import text

from memci.config.settings import Settings
from memci.embedded import Postgres, Redis
from memci.http.app import create_app, make_server
from memci.runtime import Runtime
from memci.telemetry.traces import NO_TRACES, Traces
from memci.testing import database_copy, wait_until
from tests.support.fleet import Fleet, fleet


@dataclass(frozen=True)
class Served:
    """A running server and its runtime."""

    url: str
    runtime: Runtime

    def count(self, table: str) -> int | None:
        """Return the number of rows of all agents that a lane transaction sees in a table."""
        with self.runtime.database.lane_transaction() as connection:
            return connection.scalar(text(f"SELECT count(*) FROM {table}"))

    def messages(self, agent_id: str) -> list[str | None]:
        """Return the contents of an agent's stored messages, in order."""
        with self.runtime.database.agent_snapshot(agent_id) as connection:
            rows = connection.exec_driver_sql("SELECT content FROM message ORDER BY seq")
            return [row[0] for row in rows]


@contextmanager
def served(settings: Settings, traces: Traces = NO_TRACES) -> Iterator[Served]:
    """Serve with these settings until the block ends."""
    with closing(Runtime(settings)) as runtime:
        runtime.traces = traces
        with _running(runtime) as url:
            yield Served(url, runtime)


@contextmanager
def served_alone(database_url: str, broker_url: str) -> Iterator[Served]:
    """Serve without a worker: every read times out after 300 ms."""
    settings = Settings(
        database_url=SecretStr(database_url),
        broker_url=SecretStr(broker_url),
        http_read_timeout_ms=300,
    )
    with served(settings) as running:
        yield running


@contextmanager
def served_by_workers(
    servers: tuple[Postgres, Redis], folder: Path, *queues: str, app: str, **changed: object
) -> Iterator[tuple[Served, Fleet]]:
    """Serve a copied database, with a worker of ``app`` for each of these queues.

    ``changed`` are settings of the server alone.
    """
    postgres, redis = servers
    with database_copy(postgres) as database_url:
        settings = Settings(database_url=SecretStr(database_url), broker_url=SecretStr(redis.url))
        settings = settings.model_copy(update=changed)
        with fleet(database_url, redis.url, folder) as workers, served(settings) as running:
            workers.app = app
            for queue in queues:
                workers.start(queue)
            yield running, workers


@contextmanager
def _running(runtime: Runtime) -> Iterator[str]:
    server = make_server(create_app(runtime), host="127.0.0.1", port=0)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        wait_until(lambda: server.started or not thread.is_alive(), "the server started")
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(timeout=20)
        assert not thread.is_alive()
