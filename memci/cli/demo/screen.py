"""How the demo looks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.rule import Rule
from rich.text import Text

from memci.cli.output import console, print_table, printable

_MARGIN = 2


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
        margin = " " * _MARGIN
        indented = margin + printable(text).replace("\n", f"\n{margin}")
        self._console.print(Text(indented, style=style), soft_wrap=True)

    def aside(self, text: str) -> None:
        """Print a line of someone else's."""
        self.say(text, style="dim")

    def heading(self, text: str) -> None:
        """Print a line that stands over others."""
        self._console.print()
        self.say(text, style="bold")

    def table(self, columns: tuple[str, ...], rows: list[tuple[object, ...]]) -> None:
        """Print a table; numbers go to the right."""
        print_table(columns, rows, indent=_MARGIN)

    @contextmanager
    def waiting(self, text: str) -> Iterator[None]:
        """Show on a terminal that something is under way."""
        if not self._console.is_terminal:
            yield
            return
        with self._console.status(text):
            yield
