"""Whose documents a command is about: an agent's, or a collection's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from memci.errors import InvalidInputError

if TYPE_CHECKING:
    from memci.cli.indexing.sending import Where

AgentChoice = Annotated[
    str | None, typer.Option("--agent", "-a", metavar="ID", help="Whose documents.")
]
CollectionChoice = Annotated[
    str | None,
    typer.Option("--collection", "-c", metavar="NAME", help="The collection that they are in."),
]


@contextmanager
def place_of(agent: str | None, collection: str | None) -> Iterator[Where]:
    """Lend a client of one of the two; ``InvalidInputError`` unless one was named."""
    from memci.cli.connection import connected

    if (agent is None) == (collection is None):
        raise InvalidInputError("name either --agent ID or --collection NAME")
    with connected() as memci:
        yield (
            memci.collection(collection)
            if agent is None and collection
            else memci.agent(str(agent))
        )
