"""How commands print tables, lines and JSON, and how they ask for confirmation.

Text of messages is untrusted: control characters never reach the terminal.
"""

from __future__ import annotations

import json
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import typer
from pydantic_core import to_jsonable_python
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from memci.errors import InvalidInputError, MemciError

if TYPE_CHECKING:
    from rich.progress import Progress

    from memci.schemas.reads import ContextMessage

T = TypeVar("T")

# Piped output is not cut to the width of a terminal.
_PIPED_WIDTH = 200
_ELLIPSIS = "…"
_SHOWN = {"\n", "\t"}
# True in a command that was called with --json.
PRINTS_JSON: ContextVar[bool] = ContextVar("prints_json", default=False)


def console(*, stderr: bool = False) -> Console:
    """Return a console on one of the two streams."""
    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else _PIPED_WIDTH
    return Console(file=stream, width=width, highlight=False, markup=False, emoji=False)


def say(text: str = "", *, style: str | None = None) -> None:
    """Print a line for people."""
    console().print(Text(printable(text), style=style or ""), soft_wrap=True)


def hint(text: str) -> None:
    """Print a line on stderr, apart from the result."""
    console(stderr=True).print(Text(printable(text), style="dim"), soft_wrap=True)


@contextmanager
def working(what: str) -> Iterator[None]:
    """Show a spinner on stderr until the block ends, if that is a terminal."""
    screen = console(stderr=True)
    if not screen.is_terminal:
        yield
        return
    with screen.status(what):
        yield


def progress_bar(*more_columns: str, transient: bool = False) -> Progress:
    """Return a progress bar on stderr; it shows nothing in a pipe.

    A ``transient`` one is removed at its end.
    """
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    more = map(TextColumn, more_columns)
    screen = console(stderr=True)
    is_off = not screen.is_terminal
    return Progress(*columns, *more, console=screen, transient=transient, disable=is_off)


def print_json(value: object) -> None:
    """Print models, dataclasses and plain values as JSON, with control characters escaped."""
    plain = partial(to_jsonable_python, by_alias=False)
    # ``json`` takes names of files that are in no encoding.
    document = json.dumps(value, default=plain, ensure_ascii=False, indent=2)
    sys.stdout.write(escaped(document) + "\n")


def printed_json(answer: object) -> bool:
    """Print an answer as JSON if the command has the option --json; return whether it has."""
    if PRINTS_JSON.get():
        print_json(answer)
    return PRINTS_JSON.get()


def print_answer(answer: T, shown: str | Callable[[T], None]) -> None:
    """Print an answer as JSON after --json; for people print ``shown``, or call it."""
    if printed_json(answer):
        return
    if isinstance(shown, str):
        say(shown)
    else:
        shown(answer)


def escaped(document: str) -> str:
    """Return JSON with characters that are not printable, such as controls, escaped.

    Only strings can contain them.
    """
    return "".join(
        each if each.isprintable() or each == "\n" else json.dumps(each)[1:-1] for each in document
    )


def print_table(
    columns: Sequence[str], rows: Iterable[Sequence[object]], *, indent: int = 0
) -> None:
    """Print rows under the names of their columns; numbers are aligned to the right."""
    listed = [list(row) for row in rows]
    if not listed:
        say("(none)")
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for index, name in enumerate(columns):
        numbers = all(isinstance(row[index], (int, float)) for row in listed)
        table.add_column(name, justify="right" if numbers else "left", overflow="fold")
    for row in listed:
        table.add_row(*(Text(cell(value)) for value in row))
    print_trimmed(Padding(table, (0, 0, 0, indent)))


def print_rows(rows: Iterable[Mapping[str, object]]) -> None:
    """Print rows of a table; each has its values by the names of their columns."""
    listed = list(rows)
    print_table(list(listed[0]) if listed else (), [list(row.values()) for row in listed])


def print_list(answer: object, rows: Iterable[Mapping[str, object]]) -> None:
    """Print an answer with a list as JSON, or its rows; then how to see the rest."""
    if not printed_json(answer):
        print_rows(rows)
        print_next(getattr(answer, "next_cursor", None))


def print_trimmed(drawn: RenderableType) -> None:
    """Print a Rich object without the blanks at the ends of its lines."""
    screen = console()
    with screen.capture() as captured:
        screen.print(drawn)
    sys.stdout.write("".join(f"{line.rstrip()}\n" for line in captured.get().splitlines()))
    sys.stdout.flush()


def print_cut(screen: Console, line: Text) -> None:
    """Print a line, cut to the width of a terminal."""
    if screen.is_terminal:
        line.truncate(screen.width, overflow="ellipsis")
    screen.print(line, soft_wrap=True)


def print_next(cursor: str | None) -> None:
    """Print how to see the rest of a list, if there is a rest."""
    if cursor is not None:
        hint(f"there is more: --cursor {cursor}")


def cell(value: object) -> str:
    """Return a value as text for a table; times keep their zones."""
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case float():
            return f"{value:.2f}"
        case datetime():
            return value.isoformat(" ", "seconds").replace("+00:00", "Z")
        case list() | tuple():
            return ", ".join(map(cell, value))
        case _:
            return printable(str(value))


def printable(text: str) -> str:
    """Replace control characters, which could change the terminal."""
    return "".join(
        each if each.isprintable() or each in _SHOWN else "\N{REPLACEMENT CHARACTER}"
        for each in text
    )


def counted(count: int, noun: str, plural: str | None = None) -> str:
    """Return a number with its noun: "1 job", "2 jobs"."""
    return f"{count} {noun}" if count == 1 else f"{count} {plural or noun + 's'}"


def listed(names: Sequence[str], most: int) -> str:
    """Return the first ``most`` names, and the number of the others."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def hint_pending(count: int) -> None:
    """Print how many messages memory has not read yet, if any."""
    if count:
        hint(f"memory has not read {counted(count, 'message')} yet")


def shortened(text: str, length: int) -> str:
    """Return the text on one line of at most ``length`` characters."""
    line = " ".join(text.split())
    return line if len(line) <= length else line[: length - 1] + _ELLIPSIS


def tree_below(root: T, children: Callable[[T], Iterable[T]]) -> Iterator[tuple[str, T]]:
    """Yield all that is below a root, each with the branches of a drawn tree that lead to it.

    Without recursion, which would limit the depth.
    """
    stack = [("", deque(children(root)))]
    while stack:
        indent, left = stack[-1]
        if not left:
            stack.pop()
            continue
        child = left.popleft()
        yield indent + ("├─ " if left else "└─ "), child
        stack.append((indent + ("│  " if left else "   "), deque(children(child))))


def bar(share: float, cells: int) -> str:
    """Return a share, 0 to 1, as a bar of ``cells`` characters."""
    filled = round(max(0.0, min(share, 1.0)) * cells)
    return "█" * filled + "·" * (cells - filled)


def confirm(question: str, *, yes: bool, to: str, refused: str) -> None:
    """Ask for confirmation unless ``yes``; ``to`` names the action.

    Raises ``InvalidInputError`` without a terminal, ``MemciError(refused)`` after a no.
    """
    if yes:
        return
    if not sys.stdin.isatty():
        raise InvalidInputError(f"no terminal to confirm on; use --yes to {to}")
    if not typer.confirm(question, err=True):
        raise MemciError(refused)


def print_messages(messages: Sequence[ContextMessage]) -> None:
    """Print messages as a model receives them, each under its role, then a blank line."""
    for message in messages:
        say(f"── {message.role}" + (f" ({message.name})" if message.name else ""), style="bold")
        if message.content:
            say(message.content)
        for call in message.tool_calls or ():
            say(f"→ {call.function.name}({call.function.arguments})")
    say()
