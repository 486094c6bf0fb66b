"""``memci settings`` and ``memci keys``."""

import json
from enum import StrEnum
from typing import Annotated

import typer

from memci.cli.connection import read_settings
from memci.cli.options import JsonOption
from memci.cli.output import hint, print_json, print_table, say
from memci.errors import InvalidInputError


def show(*, as_json: JsonOption = False) -> None:
    """Print every setting, and where its value comes from. Secrets are not printed."""
    from dataclasses import asdict

    from memci.config.effective import effective_settings

    found = effective_settings()
    if as_json:
        print_json([asdict(each) for each in found])
        return
    print_table(
        ("setting", "value", "from"), ((each.name, each.value, each.source) for each in found)
    )


def env(*, as_json: JsonOption = False) -> None:
    """Print where broker and database are: eval "$(memci settings env)".

    As set, else where the embedded servers of a running `memci up` are. The addresses hold
    passwords: this prints secrets.
    """
    import shlex
    import sys

    from memci.embedded.server_addresses import broker_url, database_url

    settings = read_settings()
    scheme, separator, rest = database_url(settings).partition("://")
    found = {
        "MEMCI_BROKER_URL": broker_url(settings),
        # Without SQLAlchemy's driver, which psql rejects.
        "MEMCI_DATABASE_URL": scheme.partition("+")[0] + separator + rest,
    }
    if as_json:
        print_json(found)
        return
    for name, value in found.items():
        sys.stdout.write(f"export {name}={shlex.quote(value)}\n")


class Scope(StrEnum):
    """What a key permits; each scope includes the ones before it."""

    READ = "read"
    WRITE = "write"
    ADMIN = "admin"


def new_api_key(
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
    from memci.schemas.problems import describe_faults

    # Settings for a public host are refused without a key, so a local host is assumed.
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
