"""Starts the parts of ``memci up`` by forks of one process that has loaded what they share.

Libraries and small models are loaded once. A part starts in a fraction of the time, and its pages
are shared until they are written (E4). The process has one thread and no connection: nothing is
lost in a fork.
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import json
import multiprocessing
import os
import runpy
import selectors
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from multiprocessing.context import ForkProcess
from pathlib import Path
from typing import Any

from memci.cli.up.parent_death import end_with_parent
from memci.embedded.files import PLAIN, open_log

Command = tuple[str, ...]

_FORK = multiprocessing.get_context("fork")
_PR_SET_NAME = 15
_MOST_BYTES = 1 << 18  # of a request: its environment is the largest part
# What parts import, except what reads the settings while it is imported.
_SHARED = (
    "celery.apps.beat",
    "celery.apps.worker",
    "celery.bin.beat",
    "celery.bin.celery",
    "celery.bin.worker",
    "celery.concurrency.solo",
    "celery.concurrency.thread",
    "celery.worker.consumer",
    "flower.command",
    "kombu.transport.redis",
    "memci.cli.up.prepare",
    "memci.http.app",
    "memci.runtime",
    "memci.upkeep.duties",
    "uvicorn.lifespan.on",
    "uvicorn.loops.auto",
    "uvicorn.protocols.http.auto",
)


class ForkServer:
    """The process, for the one that starts parts. It is started again when it has ended."""

    def __init__(self, environment: Mapping[str, str], log: Path) -> None:
        """Take its environment and the file of its output; nothing is started yet."""
        self._environment = environment
        self._log = log
        self._process: subprocess.Popen[bytes] | None = None
        self._connection: socket.socket | None = None
        self._running = set[int]()
        self._codes: dict[int, int] = {}

    @property
    def pid(self) -> int:
        """The process; 0 before it is started."""
        return self._process.pid if self._process else 0

    def start(self) -> None:
        """Start the process in its own session, so that Ctrl-C does not reach it."""
        self._connection, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ends_with_this = (sys.executable, "-m", "memci.cli.up.parent_death", str(os.getpid()))
        log = open_log(self._log, PLAIN)
        try:
            self._process = subprocess.Popen(
                (*ends_with_this, sys.executable, "-m", __name__, str(theirs.fileno())),
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )
        finally:
            os.close(log)
            theirs.close()

    def fork(
        self, name: str, command: Command, environment: Mapping[str, str], log: int
    ) -> int | None:
        """Start a part in its own session; return its process id, or None if that failed.

        ``command``: ``python -m MODULE …`` or ``MODULE …``; ``log``: the descriptor of its output.
        """
        self._receive(wait=False)
        if self._connection is None:
            self.start()
        request = {"name": name, "command": command, "environment": dict(environment)}
        with suppress(OSError):
            if self._connection is not None:
                socket.send_fds(self._connection, [json.dumps(request).encode()], [log])
        return self._receive(wait=True)

    def poll(self, pid: int) -> int | None:
        """Return the exit code of a part, negative for a signal; None while it runs."""
        self._receive(wait=False)
        return self._codes.get(pid)

    def stop(self) -> None:
        """End the process, and kill the parts that still run."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        self._receive(wait=False)

    def _receive(self, *, wait: bool) -> int | None:
        """Note the parts that ended; return one that was started."""
        while self._connection is not None:
            try:
                received = self._connection.recv(_MOST_BYTES, 0 if wait else socket.MSG_DONTWAIT)
            except BlockingIOError:
                return None
            except OSError:
                received = b""
            if not received:
                self._has_ended()
                return None
            news = json.loads(received)
            if "code" not in news:
                self._running.add(news["pid"])
                self._codes.pop(news["pid"], None)  # of an older process with this number
                return int(news["pid"])
            self._running.discard(news["pid"])
            self._codes[news["pid"]] = news["code"]
        return None

    def _has_ended(self) -> None:
        """Note that the kernel has killed all parts with their parent."""
        if self._connection is not None and self._process is not None:
            self._connection.close()
            self._process.wait()
        self._connection = None
        self._codes |= dict.fromkeys(self._running, -signal.SIGKILL)
        self._running.clear()


def load_shared() -> None:
    """Import what parts import, and load the built-in models and the words of Chinese."""
    for name in _SHARED:
        with suppress(ImportError):  # then the part that needs it says so
            importlib.import_module(name)
    from memci.config.settings import load_settings
    from memci.errors import MemciError
    from memci.language.chinese_words import load_dictionary
    from memci.smallmodel.registry import build_small_models

    load_dictionary()
    # A part says itself what is wrong with its settings.
    with suppress(MemciError):
        models = build_small_models(load_settings().model_copy(update={"models": {}}))
        models.load()
        models.tokens.count("")


class _Children:
    """Starts parts on request, and tells how they ended."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._selector = selectors.DefaultSelector()
        self._selector.register(connection, selectors.EVENT_READ)

    def serve(self) -> None:
        """Serve until the other end of the connection closes."""
        while True:
            for key, _ in self._selector.select():
                if key.data is not None:
                    self._tell_end(key.data)
                    continue
                received, descriptors, *_ = socket.recv_fds(self._connection, _MOST_BYTES, 1)
                if not received:
                    return
                self._start(json.loads(received), descriptors[0])

    def _start(self, part: Mapping[str, Any], log: int) -> None:
        # Such a process ends without waiting for threads of libraries, which are not in a fork.
        process = _FORK.Process(target=self._become, args=(part, log, os.getpid()))
        process.start()
        os.close(log)
        self._selector.register(process.sentinel, selectors.EVENT_READ, process)
        self._connection.send(json.dumps({"pid": process.pid}).encode())

    def _tell_end(self, process: ForkProcess) -> None:
        self._selector.unregister(process.sentinel)
        process.join()
        self._connection.send(json.dumps({"pid": process.pid, "code": process.exitcode}).encode())

    def _become(self, part: Mapping[str, Any], log: int, server: int) -> None:
        """Run a part in this process, and keep nothing of the server but what it has loaded."""
        os.setsid()
        end_with_parent(server)
        self._selector.close()
        self._connection.close()
        for standard in (1, 2):
            os.dup2(log, standard)
        os.close(log)
        name = f"memci-{part['name']}".encode()
        ctypes.CDLL(None).prctl(_PR_SET_NAME, name, 0, 0, 0)
        os.environ.clear()
        os.environ.update(part["environment"])
        command: list[str] = part["command"]
        sys.argv = command[2:] if command[0] == "python" else command
        runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)


def main() -> None:
    """Load, then start parts until the other end of the connection closes."""
    load_shared()
    gc.collect()
    gc.freeze()
    _Children(socket.socket(fileno=int(sys.argv[1]))).serve()


if __name__ == "__main__":
    main()
