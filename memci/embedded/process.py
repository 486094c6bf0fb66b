"""A server process, held so that a signal can never reach another one.

A process id from a file may be reused by now. So a server is found by its socket: the kernel says
who listens there. It is then held by a pidfd, which names this one process for ever.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import struct
import subprocess
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, Self

from memci.embedded.account import Account
from memci.errors import ConfigurationError

_CONNECT_TIMEOUT_S = 2.0
_CREDENTIALS = struct.Struct("3i")  # pid, uid, gid


class ServerProcess:
    """One process, running or gone; the one that launched it also collects its exit."""

    def __init__(self, pid: int, child: subprocess.Popen[bytes] | None = None) -> None:
        """Take hold of a process; ``ProcessLookupError`` when there is none."""
        self.pid = pid
        self._child = child
        self._pidfd = os.pidfd_open(pid)

    @classmethod
    def launch(cls, command: Sequence[str], account: Account, *, home: Path, log: int) -> Self:
        """Start a server in ``home``, in a session of its own.

        A Ctrl-C in the terminal then reaches the owner only, who decides; and a killed owner
        leaves its servers running.
        """
        try:
            child = subprocess.Popen(
                (*account.prefix, *command),
                stdout=log,
                stderr=log,
                start_new_session=True,
                **_surroundings(account, home),
            )
        except OSError as error:
            raise _cannot_run(command, error) from error
        return cls(child.pid, child)

    @classmethod
    def listening_on(cls, path: Path) -> Self | None:
        """Take hold of the process that listens on this unix socket, if there is one."""
        pid = _listener(path)
        if pid is None:
            return None
        try:
            process = cls(pid)
        except ProcessLookupError:
            return None
        # It may have gone, and its id been reused, just before we took hold.
        if _listener(path) == pid:
            return process
        process.release()
        return None

    def send(self, number: signal.Signals) -> None:
        """Send a signal; a process that is gone gets none."""
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._pidfd, number)

    def wait_gone(self, timeout_s: float) -> bool:
        """Wait until the process has ended, and tell whether it has."""
        poll = select.poll()
        poll.register(self._pidfd, select.POLLIN)
        gone = bool(poll.poll(timeout_s * 1000))
        if gone and self._child:
            self._child.wait()
        return gone

    def with_children(self, stack: ExitStack) -> list[ServerProcess]:
        """Take hold of this process and its children; the stack lets go of the children."""
        held = [self]
        listing = Path(f"/proc/{self.pid}/task/{self.pid}/children")
        with suppress(OSError):
            for pid in map(int, listing.read_text().split()):
                with suppress(ProcessLookupError):
                    held.append(ServerProcess(pid))
                    stack.callback(held[-1].release)
        return held

    def release(self) -> None:
        """Let go of the process, which lives on as it is."""
        if self._pidfd >= 0:
            os.close(self._pidfd)
            self._pidfd = -1
        if self._child and self._child.returncode is None:
            # The launcher's handle would warn that the process still runs: it is meant to.
            self._child.returncode = 0


def run(command: Sequence[str], account: Account, *, home: Path) -> None:
    """Run a command to its end; ``ConfigurationError`` with what it said when it fails."""
    try:
        done = subprocess.run(
            (*account.prefix, *command),
            capture_output=True,
            check=False,
            **_surroundings(account, home),
        )
    except OSError as error:
        raise _cannot_run(command, error) from error
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip()
        raise ConfigurationError(f"{Path(command[0]).name} failed in {home}: {said}")


def _surroundings(account: Account, home: Path) -> dict[str, Any]:
    """Say how a command of ours runs.

    Its environment holds nothing of ours: what is there for other programs (PGOPTIONS, keys)
    is no business of the servers.
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
