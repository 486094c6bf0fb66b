"""Serves the app with uvicorn."""

import signal
from socket import socket

import anyio.to_thread
import structlog
import uvicorn
from fastapi import FastAPI

from memci.config.settings import LOOPBACK, Settings
from memci.errors import ConfigurationError
from memci.runtime import tune_garbage_collection

_log = structlog.get_logger("memci.http")
# Reads wait for context workers on a thread each; enough are left for writes.
_THREADS = 100
# Time for running requests after a stop signal.
_GRACE_S = 35


def make_server(app: FastAPI, *, host: str, port: int) -> uvicorn.Server:
    """Return a server that is not running yet; port 0 takes a free one."""
    return _Server(
        app,
        uvicorn.Config(
            app,
            host=host,
            port=port,
            loop="uvloop",
            http="httptools",
            ws="none",
            lifespan="off",
            access_log=False,
            log_config=None,
            server_header=False,
            timeout_graceful_shutdown=_GRACE_S,
        ),
    )


def serve(app: FastAPI, settings: Settings, *, host: str, port: int) -> None:
    """Serve until SIGINT or SIGTERM.

    Raises ``ConfigurationError`` instead of serving a network without keys.
    """
    if not settings.api_keys:
        if host not in LOOPBACK:
            raise ConfigurationError(
                f"refusing to bind to {host} without API keys: make one with "
                "`memci keys new NAME` and set MEMCI_API_KEYS, or bind to 127.0.0.1"
            )
        _log.warning("no API keys: serving this machine only", host=host, port=port)
    for stop in (signal.SIGINT, signal.SIGTERM):
        # Uvicorn stops gracefully and then raises the signal again, which is no failure here.
        signal.signal(stop, lambda _signal, _frame: None)
    server = make_server(app, host=host, port=port)
    # Otherwise garbage collection of the app takes half the time of an accept.
    tune_garbage_collection()
    server.run()


class _Server(uvicorn.Server):
    """Uvicorn with more threads, which closes the app's resources at the end."""

    def __init__(self, app: FastAPI, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._app = app

    async def startup(self, sockets: list[socket] | None = None) -> None:
        anyio.to_thread.current_default_thread_limiter().total_tokens = _THREADS
        await super().startup(sockets)

    async def shutdown(self, sockets: list[socket] | None = None) -> None:
        await super().shutdown(sockets)
        for close in self._app.state.closing:
            await close()
