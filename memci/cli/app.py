"""All commands, and how their errors are printed.

This module is imported by ``memci --help``: commands import what they need when they run.
"""

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
    database,
    documents,
    erase,
    jobs,
    keys,
    memory,
    network,
    pages,
    rebuild,
    recall,
    remember,
    search,
    services,
    sessions,
    settings,
    tools,
    webhooks,
)
from memci.cli.options import with_json
from memci.config.installed import check_server, has_server
from memci.domain.agent_id import AGENT_ID_PATTERN
from memci.errors import ConfigurationError, InvalidInputError, MemciError
from memci.validation_messages import expectation

_FAILED = 1
_WRONG_USE = 2

_BEGIN = (
    "Begin with `memci demo`. Or run `memci up` in one terminal, and in another: memci remember "
    "FILE --agent ID, memci recall WORD --agent ID. If something does not work, run memci doctor."
    if has_server()
    else "This is the client alone: set MEMCI_API_URL to the address of a server, then: memci "
    "remember FILE --agent ID, memci recall WORD --agent ID. The server, and demo, up, doctor and "
    'db, need: pip install "memci[embedded]".'
)

app = typer.Typer(
    name="memci",
    help=f"The memory and the context window of LLM agents.\n\n{_BEGIN}",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120},
)

COMMANDS: tuple[Callable[..., Any], ...] = (
    services.up,
    services.demo,
    services.sample,
    services.doctor,
    remember.remember,
    recall.recall,
    search.search,
    search.context,
    erase.erase,
    keys.audit,
    tools.tools,
    tools.mcp,
)
_WITHOUT_JSON = frozenset({services.up, services.demo, services.sample, tools.tools, tools.mcp})
GROUPS: dict[str, tuple[str, tuple[Callable[..., Any], ...]]] = {
    "agents": (
        "List, show, configure, pause, export and import agents.",
        (
            agents.list_agents,
            agents.show,
            agents.usage,
            agents.settings,
            agents.pause,
            agents.resume,
            agents.export,
            agents.import_,
        ),
    ),
    "memory": (
        "Show and change a memory network.",
        (
            network.nodes,
            network.watch,
            network.plot,
            memory.add,
            memory.correct,
            memory.pin,
            memory.unpin,
            memory.delete,
            memory.focus,
            memory.history,
            memory.compress,
            memory.consolidate,
            memory.restore,
            rebuild.rebuild,
        ),
    ),
    "sessions": (
        "List, end and hand over sessions, and show their summaries.",
        (sessions.list_sessions, sessions.end, sessions.summaries, sessions.handover),
    ),
    "jobs": (
        "List jobs, run them again, discard or cancel them.",
        (jobs.list_jobs, jobs.show, jobs.retry, jobs.discard, jobs.cancel),
    ),
    "documents": (
        "Index files and code, for one agent or for a collection.",
        (documents.index, documents.list_documents, documents.remove, documents.collections),
    ),
    "webhooks": (
        "Send events of agents to addresses.",
        (
            webhooks.list_webhooks,
            webhooks.add,
            webhooks.remove,
            webhooks.enable,
            webhooks.test,
            webhooks.replay,
            webhooks.rotate,
        ),
    ),
    "settings": (
        "Show the settings, and compare two sets of them.",
        (settings.show, settings.env, settings.compare),
    ),
    "keys": (
        "List, create, rotate and revoke API keys.",
        (keys.list_keys, keys.new_key, keys.rotate_key, keys.revoke_key),
    ),
    "db": (
        "Upgrade, back up, restore or index the database.",
        (
            database.upgrade_database,
            database.status,
            database.backup,
            database.restore,
            database.index,
            database.reembed,
        ),
    ),
}


def name_of(command: Callable[..., Any]) -> str:
    """Return the name of a command: the first word of its function's name."""
    return command.__name__.partition("_")[0]


def _print_version(requested: bool) -> None:  # noqa: FBT001 - Typer calls it with the option's value
    if requested:
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
    del version  # its callback has printed it


for _command in COMMANDS:
    _whole = _command if _command in _WITHOUT_JSON else with_json(_command)
    app.command(name_of(_command))(_whole)
for _name, (_help, _commands) in GROUPS.items():
    _group = typer.Typer(help=_help, no_args_is_help=True, rich_markup_mode=None)
    for _command in _commands:
        _group.command(name_of(_command))(with_json(_command))
    app.add_typer(_group, name=_name)
app.add_typer(pages.app, name="pages")


def run() -> int:
    """Run one command; returns the exit code. An error is one line on stderr."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # for terminals that are not UTF-8
    try:
        code = app(standalone_mode=False, prog_name="memci")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else _FAILED
    except InvalidInputError as error:
        return _print_error(error, _WRONG_USE)
    except MemciError as error:
        return _print_error(error, _FAILED)
    except Exception as error:  # noqa: BLE001 - people get a line, not a traceback
        return _print_wrong_use(error) or _print_missing(error) or _print_unexpected(error)
    return code if isinstance(code, int) else 0


def _print_wrong_use(error: Exception) -> int | None:
    """Print an error of the arguments; return None for any other error.

    Typer has its own copy of click since 0.26: its errors are recognized by their method ``show``.
    """
    show: Callable[[], None] | None = getattr(error, "show", None)
    if show is None:
        return None
    faults = getattr(error.__cause__, "errors", None)
    if faults is not None:  # pydantic's, of a value that is not of the option's type
        error.__dict__["message"] = "; ".join(map(expectation, faults(include_url=False)))
    show()
    if (line := with_agent_option(error, sys.argv[1:])) is not None:
        sys.stderr.write(f"Did you mean: {line}\n")
    return _WRONG_USE


def with_agent_option(error: Exception, words: Sequence[str]) -> str | None:
    """Return the command with ``--agent`` if its only other word is the id of an agent."""
    context: Any = getattr(error, "ctx", None)
    takes_agent = context is not None and any(
        "--agent" in each.opts for each in context.command.params
    )
    if not takes_agent or any(each.partition("=")[0] in {"--agent", "-a"} for each in words):
        return None
    path = context.command_path.split()
    plain = [each for each in words[len(path) - 1 :] if not each.startswith("-")]
    takes_words = any(each.param_type_name == "argument" for each in context.command.params)
    blamed = getattr(getattr(error, "param", None), "param_type_name", None)
    if len(plain) != 1 or not re.fullmatch(AGENT_ID_PATTERN, plain[0]):
        return None
    if takes_words and blamed != "argument":
        return None
    return f"{' '.join(path)} --agent {plain[0]}"


def _print_error(error: MemciError, code: int) -> int:
    field = error.field if isinstance(error, InvalidInputError) else None
    text = str(error)
    prefix = f"{field}: " if field and not text.startswith(field) else ""
    sys.stderr.write(f"memci: {prefix}{text}\n")
    return code


def _print_missing(error: Exception) -> int | None:
    """Print what to do about a missing file or package; return None for any other error."""
    if isinstance(error, OSError) and error.filename is not None and not _wants_traceback():
        reason = f"{error.filename} cannot be used: {error.strerror}"
        return _print_error(MemciError(f"{reason}; correct the path, or its rights"), _FAILED)
    if isinstance(error, ModuleNotFoundError):
        try:
            check_server()
        except ConfigurationError as advice:
            return _print_error(advice, _FAILED)
    return None


def _print_unexpected(error: Exception) -> int:
    if _wants_traceback():
        traceback.print_exception(error)
    else:
        sys.stderr.write(
            f"memci: unexpected {type(error).__name__}: {error}; "
            "MEMCI_LOG_LEVEL=debug prints the traceback\n"
        )
    return _FAILED


def _wants_traceback() -> bool:
    from memci.config.settings import load_settings

    try:
        return load_settings().log_level == "debug"
    except Exception:  # noqa: BLE001 - settings may be what is broken; this only picks a form
        return False
