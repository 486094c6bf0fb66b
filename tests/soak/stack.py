"""`memci up` in a folder of its own, with its parts and servers, for the soak to break."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import psycopg

from memci.cli.up.addresses import local_parts
from memci.config.settings import Settings
from memci.embedded import Servers, servers_of
from memci.embedded.files import free_port
from memci.testing import wait_until
from tests.support.command_line import Up, up

PARTS = tuple(local_parts(2))
# The process that forks the parts.
FORK_SERVER = "start"
READY = "memci is ready at"
_READY_S = 180.0
_STOP_S = 120.0


@dataclass
class Stack:
    """A running memci, which its supervisor keeps alive."""

    folder: Path
    settings: Mapping[str, str]
    url: str
    servers: Servers
    _open: ExitStack = field(default_factory=ExitStack)
    _up: Up | None = None
    _starts: int = 0

    @property
    def data_dir(self) -> Path:
        """The folder of the servers and logs."""
        return self.folder / "data"

    @property
    def broker_url(self) -> str:
        """Of the broker, wherever it runs."""
        return self.settings.get("MEMCI_BROKER_URL") or self.servers.redis.url

    @property
    def has_redis(self) -> bool:
        """Whether the broker is the embedded Redis, which may be broken."""
        return "MEMCI_BROKER_URL" not in self.settings

    def start(self) -> None:
        """Start `memci up`; it adopts servers that still run."""
        self._starts += 1
        output = self.folder / f"up-{self._starts}.log"
        self._up = self._open.enter_context(up(self.data_dir, output, **self.settings))

    def revive(self) -> str | None:
        """Start `memci up` again if it has ended by itself; return what it said last."""
        assert self._up is not None
        if not self._ended():
            return None
        said, was_ready = self._up.log_text.splitlines()[-1:], READY in self._up.log_text
        self.start()
        return f"memci up, {'ready' if was_ready else 'starting'}: {''.join(said)}"

    def kill(self) -> None:
        """Kill `memci up`, and with it all parts; its servers go on."""
        assert self._up is not None
        self._up.process.kill()
        self._up.process.wait(10)

    def wait_ready(self) -> None:
        """Wait until the API answers that it is ready."""
        wait_until(self._is_ready, "memci is ready", timeout_s=_READY_S)

    def hurry(self) -> None:
        """Let the compress worker compete for processors: else it waits for idle ones."""
        for task in Path(f"/proc/{self.pid('compress')}/task").glob("*"):
            with suppress(OSError):  # it has ended
                os.sched_setscheduler(int(task.name), os.SCHED_OTHER, os.sched_param(0))

    def stop(self) -> None:
        """Stop all: as Ctrl-C does, or else by force."""
        if self._up is not None and not self._ended():
            self._up.interrupt()
            wait_until(self._ended, "memci up has ended", timeout_s=_STOP_S)

    def close(self) -> None:
        """End every process, however the run ended."""
        self._open.close()
        for server in (self.servers.redis, self.servers.postgres):
            server.stop()

    def remove(self) -> None:
        """Remove the folder."""
        shutil.rmtree(self.servers.postgres.home.parent, ignore_errors=True)
        shutil.rmtree(self.folder)

    def pid(self, part: str) -> int | None:
        """Return the process of a part, if it runs."""
        return self._up.parts().get(part) if self._up else None

    def fork_server(self) -> int | None:
        """Return the process that starts the parts, if it runs."""
        parent = self.pid("upkeep") or self.pid("beat")
        try:
            stat = Path(f"/proc/{parent}/stat").read_text()
        except OSError:
            return None
        return int(stat.rpartition(")")[2].split()[1])

    def connect(self) -> psycopg.Connection:
        """Connect to the database as its superuser."""
        return self.servers.postgres.connect_as_superuser("memci")

    def rows(self, query: str, values: Mapping[str, Any] | None = None) -> list[tuple[Any, ...]]:
        """Return the rows of a query."""
        with self.connect() as connection:
            return connection.execute(query.encode(), values).fetchall()

    def log_lines(self, text: str) -> Iterator[str]:
        """Yield the lines with a text, from the logs of `memci up` and of all parts."""
        for log in sorted([*self.folder.glob("up-*.log"), *self.data_dir.glob("logs/*.log")]):
            for line in log.read_text(errors="replace").splitlines():
                if text in line:
                    yield f"{log.name}: {line}"

    def _is_ready(self) -> bool:
        assert self._up is not None
        assert self._up.process.poll() is None, self._up.log_text
        # Compress workers wait for processors that others leave free: it may take them long.
        with suppress(httpx.TransportError):
            return httpx.get(f"{self.url}/readyz").is_success
        return False

    def _ended(self) -> bool:
        return self._up is None or self._up.process.poll() is not None


@contextmanager
def running(parent: Path | None, broker_url: str | None, lease_ms: int) -> Iterator[Stack]:
    """Lend a ready memci in a new folder below ``parent``; its processes end with the block."""
    folder = Path(tempfile.mkdtemp(prefix="memci-soak-", dir=parent))
    port, flower_port = free_port(), free_port()
    os.environ.setdefault("MEMCI_EMBEDDER_DIR", str(Settings().embedder_folder))
    settings = {
        "MEMCI_PORT": str(port),
        "MEMCI_FLOWER_PORT": str(flower_port),
        "MEMCI_QUEUE_LEASE_MS": str(lease_ms),
    }
    if broker_url is not None:
        settings["MEMCI_BROKER_URL"] = broker_url
    servers = servers_of(folder / "data")
    stack = Stack(folder, settings, f"http://127.0.0.1:{port}", servers)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        stack.start()
        stack.wait_ready()
        yield stack
    finally:
        stack.close()
