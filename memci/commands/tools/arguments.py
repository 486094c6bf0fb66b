"""What is asked of a tool, checked: models get names, types and limits wrong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from memci.commands.pages.perform import Asked
from memci.domain.names import shown_name
from memci.domain.pages.permission import Actor
from memci.errors import InvalidInputError, NotFoundError, RefusedError
from memci.expectation import own_faults
from memci.shapes.base import Request
from memci.shapes.faults import describe_misuse, field_path
from memci.shapes.tools import BY_NAME


def asked_of(name: str, arguments: Mapping[str, Any] | Request, actor: Actor) -> Asked:
    """Return what is asked of the tool of this name.

    Raises ``NotFoundError`` for no such tool, ``RefusedError`` for one that is for developers
    alone, ``InvalidInputError`` for arguments that it does not take.
    """
    tool = BY_NAME.get(name)
    if tool is None:
        raise NotFoundError(f"there is no tool '{shown_name(name)}'")
    if actor is Actor.AGENT and not tool.for_agents:
        raise RefusedError(f"{tool.name} is for developers alone")
    if isinstance(arguments, tool.request):
        return Asked(tool, arguments)
    try:
        return Asked(tool, tool.request.model_validate(arguments))
    except ValidationError as error:
        first = own_faults(error.errors(include_input=False, include_url=False))[0]
        raise InvalidInputError(
            f"{tool.name}: {describe_misuse(error, tool.arguments)}",
            field=field_path(first["loc"]) or None,
        ) from None
