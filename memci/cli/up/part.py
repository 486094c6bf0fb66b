"""One part of ``memci up``: its process, its restarts and its log file."""

import base64
import os
import signal
import socket
import struct
import time
from collections.abc import Collection, Mapping
from contextlib import suppress
from enum import StrEnum
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from urllib.parse import urlsplit

from memci.cli.up.addresses import Addresses
from memci.cli.up.fork_server import Command, ForkServer
from memci.embedded.files import PLAIN, open_log, read_from

_TIMEOUT_S = 2.0
_CREDENTIALS = struct.Struct("3i")  # of the sender: process, user and group


class Readiness:
    """Knows which parts are ready; used by one thread.

    Workers and beat tell it themselves (``sd_notify``); pages of the API and Flower are asked.
    """

    def __init__(self, addresses: Addresses, flower_login: tuple[str, str]) -> None:
        """Take the addresses of the parts."""
        login = base64.b64encode(":".join(flower_login).encode()).decode()
        self._pages = {
            "api": (addresses.api_url, "/readyz", {}),
            "flower": (addresses.flower_url, "/healthcheck", {"Authorization": f"Basic {login}"}),
        }
        self._told = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
        self._told.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        self._told.bind("")  # the kernel chooses a name
        self._pids = set[int]()

    @property
    def address(self) -> str:
        """Where parts tell that they are ready."""
        name: bytes = self._told.getsockname()
        return "@" + name[1:].decode()

    def close(self) -> None:
        """Close the socket."""
        self._told.close()

    def ready(self, starting: Mapping[str, int]) -> Collection[str]:
        """Return the names of the ready parts among these names with process ids."""
        self._listen()
        return [
            name
            for name, pid in starting.items()
            if (self._answers(*self._pages[name]) if name in self._pages else pid in self._pids)
        ]

    def _listen(self) -> None:
        with suppress(BlockingIOError):
            while True:
                _, extra, *_ = self._told.recvmsg(64, socket.CMSG_SPACE(_CREDENTIALS.size))
                self._pids |= {_CREDENTIALS.unpack(sender)[0] for *_, sender in extra}

    def _answers(self, url: str, path: str, headers: Mapping[str, str]) -> bool:
        address = urlsplit(url)
        connection = HTTPConnection(str(address.hostname), address.port, timeout=_TIMEOUT_S)
        try:
            connection.request("GET", path, headers=dict(headers))
            return connection.getresponse().status == HTTPStatus.OK
        except (OSError, HTTPException):
            return False
        finally:
            connection.close()


_READ_BYTES = 64 * 1024


class PartLog:
    """A part's log, which each start appends to; a large one is renamed first."""

    def __init__(self, path: Path) -> None:
        """Take the file, which need not exist."""
        self.path = path
        self._start = 0

    def open(self) -> int:
        """Open the log for a new process, and return its descriptor."""
        descriptor = open_log(self.path, PLAIN)
        self._start = os.lseek(descriptor, 0, os.SEEK_END)
        return descriptor

    def last_lines(self, count: int) -> list[str]:
        """Return the last lines written since the last ``open``."""
        if not self.path.exists():
            return []
        text = read_from(self.path, max(self._start, self.path.stat().st_size - _READ_BYTES))
        return [line for line in text.splitlines() if line.strip()][-count:]


# Deaths in a row, without having been ready, after which a part has failed.
FALSE_STARTS = 3
_LONGEST_PAUSE_S = 30.0
# Seconds after which the death of a part that was ready is no loop: it starts again at once.
_STABLE_S = 10.0


class State(StrEnum):
    """State of a part."""

    STARTING = "starting"
    READY = "ready"
    RESTARTING = "restarting"  # died; its next start is scheduled
    FAILED = "failed"  # died repeatedly before it was ready; still restarted
    STOPPED = "stopped"


def pause_s(false_starts: int) -> float:
    """Return how long to wait before the next start: 1, 2, 4 … at most 30 seconds."""
    return min(2.0 ** min(false_starts, 10), _LONGEST_PAUSE_S) if false_starts else 1.0


class Part:
    """A command that is kept running, used by the main thread only."""

    def __init__(
        self,
        name: str,
        command: Command,
        environment: Mapping[str, str],
        log: PartLog,
        server: ForkServer,
    ) -> None:
        """Take the command; nothing is started yet."""
        self.name = name
        self.log = log
        self.pid: int | None = None  # the process, if there is one
        self.state = State.STOPPED
        self.note = ""
        self.restarts = 0
        self.false_starts = 0
        self._command = command
        self._environment = environment
        self._server = server
        self._started_at = 0.0
        self._start_at: float | None = None

    def start(self) -> None:
        """Start the process in its own session, so that Ctrl-C does not reach it."""
        self._started_at, self._start_at = time.monotonic(), None
        self.state, self.note = State.STARTING, ""
        descriptor = self.log.open()
        try:
            self.pid = self._server.fork(self.name, self._command, self._environment, descriptor)
        finally:
            os.close(descriptor)
        if self.pid is None:
            self._schedule_restart("the process that starts it has ended")

    def check(self) -> bool:
        """Check the process, restart it when due; return True if the state has changed."""
        if self.pid is not None and (code := self._server.poll(self.pid)) is not None:
            self._schedule_restart(_ending(code))
            return True
        if self._start_at is not None and time.monotonic() >= self._start_at:
            self.restarts += 1
            self.start()
            return True
        return False

    def note_ready(self, pid: int) -> bool:
        """Note that the process is ready; return True if it was not before."""
        if pid != self.pid or self.state is not State.STARTING:
            return False
        self.state, self.false_starts = State.READY, 0
        self.note = f"in {time.monotonic() - self._started_at:.1f} s"
        return True

    def ask_to_stop(self) -> None:
        """Send SIGTERM: the part finishes its work, and exits."""
        self._start_at = None
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        """Kill the process group."""
        self._start_at = None
        self._signal(signal.SIGKILL)

    def has_stopped(self) -> bool:
        """Return True if the process has ended."""
        if self.pid is None or self._server.poll(self.pid) is not None:
            self.pid = None
            self.state, self.note = State.STOPPED, ""
            return True
        return False

    def _signal(self, number: signal.Signals) -> None:
        if self.pid is not None and self._server.poll(self.pid) is None:
            with suppress(ProcessLookupError):  # it has ended
                try:
                    os.killpg(self.pid, number)
                except ProcessLookupError:  # it was forked just now, and is no group yet
                    os.kill(self.pid, number)

    def _schedule_restart(self, reason: str) -> None:
        if self.state is State.STARTING:
            self.false_starts += 1
        lived_s = time.monotonic() - self._started_at
        stable = self.state is State.READY and lived_s > _STABLE_S
        wait_s = 0.0 if stable else pause_s(self.false_starts)
        self.state = State.FAILED if self.false_starts >= FALSE_STARTS else State.RESTARTING
        self.note = f"{reason}, again in {wait_s:.0f} s"
        self.pid = None
        self._start_at = time.monotonic() + wait_s


def _ending(code: int) -> str:
    if code >= 0:
        return f"exited with code {code}"
    try:
        return f"killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"killed by signal {-code}"
