"""One status line per part: live on a terminal, a line for each change elsewhere."""

from collections.abc import Sequence
from typing import Self

from rich.console import Console, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from memci.cli.output import console, printable
from memci.cli.up.part import Part, State

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
        """Print a line that stays."""
        self._screen.print(Text(printable(text)), soft_wrap=True)


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
