"""Starts ``memci``, ``celery`` and modules in processes forked from one that has imported them.

Importing takes longer than most commands run. A forked process has its own environment,
arguments, streams and session, like a fresh one; ``tests/acceptance`` tests what a fresh one
imports.

All processes of a test run share one server. Protocol, on a Unix socket: one JSON line per process
with the paths of the files for its streams and for its exit code; the answer is a line with its
pid.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from typing import Any

import celery.__main__

import memci.cli
from memci.language import chinese_words
from memci.testing import wait_until

ROOT = Path(__file__).parents[2]
_IMPORTED = (
    "beat_schedule", "celery.apps.beat", "celery.apps.worker", "celery.bin.celery",
    "celery.concurrency.solo", "celery.concurrency.thread", "celery.worker.consumer",
    "flower.command", "kombu.transport.redis", "memci.cli.app", "memci.cli.connection",
    "memci.client", "memci.http.app", "memci.jobs", "memci.mcp.server", "memci.runtime",
    "sentence_transformers", "tests.support.scripted_jobs", "torch", "uvicorn",
)  # fmt: skip
_LOOK_EVERY_S = 0.005
_START_S = 90.0  # on a busy machine
_ADDRESS = "TESTS_FORK_SERVER"  # the variable that holds the path of its socket
_serving: list[subprocess.Popen[bytes]] = []


class ForkedProcess:
    """A started process with the methods of ``subprocess.Popen`` that tests use."""

    def __init__(self, pid: int, args: Sequence[str], ended: Path) -> None:
        """Wrap a process; the file ``ended`` will have its exit code."""
        self.pid = pid
        self.args = args
        self.returncode: int | None = None
        self._ended = ended

    def poll(self) -> int | None:
        """Return the exit code, or None while it runs."""
        if self.returncode is None and self._ended.exists():
            self.returncode = int(self._ended.read_text())
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Return the exit code; raises ``TimeoutExpired`` after ``timeout`` seconds."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while (code := self.poll()) is None:
            if deadline is not None and time.monotonic() > deadline:
                raise subprocess.TimeoutExpired(list(self.args), timeout or 0)
            time.sleep(_LOOK_EVERY_S)
        return code

    def send_signal(self, number: int) -> None:
        """Send a signal to the process, if it runs."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """Kill it."""
        self.send_signal(signal.SIGKILL)


def serve(address: Path) -> None:
    """Start the process that forks others; it ends with this process."""
    os.environ[_ADDRESS] = str(address)
    _serving.append(
        subprocess.Popen(
            [sys.executable, "-m", "tests.support.fork_server"],
            stdin=subprocess.PIPE,
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
    )


class ForkServer:
    """A client of the server, which starts processes."""

    def __init__(self, address: Path) -> None:
        """Use the server at this socket; it may still be starting."""
        self._address = str(address)
        self._folder = TemporaryDirectory()
        self._numbers = count()

    def start(
        self, program: Sequence[str], environment: Mapping[str, str], cwd: Path, *files: Path
    ) -> ForkedProcess:
        """Start ``memci``, ``celery`` or ``python -m <module>`` with its arguments.

        ``files`` are for standard input, output and errors; output is appended.
        """
        ended = Path(self._folder.name, str(next(self._numbers)))
        request = {
            "program": list(program),
            "environment": dict(environment),
            "cwd": str(cwd),
            "files": [str(each) for each in files],
            "ended": str(ended),
        }
        with self._connect() as connection, connection.makefile("rw") as lines:
            lines.write(json.dumps(request) + "\n")
            lines.flush()
            return ForkedProcess(int(lines.readline()), program, ended)

    def _connect(self) -> socket.socket:
        def connected() -> socket.socket | None:
            connection = socket.socket(socket.AF_UNIX)
            try:
                connection.connect(self._address)
            except (FileNotFoundError, ConnectionRefusedError):  # the server still imports
                connection.close()
                return None
            return connection

        return wait_until(connected, "the fork server listens", timeout_s=_START_S)

    def run(
        self, program: Sequence[str], environment: Mapping[str, str], given: bytes
    ) -> subprocess.CompletedProcess[str]:
        """Run a program to its end."""
        with TemporaryDirectory() as folder:
            files = [Path(folder, name) for name in ("in", "out", "err")]
            files[0].write_bytes(given)
            code = self.start(program, environment, Path.cwd(), *files).wait()
            outputs = [each.read_text() for each in files[1:]]
        return subprocess.CompletedProcess(list(program), code, *outputs)


@cache
def fork_server() -> ForkServer:
    """Return the server of the run; without one, start one for this process."""
    if _ADDRESS not in os.environ:
        serve(Path(mkdtemp(), "socket"))
    return ForkServer(Path(os.environ[_ADDRESS]))


def _serve(address: str) -> None:
    """Serve requests until standard input ends."""
    for each in _IMPORTED:
        import_module(each)
    chinese_words.words("上海")  # reads the dictionary
    gc.freeze()
    ended: dict[int, Path] = {}

    def reap(*_: object) -> None:
        while ended:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                return
            path = ended.pop(pid)
            part = path.with_suffix(".part")
            part.write_text(str(os.waitstatus_to_exitcode(status)))
            part.rename(path)

    signal.signal(signal.SIGCHLD, reap)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(address)
    listener.listen()
    while sys.stdin not in select.select([listener, sys.stdin], [], [])[0]:
        connection = listener.accept()[0]
        with connection, connection.makefile("rw") as lines:
            line = lines.readline()
            if not line:  # its client was killed
                continue
            request = json.loads(line)
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
            child = os.fork()
            if child == 0:
                listener.close()
                os.close(connection.detach())
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
                _become(request)
            ended[child] = Path(request["ended"])
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
            lines.write(f"{child}\n")


def _become(request: Mapping[str, Any]) -> None:
    """Run the program in this process, and end it."""
    os.setsid()
    os.environ.clear()
    os.environ.update(request["environment"])
    time.tzset()
    os.chdir(request["cwd"])
    written = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    for number, path in enumerate(request["files"]):
        opened = os.open(path, written if number else os.O_RDONLY, 0o600)
        os.dup2(opened, number)
        os.close(opened)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.__stdin__, sys.__stdout__, sys.__stderr__ = sys.stdin, sys.stdout, sys.stderr
    sys.argv = request["program"]
    code: object = 1
    try:
        if sys.argv[0] == "celery":
            celery.__main__.main()
        elif sys.argv[0] == "memci":
            memci.cli.main()
        else:
            module = sys.argv[2]
            del sys.argv[:2]
            runpy.run_module(module, run_name="__main__", alter_sys=True)
    except SystemExit as end:
        code = end.code
    except BaseException as error:  # noqa: BLE001 - as the interpreter does
        sys.excepthook(type(error), error, error.__traceback__)
    finally:
        threading._shutdown()
        atexit._run_exitfuncs()
        if isinstance(code, str):
            sys.stderr.write(f"{code}\n")
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code if isinstance(code, int) else 0 if code is None else 1)


if __name__ == "__main__":
    _serve(os.environ[_ADDRESS])
