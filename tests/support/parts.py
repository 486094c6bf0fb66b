"""Parts of memci as the Procfile starts them: real processes that end with the test."""

from __future__ import annotations

import os
import signal
import socket
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.request import urlopen

import redis
from celery.utils.nodenames import nodename

from memci.broker.app import BROKER_ERRORS, make_app
from memci.broker.names import UPKEEP_QUEUE
from memci.testing import wait_until
from tests.support import deployment
from tests.support.fleet import ROOT
from tests.support.fork_server import ForkedProcess, fork_server

# On a busy machine, loading the small models takes long.
_READY_S = 90.0
_STOP_S = 45.0


@dataclass
class Part:
    """One process, its arguments and its environment."""

    name: str
    process: ForkedProcess
    environment: Mapping[str, str]
    log: Path

    @property
    def log_text(self) -> str:
        return self.log.read_text(errors="replace")

    def wait_ready(self) -> None:
        def ready() -> bool:
            assert self.process.poll() is None, f"{self.name} ended:\n{self.log_text[-3000:]}"
            return self._is_ready()

        try:
            wait_until(ready, f"{self.name} is ready", timeout_s=_READY_S)
        except AssertionError as error:
            error.add_note(self.log_text[-3000:])
            raise

    def stop(self) -> int:
        """Stop the process as a deployment does; return its exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(_STOP_S)

    def close(self) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait(10)

    def status(self, port: str, path: str) -> int | None:
        """The HTTP status of a path; None while the process does not answer."""
        try:
            with urlopen(f"http://127.0.0.1:{self.environment[port]}{path}", timeout=5) as answer:
                return int(answer.status)
        except HTTPError as error:
            with error:
                return error.code
        except (URLError, OSError):
            return None

    def _is_ready(self) -> bool:
        broker_url = self.environment["MEMCI_BROKER_URL"]
        match self.name:
            case "api":
                return self.status("MEMCI_PORT", "/readyz") == 200
            case "flower":
                return self.status("MEMCI_FLOWER_PORT", "/healthcheck") == 200
            case "beat":
                with closing(redis.Redis.from_url(broker_url)) as client:
                    return client.llen(UPKEEP_QUEUE) > 0
            case worker:
                name = nodename(worker, socket.gethostname())
                return _answers(broker_url, name)


@contextmanager
def start(
    name: str,
    database_url: str,
    broker_url: str,
    folder: Path,
    *,
    commands: Mapping[str, Sequence[str]] | None = None,
    **more: str,
) -> Iterator[Part]:
    """Start the line of the Procfile with this name, or another command."""
    command = (commands or deployment.procfile())[name]
    scripts = Path(sys.executable).parent
    environment = {
        **os.environ,
        "PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "MEMCI_DATABASE_URL": database_url,
        "MEMCI_BROKER_URL": broker_url,
        "MEMCI_PORT": str(_free_port()),
        "MEMCI_FLOWER_PORT": str(_free_port()),
        "MEMCI_FLOWER_PASSWORD": "secret-of-flower",
        "MEMCI_QUEUE_LEASE_MS": "3000",
        **more,
    }
    log = folder / f"{name}.log"
    process = fork_server().start(command, environment, folder, Path(os.devnull), log, log)
    part = Part(name, process, environment, log)
    try:
        yield part
    finally:
        part.close()


def _answers(broker_url: str, worker: str) -> bool:
    try:
        with make_app(broker_url) as app:
            return bool(app.control.ping(destination=[worker], timeout=2, limit=1))
    except BROKER_ERRORS:
        return False


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
