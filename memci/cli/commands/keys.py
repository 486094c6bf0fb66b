"""``memci keys``, on the database, so that the first key needs no API; ``memci audit``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memci.cli.connection import connected, read_settings
from memci.cli.options import CursorOption, LimitOption
from memci.cli.output import hint, print_answer, print_list, printed_json, say
from memci.config.groups import KeyScope
from memci.errors import InvalidInputError

if TYPE_CHECKING:
    from memci.commands.keys import Keys
    from memci.schemas.keys import KeyAnswer, NewKeyAnswer

NameArgument = Annotated[str, typer.Argument(help="Name of the key.")]


def _limit(about: str) -> Any:
    return typer.Option(min=0, help=f"Most {about}; 0: no limit. Default: as the server has it.")


def list_keys() -> None:
    """List the keys of the database and of MEMCI_API_KEYS, without themselves."""
    from memci.schemas.keys import KeyList

    with _keys() as keys:
        found = KeyList(keys=keys.list())
    rows = (
        {
            "name": each.name,
            "agents": each.agents,
            "scope": each.scope,
            "state": each.state,
            "expires": each.expires_at,
            "last used": each.last_used_at,
            "limits": _limits(each),
            "messages today": each.messages_today,
            "": "in MEMCI_API_KEYS" if each.source == "environment" else "",
        }
        for each in found.keys
    )
    print_list(found, rows)


def new_key(
    *,
    name: Annotated[str, typer.Argument(help="Name of its user.")],
    agents: Annotated[
        str,
        typer.Option(
            metavar="PATTERN",
            help="Permitted agents and collection/NAME: * and ? as in file names; "
            "separate several with commas.",
        ),
    ] = "*",
    scope: Annotated[
        KeyScope, typer.Option(help="What the key permits; each includes the one before.")
    ] = "read",
    days: Annotated[
        int | None, typer.Option(min=1, max=36_500, help="Days until it expires.")
    ] = None,
    requests_per_minute: Annotated[int | None, _limit("requests in a minute")] = None,
    messages_per_day: Annotated[int | None, _limit("messages in a day")] = None,
    stored_bytes: Annotated[int | None, _limit("stored bytes of its agents")] = None,
    most_agents: Annotated[int | None, _limit("agents")] = None,
    env: Annotated[
        bool, typer.Option("--env", help="Store nothing; print an entry for MEMCI_API_KEYS.")
    ] = False,
) -> None:
    """Create a key and print it once; only its hash is stored.

    Prints only the key on standard output, for $(memci keys new NAME).
    """
    from datetime import UTC, datetime, timedelta

    from pydantic import ValidationError

    from memci.schemas.keys import KeyRequest
    from memci.schemas.problems import describe_faults

    limits = {
        "requests_per_minute": requests_per_minute,
        "messages_per_day": messages_per_day,
        "stored_bytes": stored_bytes,
        "agents": most_agents,
    }
    expires_at = None if days is None else datetime.now(UTC) + timedelta(days=days)
    asked = {"name": name, "agents": agents, "scope": scope, "expires_at": expires_at}
    try:
        request = KeyRequest.model_validate({**asked, "limits": limits})
    except ValidationError as error:
        raise InvalidInputError(describe_faults(error)) from None
    if env:
        _print_entry(request.model_dump(mode="json"))
        return
    with _changing(name, "new_key") as keys:
        made = keys.new(request)
    _print_key(made)


def rotate_key(
    *,
    name: NameArgument,
    grace: Annotated[
        float, typer.Option(metavar="HOURS", min=0, help="The former key is accepted so long.")
    ] = 24.0,
) -> None:
    """Replace a key, and print the new one once."""
    with _changing(name, "rotate_key") as keys:
        made = keys.rotate(name, grace_s=round(grace * 3600))
    _print_key(made)


def revoke_key(*, name: NameArgument) -> None:
    """Accept a key no more; its name is not used again."""
    with _changing(name, "revoke_key") as keys:
        answer = keys.revoke(name)
    print_answer(answer, f"{name} is revoked; running APIs follow within a few seconds")


def audit(
    *,
    agent: Annotated[
        str | None, typer.Option("--agent", "-a", metavar="ID", help="Only this agent.")
    ] = None,
    limit: LimitOption = 100,
    cursor: CursorOption = None,
) -> None:
    """Show who administered or erased what, the latest first."""
    with connected() as memci:
        listed = memci.audit(agent_id=agent, limit=limit, cursor=cursor)
    rows = (
        {
            "at": each.at,
            "key": each.key_name or "(none)",
            "action": each.action,
            "agent": each.agent_id,
            "subject": each.subject,
            "status": each.status,
            "request": each.request_id,
        }
        for each in listed.records
    )
    print_list(listed, rows)


@contextmanager
def _keys() -> Iterator[Keys]:
    from memci.cli.database import opened_database
    from memci.commands.keys import Keys

    settings = read_settings()
    with opened_database(settings) as database:
        yield Keys(database, settings.api_keys)


@contextmanager
def _changing(name: str, action: str) -> Iterator[Keys]:
    """Yield the keys for a change that the audit log gets."""
    from uuid import uuid4

    from memci.commands.audit import recorded
    from memci.storage.audit import COMMAND_LINE, AuditEntry

    entry = AuditEntry(action, uuid4().hex, COMMAND_LINE, subject=name)
    with _keys() as keys, recorded(keys.database, entry):
        yield keys


def _print_key(made: NewKeyAnswer) -> None:
    if printed_json(made):
        return
    say(made.key)
    hint("this key is shown once: give it to its user, who sends it as 'Authorization: Bearer …'")
    hint("(the command line sends the key in MEMCI_API_KEY). Running APIs know it within seconds,")
    hint("and serve nobody without a key from then on")


def _print_entry(asked: dict[str, Any]) -> None:
    """Print a key, and MEMCI_API_KEYS with its entry."""
    import json

    from memci.api_keys import new_secret
    from memci.config.groups import ApiKey

    known = read_settings().api_keys
    if any(each.name == asked["name"] for each in known):
        raise InvalidInputError(
            f"there is a key {asked['name']!r} in MEMCI_API_KEYS already", field="name"
        )
    key, its_hash = new_secret()
    entry = ApiKey.model_validate({**asked, "hash": its_hash})
    entries = [
        each.model_dump(mode="json", exclude_defaults=True) | {"agents": each.agents}
        for each in (*known, entry)
    ]
    if printed_json({"key": key, "entry": entries[-1], "api_keys": entries}):
        return
    say(key)
    hint("this key is shown once. Start the server with:")
    hint(f"MEMCI_API_KEYS='{json.dumps(entries, ensure_ascii=False)}'")


def _limits(key: KeyAnswer) -> str:
    return ", ".join(f"{name} {most}" for name, most in key.limits if most is not None)
