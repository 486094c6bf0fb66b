"""Options that say which part of the memory is read, as requests of reads have them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Annotated, Any

import typer

from memci.domain.context.candidate import Channel, Source
from memci.domain.memory.node import NodeType
from memci.domain.message import Role
from memci.errors import InvalidInputError

BestOption = Annotated[int | None, typer.Option("--k", "-k", min=1, max=200, help="Hits at most.")]
SourcesOption = Annotated[
    list[Source] | None,
    typer.Option("--source", help="Where (may be repeated; default: everywhere)."),
]
ChannelsOption = Annotated[
    list[Channel] | None,
    typer.Option("--channel", help="How (may be repeated; default: dense and lexical)."),
]
NowOption = Annotated[
    str | None,
    typer.Option("--now", metavar="TIME", help='What "last week" counts from (default: now).'),
]
SinceOption = Annotated[
    str | None, typer.Option("--since", metavar="TIME", help="Only what was said then or later.")
]
UntilOption = Annotated[
    str | None,
    typer.Option("--until", metavar="TIME", help="Only what was said before; a day: to its end."),
]
RolesOption = Annotated[
    list[Role] | None,
    typer.Option("--role", help="Only what these said (may be repeated)."),
]
NamesOption = Annotated[
    list[str] | None,
    typer.Option("--name", metavar="NAME", help="Only what people so named said (likewise)."),
]
TypesOption = Annotated[
    list[NodeType] | None,
    typer.Option("--type", help="Only memories of these types (likewise)."),
]
TagsOption = Annotated[
    list[str] | None,
    typer.Option("--tag", metavar="TAG", help="Only messages with one of these (likewise)."),
]
MetadataOption = Annotated[
    list[str] | None,
    typer.Option(
        "--metadata", metavar="KEY=VALUE", help="Only messages with all of these (likewise)."
    ),
]


def filters_of(*, metadata: Iterable[str] | None, **given: object) -> dict[str, Any] | None:
    """Return the filters that were given; None without one."""
    filters = {name: value for name, value in given.items() if value}
    if metadata:
        filters["metadata"] = dict(map(_pair, metadata))
    return filters or None


def _pair(written: str) -> tuple[str, Any]:
    """Read ``KEY=VALUE``; a value that is JSON is what that says, any other is text."""
    key, equals, value = written.partition("=")
    if not (key and equals):
        raise InvalidInputError(f"expected KEY=VALUE, not {written!r}", field="--metadata")
    try:
        return key, json.loads(value)
    except ValueError:
        return key, value
