"""One part of ``memci up``: its process, its restarts and its log file."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Collection, Mapping
from contextlib import suppress
from enum import StrEnum
from pathlib import Path

import httpx

from memci.broker.app import BROKER_ERRORS, make_app
from memci.cli.up.addresses import WORKERS, Addresses, Command
from memci.embedded.files import PLAIN, open_log, read_from

_TIMEOUT_S = 2.0
_DUTIES = "memci.upkeep."


class Readiness:
    """Checks whether parts are ready; used by one thread.

    A worker answers a ping; beat is ready when upkeep has received a duty since beat started.
    """

    def __init__(
        self, addresses: Addresses, broker_url: str, flower_login: tuple[str, str]
    ) -> None:
        """Take the addresses of the parts."""
        self._addresses = addresses
        self._celery = make_app(broker_url)
        self._http = httpx.Client(timeout=_TIMEOUT_S)
        self._flower_login = flower_login
        self._duties_before: dict[int, int] = {}

    def close(self) -> None:
        """Close the connections."""
        self._http.close()
        self._celery.close()

    def ready(self, starting: Mapping[str, int]) -> Collection[str]:
        """Return the names of the ready parts among these names with process ids."""
        pages = {
            "api": (f"{self._addresses.api_url}/readyz", None),
            "flower": (f"{self._addresses.flower_url}/healthcheck", self._flower_login),
        }
        found = {name for name, page in pages.items() if name in starting and self._answers(*page)}
        if workers := [name for name in WORKERS if name in starting]:
            answers = self._ask("ping", [_node(name) for name in workers])
            found |= {name for name in workers if _node(name) in answers}
        if "beat" in starting and self._is_beat_ready(starting["beat"]):
            found.add("beat")
        return found

    def _answers(self, url: str, login: tuple[str, str] | None) -> bool:
        try:
            return self._http.get(url, auth=login).is_success
        except httpx.TransportError:
            return False

    def _is_beat_ready(self, pid: int) -> bool:
        node = _node("upkeep")
        totals = self._ask("stats", [node]).get(node, {}).get("total")
        if totals is None:
            return False
        duties = sum(count for task, count in totals.items() if task.startswith(_DUTIES))
        if not self._duties_before:
            self._duties_before[pid] = 0  # the first beat, started together with upkeep
        return duties > self._duties_before.setdefault(pid, duties)

    def _ask(
        self, question: str, nodes: Collection[str]
    ) -> Mapping[str, Mapping[str, Mapping[str, int]]]:
        inspect = self._celery.control.inspect(
            destination=list(nodes), timeout=_TIMEOUT_S, limit=len(nodes)
        )
        try:
            return getattr(inspect, question)() or {}
        except BROKER_ERRORS:
            return {}


def _node(name: str) -> str:
    return f"{name}@{socket.gethostname()}"


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
    """A command that is kept running, used by the main thread only.

    The kernel kills the process when that thread ends.
    """

    def __init__(
        self, name: str, command: Command, environment: Mapping[str, str], log: PartLog
    ) -> None:
        """Take the command; nothing is started yet."""
        self.name = name
        self.log = log
        self.state = State.STOPPED
        self.note = ""
        self.restarts = 0
        self.false_starts = 0
        self._command = command
        self._environment = environment
        self._process: subprocess.Popen[bytes] | None = None
        self._started_at = 0.0
        self._start_at: float | None = None

    @property
    def pid(self) -> int | None:
        """The process, if there is one."""
        return self._process.pid if self._process else None

    def start(self) -> None:
        """Start the process in its own session, so that Ctrl-C does not reach it."""
        wrapper = (sys.executable, "-m", "memci.cli.up.parent_death", str(os.getpid()))
        descriptor = self.log.open()
        try:
            self._process = subprocess.Popen(
                (*wrapper, *self._command),
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=descriptor,
                stderr=descriptor,
                start_new_session=True,
            )
        finally:
            os.close(descriptor)
        self._started_at, self._start_at = time.monotonic(), None
        self.state, self.note = State.STARTING, ""

    def check(self) -> bool:
        """Check the process, restart it when due; return True if the state has changed."""
        if self._process is not None and (code := self._process.poll()) is not None:
            self._schedule_restart(code)
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
        if self._process is None or self._process.poll() is not None:
            self._process = None
            self.state, self.note = State.STOPPED, ""
            return True
        return False

    def _signal(self, number: signal.Signals) -> None:
        if self._process is not None and self._process.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, number)

    def _schedule_restart(self, code: int) -> None:
        if self.state is State.STARTING:
            self.false_starts += 1
        wait_s = pause_s(self.false_starts)
        self.state = State.FAILED if self.false_starts >= FALSE_STARTS else State.RESTARTING
        self.note = f"{_ending(code)}, again in {wait_s:.0f} s"
        self._process = None
        self._start_at = time.monotonic() + wait_s


def _ending(code: int) -> str:
    if code >= 0:
        return f"exited with code {code}"
    try:
        return f"killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"killed by signal {-code}"
