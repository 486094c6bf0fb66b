"""Runs commands of ``memci`` in processes that are forked from one that has imported everything.

To import takes longer than most commands do. A forked process reads its own environment, arguments
and streams, as a fresh one does; what a fresh one imports is tested in ``tests/acceptance``.

Protocol: one JSON line a command on standard input, with the paths of the files that stand for its
streams; one line with its exit code on standard output.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[2]


class CommandServer:
    """A process that runs one command at a time."""

    def __init__(self) -> None:
        """Start it; it ends with this process."""
        self._lock = threading.Lock()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.command_server"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT, text=True, bufsize=1,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )  # fmt: skip

    def run(
        self, arguments: Sequence[str], environment: Mapping[str, str], given: bytes
    ) -> subprocess.CompletedProcess[str]:
        """Run a command to its end."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with self._lock, TemporaryDirectory() as folder:
            files = [Path(folder, name) for name in ("in", "out", "err")]
            files[0].write_bytes(given)
            request = {
                "arguments": list(arguments),
                "environment": dict(environment),
                "cwd": str(Path.cwd()),
                "files": [str(each) for each in files],
            }
            self._process.stdin.write(json.dumps(request) + "\n")
            code = int(self._process.stdout.readline())
            said = [each.read_text() for each in files[1:]]
        return subprocess.CompletedProcess(["memci", *arguments], code, *said)


def serve() -> None:
    """Answer until standard input ends."""
    import memci.cli.app
    import memci.cli.connection
    import memci.schemas.reads  # noqa: F401

    for line in sys.stdin:
        request = json.loads(line)
        child = os.fork()
        if child == 0:
            _become(request)
        _, status = os.waitpid(child, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()


def _become(request: Mapping[str, object]) -> None:
    """Run the command in this process, and end it."""
    arguments, environment, files = request["arguments"], request["environment"], request["files"]
    assert isinstance(arguments, list)
    assert isinstance(environment, dict)
    assert isinstance(files, list)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(str(request["cwd"]))
    flags = (os.O_RDONLY, os.O_WRONLY | os.O_CREAT, os.O_WRONLY | os.O_CREAT)
    for number, (path, flag) in enumerate(zip(files, flags, strict=True)):
        os.dup2(os.open(path, flag, 0o600), number)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.argv = ["memci", *arguments]
    code: object = 1
    try:
        from memci.cli import main

        main()
    except SystemExit as end:
        code = end.code
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code if isinstance(code, int) else 0 if code is None else 1)


if __name__ == "__main__":
    serve()
