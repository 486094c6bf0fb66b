"""Options that several commands share."""

import json
from collections.abc import Callable, Iterable
from functools import partial, wraps
from inspect import Parameter, signature
from pathlib import Path
from typing import Annotated, Any

import typer

from memci.cli.output import PRINTS_JSON
from memci.domain.memory.node import NodeType
from memci.domain.search.candidate import Channel, Source
from memci.errors import InvalidInputError
from memci.message import Role

AgentOption = Annotated[str, typer.Option("--agent", "-a", metavar="ID", help="Id of the agent.")]
# An id, under the name of its parameter: ``Annotated[str | None, id_option(help="…")]``.
id_option = partial(typer.Option, metavar="ID")
UserOption = Annotated[
    str | None, typer.Option("--user", metavar="ID", help="Only what was said with this user.")
]
SessionOption = Annotated[
    str | None,
    typer.Option("--session", metavar="ID", help="Session (default: that of the last message)."),
]
AsOfOption = Annotated[
    str | None,
    typer.Option(
        "--as-of",
        metavar="TIME",
        help="State of memory at this time, such as 2026-03-02 or 2026-03-02T09:15:00Z (UTC).",
    ),
]
CursorOption = Annotated[
    str | None, typer.Option("--cursor", help="Cursor of the next page, from the last answer.")
]
LimitOption = Annotated[
    int, typer.Option("--limit", min=1, max=500, help="Maximum number of lines.")
]
RecordOption = Annotated[
    Path | None,
    typer.Option(
        "--record",
        metavar="FILE",
        help="Add the question to this file, for `memci settings compare`.",
    ),
]
TimeoutOption = Annotated[
    float, typer.Option("--timeout", min=0.1, metavar="SECONDS", help="Timeout of --wait.")
]
WaitOption = Annotated[bool, typer.Option("--wait", help="Wait until the workers are done.")]
CollectionsOption = Annotated[
    list[str] | None,
    typer.Option("--collection", metavar="NAME", help="Also search this collection (repeatable)."),
]
BestOption = Annotated[
    int | None, typer.Option("--k", "-k", min=1, max=200, help="Maximum number of hits.")
]
SourcesOption = Annotated[
    list[Source] | None,
    typer.Option("--source", help="Source to search (repeatable; default: all)."),
]
ChannelsOption = Annotated[
    list[Channel] | None,
    typer.Option("--channel", help="Channel to use (repeatable; default: dense and lexical)."),
]
NowOption = Annotated[
    str | None,
    typer.Option("--now", metavar="TIME", help='Reference time of "last week" (default: now).'),
]
SinceOption = Annotated[
    str | None, typer.Option("--since", metavar="TIME", help="Only what was said since this time.")
]
UntilOption = Annotated[
    str | None,
    typer.Option(
        "--until", metavar="TIME", help="Only what was said before this; a day is included."
    ),
]
RolesOption = Annotated[
    list[Role] | None, typer.Option("--role", help="Only messages of this role (repeatable).")
]
NamesOption = Annotated[
    list[str] | None,
    typer.Option("--name", metavar="NAME", help="Only messages of this speaker (repeatable)."),
]
TypesOption = Annotated[
    list[NodeType] | None, typer.Option("--type", help="Only memories of this type (repeatable).")
]
TagsOption = Annotated[
    list[str] | None,
    typer.Option("--tag", metavar="TAG", help="Only messages with one of these tags (repeatable)."),
]
MetadataOption = Annotated[
    list[str] | None,
    typer.Option(
        "--metadata", metavar="NAME=VALUE", help="Only messages with all these values (repeatable)."
    ),
]


_JSON = Parameter(
    "as_json",
    Parameter.KEYWORD_ONLY,
    default=False,
    annotation=Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")],
)


def with_json(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command with the option --json, which ``printed_json`` obeys."""

    @wraps(command)
    def run(*, as_json: bool, **given: Any) -> None:
        PRINTS_JSON.set(as_json)
        command(**given)

    own = signature(command, eval_str=True)
    parameters = [*own.parameters.values(), _JSON]
    vars(run)["__signature__"] = own.replace(parameters=parameters)
    run.__annotations__ = {each.name: each.annotation for each in parameters}
    return run


def filters_of(*, metadata: Iterable[str] | None, **given: object) -> dict[str, Any] | None:
    """Return the filters that are not empty; None without any."""
    filters = {name: value for name, value in given.items() if value}
    if metadata:
        filters["metadata"] = dict(assignment(each, "--metadata") for each in metadata)
    return filters or None


def assignment(written: str, field: str) -> tuple[str, Any]:
    """Parse ``NAME=VALUE`` of an argument; a value that is not JSON is text."""
    name, equals, value = written.partition("=")
    if not (name and equals):
        raise InvalidInputError(f"expected NAME=VALUE, not {written!r}", field=field)
    try:
        return name, json.loads(value, parse_constant=str)  # NaN is not JSON
    except ValueError:
        return name, value
