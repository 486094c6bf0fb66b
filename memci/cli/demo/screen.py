"""How the demo looks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from memci.cli.output import cell, console, printable

_MARGIN = 2
_BAR_CELLS = 24


class Screen:
    """Prints acts, lines and tables on standard output."""

    def __init__(self) -> None:
        """Begin with act 1."""
        self._console = console()
        self._acts = 0

    def title(self, text: str) -> None:
        """Print what this is."""
        self._console.print(Text(text, style="bold"))

    def act(self, name: str, what: str) -> None:
        """Begin the next act."""
        self._acts += 1
        self._console.print()
        if self._console.is_terminal:
            self._console.print(Rule(style="dim"))
        self._console.print(Text.assemble((f"{self._acts}  {name}", "bold cyan"), f"  {what}"))

    def say(self, text: str = "", *, style: str = "") -> None:
        """Print a line."""
        self._print(Text(printable(text), style=style))

    def aside(self, text: str) -> None:
        """Print a line of someone else's."""
        self.say(text, style="dim")

    def heading(self, text: str) -> None:
        """Print a line that stands over others."""
        self._console.print()
        self.say(text, style="bold")

    def table(self, columns: tuple[str, ...], rows: list[tuple[object, ...]]) -> None:
        """Print a table; numbers go to the right."""
        table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 1))
        for index, name in enumerate(columns):
            numbers = all(isinstance(row[index], (int, float)) for row in rows)
            table.add_column(name, justify="right" if numbers else "left")
        for row in rows:
            table.add_row(*(Text(cell(value)) for value in row))
        self._print(table)

    @contextmanager
    def waiting(self, text: str) -> Iterator[None]:
        """Show on a terminal that something is under way."""
        if not self._console.is_terminal:
            yield
            return
        with self._console.status(text):
            yield

    def _print(self, what: Text | Table) -> None:
        self._console.print(Padding(what, (0, 0, 0, _MARGIN)), soft_wrap=isinstance(what, Text))


def bar(part: float) -> str:
    """Return a share, 0 to 1, as a bar."""
    filled = round(max(0.0, min(part, 1.0)) * _BAR_CELLS)
    return "█" * filled + "·" * (_BAR_CELLS - filled)
