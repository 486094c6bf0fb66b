"""The command line in a subprocess, with the settings of the test only."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memci.testing import wait_until
from tests.support.fleet import ROOT
from tests.support.fork_server import fork_server

MEMCI = (sys.executable, "-m", "memci.cli")
_UP_S = 150.0


def environment(**settings: str) -> dict[str, str]:
    """The environment of a command: that of this process, with the settings of the test only."""
    others = {name: value for name, value in os.environ.items() if not name.startswith("MEMCI_")}
    models = os.environ["MEMCI_EMBEDDER_DIR"]
    return {**others, "PYTHONPATH": str(ROOT), "MEMCI_EMBEDDER_DIR": models, **settings}


def run(
    *arguments: str,
    settings: Mapping[str, str] | None = None,
    standard_input: str | bytes = "",
    fresh: bool = False,
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end in a process; a ``fresh`` one has imported nothing yet."""
    given = standard_input.encode() if isinstance(standard_input, str) else standard_input
    its = environment(**(settings or {}))
    if not fresh:
        return fork_server().run(["memci", *arguments], its, given)
    done = subprocess.run(
        [*MEMCI, *arguments], env=its, input=given, capture_output=True, check=False
    )
    return subprocess.CompletedProcess(
        done.args, done.returncode, done.stdout.decode(), done.stderr.decode()
    )


def run_json(*arguments: str, settings: Mapping[str, str]) -> Any:
    """Run a command that must work, and return the JSON that it prints."""
    done = run(*arguments, "--json", settings=settings)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@dataclass
class Up:
    """A running `memci up`."""

    process: subprocess.Popen[bytes]
    output: Path
    data_dir: Path

    @property
    def log_text(self) -> str:
        return self.output.read_text()

    def wait_for_log(self, *parts: str) -> None:
        def everything() -> bool:
            assert self.process.poll() is None, f"it ended:\n{self.log_text}"
            return all(part in self.log_text for part in parts)

        try:
            wait_until(everything, f"`memci up` says {parts}", timeout_s=_UP_S)
        except AssertionError as error:
            error.add_note(self.log_text)
            raise

    def interrupt(self) -> None:
        self.process.send_signal(signal.SIGINT)

    def parts(self) -> dict[str, int]:
        """Process ids by part."""
        names = {pid: _read(pid, "comm").strip() for pid in processes_of(self.data_dir)}
        part = "memci-"
        return {
            name.removeprefix(part): pid for pid, name in names.items() if name.startswith(part)
        }


@contextmanager
def up(data_dir: Path, output: Path, **settings: str) -> Iterator[Up]:
    """Run `memci up` on this folder and free ports."""
    ports = {"MEMCI_PORT": "0", "MEMCI_FLOWER_PORT": "0"}
    with output.open("wb") as out:
        process = subprocess.Popen(
            [*MEMCI, "up"],
            env=environment(**{**ports, "MEMCI_DATA_DIR": str(data_dir), **settings}),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        yield Up(process, output, data_dir)
    finally:
        if process.poll() is None:
            process.kill()
        process.wait(10)


def processes_of(data_dir: Path) -> list[int]:
    """Ids of the processes with this folder: `memci up` and its parts, without servers."""
    sign = f"MEMCI_DATA_DIR={data_dir}\0"
    numbers = [int(each.name) for each in Path("/proc").iterdir() if each.name.isdecimal()]
    return [pid for pid in numbers if sign in _read(pid, "environ") and _is_alive(pid)]


def _is_alive(pid: int) -> bool:
    """Tell whether a process runs; a zombie does not."""
    return ") Z " not in _read(pid, "stat")


def _read(pid: int, file: str) -> str:
    try:
        return Path(f"/proc/{pid}/{file}").read_bytes().decode(errors="replace")
    except OSError:
        return ""
