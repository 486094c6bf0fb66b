"""The FastAPI application."""

import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from socket import socket
from threading import Event
from typing import TypeVar

import anyio
import anyio.to_thread
import structlog
import uvicorn
from fastapi import FastAPI

from memci.commands.keys import check_host
from memci.config.settings import LOOPBACK
from memci.http import agent_tools, documentation, problems
from memci.http.auth import Gate
from memci.http.event_stream import EventStreams
from memci.http.key_cache import KeyCache
from memci.http.protocol import BoundedProtocol
from memci.http.proxy.routes import WITHOUT_PROVIDER, Proxy
from memci.http.request import audit_entry
from memci.http.routers import (
    agents,
    audit,
    documents,
    erasing,
    events,
    frameworks,
    health,
    keys,
    memory,
    network,
    pages,
)
from memci.http.routing import Edge, Routes
from memci.runtime import Runtime, tune_garbage_collection
from memci.storage.diagnosis import lane_gauges
from memci.storage.session import Connection
from memci.storage.usage import total_usage
from memci.telemetry.metrics import HttpMetrics, LaneCollector, ModelCollector

T = TypeVar("T")
# Modules whose ``Routes`` are served, in the order of the documentation.
_SUBJECTS = (memory, agents, events, erasing, network, pages, documents, frameworks, keys, audit)


def create_app(runtime: Runtime) -> FastAPI:
    """Return the application that serves the whole HTTP surface."""
    metrics = HttpMetrics()
    metrics.registry.register(LaneCollector(partial(_measured, runtime, lane_gauges)))
    metrics.registry.register(ModelCollector(partial(_measured, runtime, total_usage)))
    app = FastAPI(
        title="memci", docs_url=None, redoc_url=None, redirect_slashes=False, lifespan=_serving
    )
    app.state.runtime = runtime
    app.state.gate = Gate(runtime)
    app.state.metrics = metrics
    app.state.event_streams = EventStreams(
        runtime.database,
        runtime.stopping,
        app.state.gate.keys,
        most=runtime.settings.http_max_streams,
    )
    app.state.closing = []  # functions to await before the event loop ends
    app.add_middleware(Edge, metrics=metrics, traces=runtime.traces)
    problems.install(app)
    found = [each for subject in _SUBJECTS for each in vars(subject).values()]
    for routes in (each for each in found if isinstance(each, Routes)):
        for router in routes.all:
            app.router.routes.extend(router.routes)
    app.router.routes.extend(health.router.routes)
    app.router.routes.append(agent_tools.route)
    if runtime.settings.proxy_upstream_url is None:
        app.router.routes.append(WITHOUT_PROVIDER)
    else:
        proxy = Proxy(runtime, runtime.settings.proxy_upstream_url)
        app.router.routes.extend(proxy.routes())
        app.state.closing.append(proxy.upstream.close)
    if runtime.settings.console:
        from memci.console.app import Console  # noqa: PLC0415 - only if it is on

        app.router.routes.extend(Console(runtime, app.state.gate, audit_entry).routes())
    documentation.install(app)
    return app


def _measured(runtime: Runtime, measure: Callable[[Connection], T]) -> T:
    with runtime.database.upkeep_transaction() as connection:
        return measure(connection)


_log = structlog.get_logger("memci.http")
# Beside those on which reads wait for context workers.
_THREADS = 36
# Time for running requests after a stop signal.
_GRACE_S = 35


class _Server(uvicorn.Server):
    """A server that ends streams before it waits for requests."""

    def __init__(self, config: uvicorn.Config, stopping: Event) -> None:
        super().__init__(config)
        self._stopping = stopping

    async def shutdown(self, sockets: list[socket] | None = None) -> None:
        """Stop gracefully."""
        self._stopping.set()
        await super().shutdown(sockets)


def make_server(app: FastAPI, *, host: str, port: int) -> uvicorn.Server:
    """Return a server that is not running yet; port 0 takes a free one."""
    config = uvicorn.Config(
        app,
        host=host,
        port=port,
        loop="uvloop",
        http=BoundedProtocol,
        ws="none",
        lifespan="on",
        access_log=False,
        log_config=None,
        server_header=False,
        timeout_graceful_shutdown=_GRACE_S,
    )
    return _Server(config, app.state.runtime.stopping)


def serve(app: FastAPI, *, host: str, port: int) -> None:
    """Serve until SIGINT or SIGTERM.

    Raises ``ConfigurationError`` instead of serving a network without keys.
    """
    known: KeyCache = app.state.gate.keys
    known.refresh()
    check_host(host, has_keys=known.demanded)
    if not known.demanded:
        _log.warning("no API keys: serving this machine only", host=host, port=port)
    known.is_public = host not in LOOPBACK
    for stop in (signal.SIGINT, signal.SIGTERM):
        # Uvicorn stops gracefully and then raises the signal again, which is no failure here.
        signal.signal(stop, lambda _signal, _frame: None)
    server = make_server(app, host=host, port=port)
    # Otherwise garbage collection of the app takes half the time of an accept.
    tune_garbage_collection()
    server.run()


@asynccontextmanager
async def _serving(app: FastAPI) -> AsyncIterator[None]:
    """Serve with more threads and known keys; close the app's resources at the end."""
    threads = _THREADS + app.state.runtime.settings.http_max_reads
    anyio.to_thread.current_default_thread_limiter().total_tokens = threads
    known: KeyCache = app.state.gate.keys
    await anyio.to_thread.run_sync(known.refresh)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(known.keep_fresh)
        yield
        tasks.cancel_scope.cancel()
    for close in app.state.closing:
        await close()
