"""Keeps the parts running until an interrupt, then stops them in order."""

import signal
import time
from collections.abc import Mapping, Sequence
from queue import SimpleQueue
from threading import Event, Thread
from types import FrameType
from typing import Any, Self

from rich.console import Console, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from memci.cli.output import console, printable
from memci.cli.up.addresses import STOP_ORDER
from memci.cli.up.part import FALSE_STARTS, Part, Readiness, State
from memci.embedded import Servers
from memci.errors import ConfigurationError
from memci.telemetry.readiness import tell_ready

_STYLES = {
    State.STARTING: "yellow",
    State.READY: "green",
    State.RESTARTING: "yellow",
    State.FAILED: "bold red",
    State.STOPPED: "dim",
}


class Board:
    """Prints a line for each change: for logs and pipes."""

    def __init__(self, screen: Console) -> None:
        """Print to this console."""
        self._screen = screen

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def changed(self, part: Part) -> None:
        """Show the new state of a part."""
        self.say(f"{part.name:<9} {part.state:<10} {note_of(part)}".rstrip())

    def say(self, text: str) -> None:
        """Print a line that stays, unless the disk that it goes to is full."""
        try:
            self._screen.print(Text(printable(text)), soft_wrap=True)
        except BrokenPipeError:
            raise
        except OSError:
            pass


def open_board(parts: Sequence[Part]) -> Board:
    """Return a live board on a terminal, else a plain one."""
    screen = console()
    return LiveBoard(screen, parts) if screen.is_terminal else Board(screen)


class LiveBoard(Board):
    """Redraws one line for each part: for people."""

    def __init__(self, screen: Console, parts: Sequence[Part]) -> None:
        """Show these parts, in this order."""
        super().__init__(screen)
        self._parts = parts
        self._live = Live(
            console=screen, get_renderable=self._render, refresh_per_second=4, transient=False
        )

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def changed(self, part: Part) -> None:
        """Do nothing: the lines are redrawn all the time."""

    def _render(self) -> RenderableType:
        table = Table.grid(padding=(0, 2))
        for part in self._parts:
            state = Text(part.state.value, style=_STYLES[part.state])
            table.add_row(part.name, state, Text(note_of(part), style="dim"))
        return table


def note_of(part: Part) -> str:
    """Return the note of a part, and the number of its restarts."""
    again = f"restarted {part.restarts}×" if part.restarts else ""
    return " · ".join(each for each in (part.note, again) if each)


# Exit code of a process that such a signal has ended.
INTERRUPTED = 130
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupts:
    """Counts the signals that ask this process to stop; a second one kills the parts.

    While ``impatient``, each signal raises KeyboardInterrupt.
    """

    def __init__(self) -> None:
        """Count from nothing."""
        self.asked = 0
        self.impatient = True
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Self:
        for number in _SIGNALS:
            self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _note(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        self.asked += 1
        if self.impatient:
            raise KeyboardInterrupt


_PERIOD_S = 0.1
_AGAIN_S = 1.0  # until the next start of a server that did not start


class Observer:
    """A thread that checks whether parts are ready, and restarts dead embedded servers."""

    def __init__(self, readiness: Readiness, servers: Servers | None) -> None:
        """Watch ``servers`` too; None if they are not embedded."""
        self._readiness = readiness
        self._servers = servers
        self._starting: Mapping[str, int] = {}
        self._stop = Event()
        self._thread = Thread(target=self._run, name="observer", daemon=True)
        self.ready: SimpleQueue[tuple[str, int]] = SimpleQueue()  # part and process
        self.news: SimpleQueue[str] = SimpleQueue()  # about the servers

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Stop the thread, if it runs, and wait for its end."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()
        self._readiness.close()

    def watch(self, starting: Mapping[str, int]) -> None:
        """Set the parts to check, with their process ids."""
        self._starting = dict(starting)

    def _run(self) -> None:
        while not self._stop.wait(_PERIOD_S):
            starting = self._starting
            for name in self._readiness.ready(starting) if starting else ():
                self.ready.put((name, starting[name]))
            if self._servers is not None:
                self._restart_dead(self._servers)

    def _restart_dead(self, servers: Servers) -> None:
        for server in (servers.postgres, servers.redis):
            if server.pid is not None:
                continue
            self.news.put(f"{server.name} has died and is started again")
            try:
                server.start()
            except Exception as error:  # noqa: BLE001 - a full disk, another death: it tries again
                known = isinstance(error, ConfigurationError)
                reason = str(error) if known else f"{type(error).__name__}: {error}"
                self.news.put(f"{server.name} is started again in a moment: {reason}")
                self._stop.wait(_AGAIN_S)


_LOOK_EVERY_S = 0.1
# Longer than Celery's soft shutdown.
_STOP_TIMEOUT_S = 45.0
_LAST_LINES = 12


class Supervisor:
    """Starts, watches and stops the parts; runs on the main thread, as ``Part`` requires."""

    def __init__(
        self, parts: Sequence[Part], observer: Observer, board: Board, interrupts: Interrupts
    ) -> None:
        """Take the parts; nothing is started yet."""
        self._parts = {part.name: part for part in parts}
        self._observer = observer
        self._board = board
        self._interrupts = interrupts
        self._said_ready = False
        self._explained: set[str] = set()

    def run(self, when_ready: str) -> int:
        """Run until asked to stop; return 1 if a part has failed, else 0.

        ``when_ready`` is printed when all parts are ready for the first time.
        """
        try:
            for part in self._parts.values():
                part.start()
                self._board.changed(part)
            self._interrupts.impatient = False
            self._observer.start()
            while not self._interrupts.asked:
                self._look(when_ready)
                time.sleep(_LOOK_EVERY_S)
            return int(any(part.state is State.FAILED for part in self._parts.values()))
        finally:
            self._interrupts.impatient = False
            self._stop()

    def _look(self, when_ready: str) -> None:
        for part in self._parts.values():
            if part.check():
                self._board.changed(part)
                if part.state is State.FAILED and part.false_starts == FALSE_STARTS:
                    self._explain(part)
        while not self._observer.ready.empty():
            name, pid = self._observer.ready.get()
            if self._parts[name].note_ready(pid):
                self._board.changed(self._parts[name])
        while not self._observer.news.empty():
            self._board.say(self._observer.news.get())
        starting = [each for each in self._parts.values() if each.state is State.STARTING]
        self._observer.watch({each.name: each.pid for each in starting if each.pid})
        if not self._said_ready and all(each.state is State.READY for each in self._parts.values()):
            self._said_ready = True
            tell_ready()
            self._board.say(when_ready)

    def _explain(self, part: Part) -> None:
        """Print the end of a part's log, once for all parts with the same last line."""
        lines = part.log.last_lines(_LAST_LINES)
        reason = lines[-1] if lines else ""
        if reason in self._explained:
            self._board.say(f"{part.name} does not start either: {reason} ({part.log.path})")
            return
        self._explained.add(reason)
        self._board.say(f"{part.name} does not start; the end of {part.log.path}:")
        for line in lines:
            self._board.say(f"  {line}")
        self._board.say(
            f"{part.name} is started again from time to time. Correct the problem above, or "
            "press Ctrl-C; `memci doctor` in another terminal shows more."
        )

    def _stop(self) -> None:
        self._observer.stop()
        self._board.say("stopping; Ctrl-C again does not wait for jobs to end")
        for names in STOP_ORDER:
            group = [self._parts[name] for name in names if name in self._parts]
            for part in group:
                part.ask_to_stop()
            self._wait(group)

    def _wait(self, group: Sequence[Part]) -> None:
        deadline = time.monotonic() + _STOP_TIMEOUT_S
        left = list(group)
        while left:
            for part in [each for each in left if each.has_stopped()]:
                left.remove(part)
                self._board.changed(part)
            hurry = self._interrupts.asked > 1 or time.monotonic() > deadline
            for part in left if hurry else ():
                part.kill()
            time.sleep(_LOOK_EVERY_S / 2 if left else 0)
