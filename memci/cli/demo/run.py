"""Runs the demo on a memci of its own, with a temporary folder and free ports."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

from memci import embedded
from memci.cli.demo import steps
from memci.cli.demo.steps import forget
from memci.cli.demo.stories import STORIES, DemoAgent, Screen
from memci.cli.up.supervisor import Interrupts
from memci.client import Memci
from memci.config.settings import Settings
from memci.embedded.files import free_port
from memci.errors import MemciError

_READY = "memci is ready"
_LOOK_EVERY_S = 0.2


@contextmanager
def running_memci(
    settings: Settings, interrupts: Interrupts, on_line: Callable[[str], None]
) -> Iterator[str]:
    """Run `memci up` in a fresh folder and yield the address of its API.

    ``on_line`` is called with each line of its output. The folder is removed at the end and after
    Ctrl-C, but kept after an error, for its logs.
    """
    folder = settings.data_dir / "demo"
    _remove_left_over(folder)
    folder.mkdir(mode=0o700, parents=True)
    port = free_port()
    running = _start(folder, port)
    lines = _OutputReader(running, on_line)
    try:
        try:
            lines.wait_for(_READY, folder)
            yield f"http://127.0.0.1:{port}"
        finally:
            interrupts.impatient = False
            _stop(running, interrupts)
            lines.end()
    except KeyboardInterrupt:
        _remove(folder)
        raise
    _remove(folder)


def _start(folder: Path, port: int) -> subprocess.Popen[str]:
    # `memci up` ends when this process is killed.
    wrapper = (sys.executable, "-m", "memci.cli.up.parent_death", str(os.getpid()))
    return subprocess.Popen(
        (*wrapper, sys.executable, "-m", "memci.cli", "up"),
        env=_environment(folder, port),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        start_new_session=True,
    )


def _environment(folder: Path, port: int) -> Mapping[str, str]:
    """Return an environment without the user's own settings."""
    empty = folder / "memci.toml"
    empty.touch(mode=0o600)
    others = {name: value for name, value in os.environ.items() if not name.startswith("MEMCI_")}
    return {
        **others,
        "MEMCI_CONFIG": str(empty),
        "MEMCI_DATA_DIR": str(folder),
        "MEMCI_PORT": str(port),
        "MEMCI_FLOWER_PORT": "0",
    }


class _OutputReader:
    """Reads the output of `memci up` line by line."""

    def __init__(self, running: subprocess.Popen[str], on_line: Callable[[str], None]) -> None:
        self._running = running
        self._on_line = on_line
        self._rest: Thread | None = None

    def wait_for(self, start: str, folder: Path) -> None:
        """Read until a line begins with ``start``; a thread reads the rest."""
        assert self._running.stdout is not None  # noqa: S101 - it was opened with a pipe
        for line in self._running.stdout:
            self._on_line(line.rstrip())
            if line.startswith(start):
                self._rest = Thread(target=self._read_on, daemon=True)
                self._rest.start()
                return
        raise MemciError(f"the demo's own `memci up` has ended; its logs are in {folder / 'logs'}")

    def end(self) -> None:
        """Wait until everything is read."""
        if self._rest is not None:
            self._rest.join()
        if self._running.stdout is not None:
            self._running.stdout.close()

    def _read_on(self) -> None:
        assert self._running.stdout is not None  # noqa: S101 - as above
        for line in self._running.stdout:
            self._on_line(line.rstrip())


def _stop(running: subprocess.Popen[str], interrupts: Interrupts) -> None:
    asked = -1
    while running.poll() is None:
        if interrupts.asked > asked:  # at first, and after each further Ctrl-C
            asked = interrupts.asked
            running.send_signal(signal.SIGINT)
        try:
            running.wait(_LOOK_EVERY_S)
        except subprocess.TimeoutExpired:
            continue


def _remove_left_over(folder: Path) -> None:
    """Remove the folder of a demo that was killed or failed."""
    if not folder.exists():
        return
    with embedded.own(folder):
        pass  # stops servers that still run
    _remove(folder)


def _remove(folder: Path) -> None:
    home = embedded.servers_of(folder).postgres.home.parent
    shutil.rmtree(folder)
    if home.exists():  # servers that root cannot run in a namespace have their own folder
        shutil.rmtree(home)


_INTERRUPTED = 130


def run_demo(settings: Settings) -> int:
    """Run the demo; return the exit code."""
    screen = Screen()
    began = time.monotonic()
    try:
        with Interrupts() as interrupts:
            _run_steps(settings, interrupts, screen)
    except KeyboardInterrupt:
        screen.say("Stopped; the demo's folder is removed.")
        return _INTERRUPTED
    screen.say(
        f"That was memci, in {time.monotonic() - began:.0f} seconds. `memci up` starts yours."
    )
    return 0


def _run_steps(settings: Settings, interrupts: Interrupts, screen: Screen) -> None:
    screen.title("memci demo: two conversations, remembered, forgotten gently, recalled")
    screen.say("Everything below is real and goes through the public HTTP API.")
    screen.step("Start", "PostgreSQL, Redis, API, workers, beat and Flower")
    with running_memci(settings, interrupts, screen.aside) as url:
        with Memci(url, wait_ms=10_000) as memci:
            demo_agents = [DemoAgent(story, memci.agent(story.agent)) for story in STORIES]
            steps.remember(demo_agents, screen)
            forget(demo_agents, screen)
            steps.recall(demo_agents, screen)
            steps.assemble(demo_agents, screen)
        screen.step("Stop", "everything, and remove the demo's folder")
