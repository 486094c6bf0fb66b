"""A tool, used as a model of the agent: permissions hold, and answers are short (P5, P15)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from memci.commands.pages.perform import Asked
from memci.domain.names import shown_name
from memci.domain.pages.permission import Actor
from memci.errors import InvalidInputError, NotFoundError
from memci.expectation import own_faults
from memci.runtime import Runtime
from memci.shapes.faults import describe_faults, field_path
from memci.shapes.told import told
from memci.shapes.tools import BY_NAME, Tool


def tool_named(name: str) -> Tool:
    """Return a tool of agents, or raise ``NotFoundError``."""
    tool = BY_NAME.get(name)
    if tool is None or not tool.for_agents:
        raise NotFoundError(f"there is no tool {shown_name(name)}: GET /v1/tools lists all")
    return tool


def use_tool(
    runtime: Runtime, agent_id: str, tool: Tool, arguments: Mapping[str, Any], session: str | None
) -> dict[str, Any]:
    """Use a tool and return what the model is told; raises as ``PageCommands.run``.

    A null is taken for what is left out: models write nulls where nothing is to be said.
    """
    given = {name: value for name, value in arguments.items() if value is not None}
    try:
        request = tool.request.model_validate(given)
    except ValidationError as error:
        first = own_faults(error.errors(include_input=False, include_url=False))[0]
        raise InvalidInputError(
            f"{tool.name}: {describe_faults(error)}", field=field_path(first["loc"]) or None
        ) from None
    commands = runtime.page_commands
    done = commands.run(agent_id, Actor.AGENT, [Asked(tool, request)], session_id=session)
    return told(done[0])
