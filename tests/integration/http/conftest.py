"""The real application, served by uvicorn, on a real database and broker; no workers run."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from typing import Any

import httpx
import pytest
import structlog
from pydantic import SecretStr

from memci.config.settings import Settings
from memci.embedded import Postgres, Redis
from memci.telemetry.logs import configure_logs
from memci.telemetry.traces import NO_TRACES, Traces
from memci.testing import database_copy
from tests.integration.http.serving import Served, served
from tests.support.model_server import ModelServer, model_server, says

Serve = Callable[..., Served]
# No context worker runs, so the proxy only records.
RECORD_ONLY = {"proxy_budget_tokens": 0}


def make_settings(database_url: str, broker_url: str) -> Settings:
    return Settings(
        database_url=SecretStr(database_url),
        broker_url=SecretStr(broker_url),
        http_read_timeout_ms=300,
    )


@pytest.fixture
def serve(database_url: str, broker_url: str) -> Iterator[Serve]:
    """Return a function that starts a server with changed settings; it stops after the test."""
    with ExitStack() as stack:

        def start(*, traces: Traces = NO_TRACES, **changed: object) -> Served:
            settings = make_settings(database_url, broker_url).model_copy(update=changed)
            return stack.enter_context(served(settings, traces))

        yield start


@pytest.fixture
def server(serve: Serve) -> Served:
    return serve()


@pytest.fixture(scope="module")
def one_server(shared_postgres: Postgres, process_redis: Redis) -> Iterator[Served]:
    """One server for all tests of a module, which must store nothing on it."""
    with (
        database_copy(shared_postgres) as database_url,
        served(make_settings(database_url, process_redis.url)) as server,
    ):
        yield server


@pytest.fixture
def http(server: Served) -> Iterator[httpx.Client]:
    with closing(httpx.Client(base_url=server.url, timeout=20)) as client:
        yield client


@pytest.fixture
def logged() -> Iterator[Callable[[], list[dict[str, Any]]]]:
    """Log as a process does; return a function that gives the lines so far."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    root.handlers.clear()
    lines = io.StringIO()
    configure_logs("info", stream=lines)
    yield lambda: [json.loads(line) for line in lines.getvalue().splitlines()]
    structlog.reset_defaults()
    root.handlers[:] = handlers
    root.setLevel(level)


@pytest.fixture
def upstream() -> Iterator[ModelServer]:
    """A model server that answers 'Noted.' and records its requests."""
    with model_server() as model:
        model.rest = says("Noted.")
        yield model


@pytest.fixture
def proxy(serve: Serve, upstream: ModelServer) -> Served:
    return serve(proxy_upstream_url=upstream.url, **RECORD_ONLY)
