"""Starts ``memci`` and ``celery`` in processes that are forked from one that has imported them.

To import takes longer than most commands do, and than most workers of a test live. A forked
process has its own environment, arguments, streams and session, as a fresh one has; what a fresh
one imports is tested in ``tests/acceptance``.

Protocol: one JSON line a process on standard input, with the paths of the files that stand for its
streams and of the file for its exit code; one line with its pid on standard output.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

ROOT = Path(__file__).parents[2]
_IMPORTED = (
    "beat_schedule", "celery.apps.beat", "celery.apps.worker", "celery.bin.celery",
    "celery.concurrency.solo", "celery.concurrency.thread", "celery.worker.consumer",
    "kombu.transport.redis", "memci.cli.app", "memci.cli.connection", "memci.client",
    "memci.http.app", "memci.jobs", "memci.runtime", "tests.support.scripted_jobs",
)  # fmt: skip
_LOOK_EVERY_S = 0.005


class ForkedProcess:
    """A started process: what tests use of ``subprocess.Popen``."""

    def __init__(self, pid: int, args: Sequence[str], ended: Path) -> None:
        """Know the process, and the file that will have its exit code."""
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


class ForkServer:
    """The process that forks the others; it ends with this one."""

    def __init__(self) -> None:
        """Start it."""
        self._lock = threading.Lock()
        self._folder = TemporaryDirectory()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.fork_server"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT, text=True, bufsize=1,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )  # fmt: skip
        self._count = 0

    def start(
        self, program: Sequence[str], environment: Mapping[str, str], cwd: Path, *files: Path
    ) -> ForkedProcess:
        """Start a program, ``memci`` or ``celery``, with its arguments.

        ``files``: for standard input, output and errors; what is written is appended.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with self._lock:
            self._count += 1
            ended = Path(self._folder.name, str(self._count))
            request = {
                "program": list(program),
                "environment": dict(environment),
                "cwd": str(cwd),
                "files": [str(each) for each in files],
                "ended": str(ended),
            }
            self._process.stdin.write(json.dumps(request) + "\n")
            return ForkedProcess(int(self._process.stdout.readline()), program, ended)

    def run(
        self, program: Sequence[str], environment: Mapping[str, str], given: bytes
    ) -> subprocess.CompletedProcess[str]:
        """Run a program to its end."""
        with TemporaryDirectory() as folder:
            files = [Path(folder, name) for name in ("in", "out", "err")]
            files[0].write_bytes(given)
            code = self.start(program, environment, Path.cwd(), *files).wait()
            said = [each.read_text() for each in files[1:]]
        return subprocess.CompletedProcess(list(program), code, *said)


@cache
def fork_server() -> ForkServer:
    """Return the server of this process."""
    return ForkServer()


def _serve() -> None:
    """Answer until standard input ends."""
    for each in _IMPORTED:
        import_module(each)
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
    for line in sys.stdin:
        request = json.loads(line)
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
        child = os.fork()
        if child == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
            _become(request)
        ended[child] = Path(request["ended"])
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
        sys.stdout.write(f"{child}\n")
        sys.stdout.flush()


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
            from celery.__main__ import main
        else:
            from memci.cli import main
        main()
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
    _serve()
