"""All commands, and how their errors are printed.

This module is imported by ``memci --help``: commands import what they need when they run.

Some commands take it as an option, beside what they are about; others as their argument.
"""

from __future__ import annotations

import io
import re
import sys
import traceback
from collections.abc import Callable, Sequence
from typing import Annotated, Any

import typer

from memci import __version__
from memci.cli.commands import (
    agents,
    compare,
    database,
    erase,
    index,
    jobs,
    memory,
    network,
    pages,
    rebuild,
    recall,
    remember,
    search,
    services,
    settings,
    tools,
    transfer,
)
from memci.cli.commands import search as context
from memci.domain.agent import AGENT_ID_PATTERN
from memci.errors import InvalidInputError, MemciError
from memci.validation_messages import expectation

_OPTIONS = ("--agent", "-a")


def meant(error: Exception, words: Sequence[str]) -> str | None:
    """Return the command line that was meant by ``words``, if the error tells of the mistake."""
    context: Any = getattr(error, "ctx", None)
    if "Did you mean" in str(getattr(error, "message", "")):
        return None  # a command was misspelt, and no agent is called so
    path = _path(context)
    if not path or list(words[: len(path)]) != path:
        return None
    words = words[len(path) :]
    parameters = context.command.params
    named = _named(words)
    if any("--agent" in each.opts for each in parameters):
        takes = any(each.param_type_name == "argument" for each in parameters)
        blamed = getattr(getattr(error, "param", None), "param_type_name", None)
        if named is None and not (takes and blamed != "argument"):
            return _with("--agent", path, _alone(words))
    elif any(each.metavar == "AGENT" for each in parameters):
        return _with(None, path, named)
    return None


def _path(context: Any) -> list[str]:
    """Return the command that was asked for, below the first: ``["pages", "undo"]``."""
    path: list[str] = []
    while context is not None and context.parent is not None:
        path.insert(0, context.info_name)
        context = context.parent
    return path


def _named(words: Sequence[str]) -> str | None:
    """Return what the option names."""
    for place, word in enumerate(words):
        option, equals, value = word.partition("=")
        if option in _OPTIONS:
            return value if equals else next(iter(words[place + 1 :]), "")
    return None


def _alone(words: Sequence[str]) -> str | None:
    """Return the only word that is no option."""
    plain = [word for word in words if not word.startswith("-")]
    return plain[0] if len(plain) == 1 else None


def _with(option: str | None, path: Sequence[str], agent: str | None) -> str | None:
    if agent is None or not re.fullmatch(AGENT_ID_PATTERN, agent):
        return None
    return " ".join(("memci", *path, *([option] if option else ()), agent))


_FAILED = 1
_WRONG_USE = 2

app = typer.Typer(
    name="memci",
    help="The memory and the context window of LLM agents.\n\n"
    "Begin with `memci demo`, which shows everything, or with `memci up` in one terminal, and in "
    "another: memci remember FILE --agent ID, memci recall WORD --agent ID. When something does "
    "not work: memci doctor.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

_COMMANDS: tuple[tuple[str, Callable[..., Any]], ...] = (
    ("up", services.up),
    ("demo", services.demo),
    ("remember", remember.remember),
    ("recall", recall.recall),
    ("search", search.search),
    ("context", context.context),
    ("compare", compare.compare),
    ("agents", agents.agents),
    ("nodes", network.nodes),
    ("watch", network.watch),
    ("plot", network.plot),
    ("jobs", jobs.jobs),
    ("usage", agents.usage),
    ("focus", memory.focus),
    ("history", memory.history),
    ("sessions", memory.sessions),
    ("summaries", memory.summaries),
    ("handover", memory.handover),
    ("consolidate", memory.consolidate),
    ("compress", memory.compress),
    ("pins", pages.pins),
    ("plan", pages.plan),
    ("index", index.index),
    ("documents", index.documents),
    ("unindex", index.unindex),
    ("collections", index.collections),
    ("restore", memory.restore),
    ("rebuild", rebuild.rebuild),
    ("retry", jobs.retry),
    ("discard", jobs.discard),
    ("cancel", jobs.cancel),
    ("pause", jobs.pause),
    ("resume", jobs.resume),
    ("settings", settings.settings),
    ("reembed", database.reembed),
    ("erase", erase.erase),
    ("export", transfer.export),
    ("import", transfer.import_),
    ("tools", tools.tools),
    ("mcp", tools.mcp),
    ("env", settings.env),
    ("doctor", services.doctor),
)


def _print_version(wanted: bool) -> None:  # noqa: FBT001 - Typer calls it with the option's value
    if wanted:
        sys.stdout.write(f"memci {__version__}\n")
        raise typer.Exit


@app.callback()
def _root(
    *,
    version: Annotated[
        bool,
        typer.Option(
            "--version", is_eager=True, callback=_print_version, help="Print name and version."
        ),
    ] = False,
) -> None:
    del version  # done with when it was read


for _name, _command in _COMMANDS:
    app.command(_name)(_command)
app.add_typer(settings.app, name="keys")
app.add_typer(database.app, name="db")
app.add_typer(pages.app, name="pages")


def run() -> int:
    """Run one command; returns the exit code. An error is one line on stderr."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # for terminals that are not UTF-8
    try:
        code = app(standalone_mode=False)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else _FAILED
    except InvalidInputError as error:
        return _complain(error, _WRONG_USE)
    except MemciError as error:
        return _complain(error, _FAILED)
    except Exception as error:  # noqa: BLE001 - people get a line, not a traceback
        return _complain_of_use(error) or _complain_unforeseen(error)
    return code if isinstance(code, int) else 0


def _complain_of_use(error: Exception) -> int | None:
    """Say what is wrong with the arguments, in plain words; None if it is something else.

    Typer has brought a click of its own since 0.26: its errors are known by what they can do.
    """
    show: Callable[[], None] | None = getattr(error, "show", None)
    if show is None:
        return None
    faults = getattr(error.__cause__, "errors", None)
    if faults is not None:  # pydantic's, of a value that is not of the option's type
        error.__dict__["message"] = "; ".join(map(expectation, faults(include_url=False)))
    show()
    if (line := meant(error, sys.argv[1:])) is not None:
        sys.stderr.write(f"Did you mean: {line}\n")
    return _WRONG_USE


def _complain(error: MemciError, code: int) -> int:
    field = error.field if isinstance(error, InvalidInputError) else None
    text = str(error)
    named = f"{field}: {text}" if field and not text.startswith(field) else text
    sys.stderr.write(f"memci: {named}\n")
    return code


def _complain_unforeseen(error: Exception) -> int:
    if _wants_traceback():
        traceback.print_exception(error)
    else:
        sys.stderr.write(
            f"memci: unforeseen {type(error).__name__}: {error}; "
            "MEMCI_LOG_LEVEL=debug shows where it comes from\n"
        )
    return _FAILED


def _wants_traceback() -> bool:
    from memci.config.settings import load_settings

    try:
        return load_settings().log_level == "debug"
    except Exception:  # noqa: BLE001 - settings may be what is broken; this only picks a form
        return False
