"""All commands, and what becomes of their errors.

This module is imported by ``memci --help``: commands import what they need when they run.
"""

from __future__ import annotations

import io
import sys
import traceback
from collections.abc import Callable
from typing import Annotated, Any

import typer

from memci import __version__
from memci.cli.commands import (
    agents,
    beliefs,
    compare,
    compress,
    context,
    database,
    demo,
    doctor,
    env,
    erase,
    index,
    job_actions,
    jobs,
    keys,
    lane,
    mcp,
    nodes,
    pages,
    pins,
    plan,
    plot,
    rebuild,
    recall,
    reembed,
    remember,
    restore,
    search,
    settings,
    summaries,
    tools,
    transfer,
    up,
    usage,
    watch,
)
from memci.cli.whose import meant
from memci.errors import InvalidInputError, MemciError
from memci.expectation import expectation

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
    ("up", up.up),
    ("demo", demo.demo),
    ("remember", remember.remember),
    ("recall", recall.recall),
    ("search", search.search),
    ("context", context.context),
    ("compare", compare.compare),
    ("agents", agents.agents),
    ("nodes", nodes.nodes),
    ("watch", watch.watch),
    ("plot", plot.plot),
    ("jobs", jobs.jobs),
    ("usage", usage.usage),
    ("focus", restore.focus),
    ("history", beliefs.history),
    ("sessions", beliefs.sessions),
    ("summaries", summaries.summaries),
    ("handover", summaries.handover),
    ("consolidate", beliefs.consolidate),
    ("compress", compress.compress),
    ("pins", pins.pins),
    ("plan", plan.plan),
    ("index", index.index),
    ("documents", index.documents),
    ("unindex", index.unindex),
    ("collections", index.collections),
    ("restore", restore.restore),
    ("rebuild", rebuild.rebuild),
    ("retry", job_actions.retry),
    ("discard", job_actions.discard),
    ("cancel", job_actions.cancel),
    ("pause", lane.pause),
    ("resume", lane.resume),
    ("settings", settings.settings),
    ("reembed", reembed.reembed),
    ("erase", erase.erase),
    ("export", transfer.export),
    ("import", transfer.import_),
    ("tools", tools.tools),
    ("mcp", mcp.mcp),
    ("env", env.env),
    ("doctor", doctor.doctor),
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
app.add_typer(keys.app, name="keys")
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
    from memci.config import load_settings

    try:
        return load_settings().log_level == "debug"
    except Exception:  # noqa: BLE001 - settings may be what is broken; this only picks a form
        return False
