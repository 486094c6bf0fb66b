"""The commands ``memci settings``, ``memci env`` and ``memci keys``."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from enum import StrEnum
from math import isfinite
from typing import TYPE_CHECKING, Annotated

import typer

from memci.cli.options import AgentOption, JsonOption
from memci.errors import InvalidInputError, NotFoundError

if TYPE_CHECKING:
    from memci.schemas.settings import SettingsAnswer

_BOOLEANS = {"true": True, "false": False}


def settings(
    *,
    values: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME=VALUE]…", help="What to set.")
    ] = None,
    agent: AgentOption,
    unset: Annotated[
        list[str] | None,
        typer.Option("--unset", metavar="NAME", help="Back to the default; may be repeated."),
    ] = None,
    reset: Annotated[bool, typer.Option("--reset", help="All back to their defaults.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Show or set what holds for an agent's memory and window.

    What is not named keeps its value; shown is then what was changed. docs/configuration.md says
    what each name does.
    """
    from memci.cli.connection import agent_of
    from memci.cli.output import hint, print_json

    changes = dict(map(_parsed, values or ()))
    named = {*changes, *(unset or ())}
    with agent_of(agent) as memory:
        try:
            answer = memory.settings()
        except NotFoundError:
            if not changes:
                raise
            answer = memory.configure(changes)
            hint(f"nobody has written to {agent} yet: they hold from its first message on")
        else:
            if changes or unset or reset:
                dropped = set(answer.changed) if reset else _known(unset or (), answer)
                named |= dropped
                kept = [name for name in answer.changed if name not in dropped]
                own = {name: answer.parameters[name] for name in kept}
                answer = memory.configure({**own, **changes})
    print_json(answer) if as_json else _print(answer, named or None)


def _known(names: Sequence[str], answer: SettingsAnswer) -> set[str]:
    for name in names:
        if name not in answer.parameters:
            known = ", ".join(sorted(answer.parameters))
            raise InvalidInputError(f"unknown parameter; known are {known}", field=name)
    return set(names)


def _parsed(text: str) -> tuple[str, bool | float | str]:
    """Read ``name=value``; a value that is no number, true or false is text."""
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise InvalidInputError("expected NAME=VALUE, such as focus_limit=3", field=text)
    if value in _BOOLEANS:
        return name, _BOOLEANS[value]
    for kind in (int, float):
        try:
            number = kind(value)
        except ValueError:
            continue
        if not isfinite(number):  # no JSON holds one
            raise InvalidInputError(f"expected a number, not {value}", field=name)
        return name, number
    return name, value


def _print(answer: SettingsAnswer, names: Collection[str] | None = None) -> None:
    """Print what holds, of these names, if any are given; and what there is no room for."""
    from memci.cli.output import print_table, say

    print_table(
        ("parameter", "value", ""),
        (
            (name, _shown(value), "its own" if name in answer.changed else "")
            for name, value in sorted(answer.parameters.items())
            if names is None or name in names
        ),
    )
    for each in answer.warnings:
        say(each, style="yellow")


def _shown(value: bool | float | str) -> str:  # noqa: FBT001 - a value, not a switch
    return str(value).lower() if isinstance(value, bool) else f"{value}"


def env(*, as_json: JsonOption = False) -> None:
    """Print where broker and database are: eval "$(memci env)".

    As set, else where the embedded servers of a running `memci up` are. The addresses hold
    passwords: this prints secrets.
    """
    import shlex
    import sys

    from memci.cli.connection import read_settings
    from memci.cli.output import print_json
    from memci.embedded.server_addresses import broker_url, database_url

    settings = read_settings()
    found = {
        "MEMCI_BROKER_URL": broker_url(settings),
        "MEMCI_DATABASE_URL": _plain(database_url(settings)),
    }
    if as_json:
        print_json(found)
        return
    for name, value in found.items():
        sys.stdout.write(f"export {name}={shlex.quote(value)}\n")


def _plain(url: str) -> str:
    """Return the address without SQLAlchemy's driver in it, which psql and others refuse."""
    scheme, separator, rest = url.partition("://")
    return scheme.partition("+")[0] + separator + rest


app = typer.Typer(help="Make API keys.", no_args_is_help=True, rich_markup_mode=None)


class Scope(StrEnum):
    """What a key may do; each may do all that the one before it may."""

    READ = "read"
    WRITE = "write"
    ADMIN = "admin"


@app.callback()
def keys() -> None:
    """Make API keys."""


@app.command("new")
def new(
    *,
    name: Annotated[str, typer.Argument(help="Who will use it.")],
    agents: Annotated[
        str,
        typer.Option(
            metavar="PATTERN",
            help="For which agents, and which collection/NAME: * and ? as in file names; "
            "with commas, several.",
        ),
    ] = "*",
    scope: Annotated[Scope, typer.Option(help="What it may do.")] = Scope.READ,
    as_json: JsonOption = False,
) -> None:
    """Make a key and show it, once; MEMCI_API_KEYS gets only its hash.

    Only the key is on standard output, for $(memci keys new NAME); what the server needs is beside
    it, on standard error.
    """
    from pydantic import ValidationError

    from memci.api_keys import new_key
    from memci.cli.connection import read_settings
    from memci.cli.output import hint, print_json, say
    from memci.schemas.problems import describe_faults

    # Settings for the outside are refused until there is a key, which is made here.
    known = read_settings(host="127.0.0.1").api_keys
    if any(each.name == name for each in known):
        raise InvalidInputError(f"there is a key {name!r} in MEMCI_API_KEYS already", field="name")
    try:
        key, entry = new_key(name, agents=agents, scope=scope.value)
    except ValidationError as error:
        raise InvalidInputError(describe_faults(error)) from None
    entries = [each.model_dump(mode="json") for each in (*known, entry)]
    if as_json:
        print_json({"key": key, "entry": entries[-1], "api_keys": entries})
        return
    say(key)
    hint("this key is shown once: give it to its user, who sends it as 'Authorization: Bearer …'")
    hint("(the command line sends what MEMCI_API_KEY holds). Start the server with:")
    hint(f"MEMCI_API_KEYS='{json.dumps(entries, ensure_ascii=False)}'")
