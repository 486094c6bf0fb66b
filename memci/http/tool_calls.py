"""A tool, used as a model of the agent: permissions hold, and answers are short (P5, P15)."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from memci.api_keys import Scope, allows
from memci.config.settings import ApiKey
from memci.domain.agent import LISTED
from memci.domain.pages.block import Format
from memci.domain.pages.permission import Actor
from memci.errors import NotFoundError, shown_name
from memci.runtime import Runtime
from memci.schemas.page_tools import told
from memci.schemas.tools import BY_NAME, Tool, tools_of_agents


def scope_of(tool: Tool) -> Scope:
    """Return the scope of a key that may use a tool: that of the path that does the same."""
    if tool.destroys:
        return Scope.ADMIN
    return Scope.WRITE if tool.changes else Scope.READ


def tools_for(key: ApiKey | None) -> list[Tool]:
    """Return the tools of agents that who holds a key may use; None: there are no keys at all."""
    return [each for each in tools_of_agents() if allows(key, scope_of(each))]


def tool_named(name: str) -> Tool:
    """Return a tool of agents, or raise ``NotFoundError``."""
    tool = BY_NAME.get(name)
    if tool is None or not tool.for_agents:
        near = get_close_matches(name, [each.name for each in tools_of_agents()], 1)
        hint = f"did you mean {near[0]}?" if near else "use one of those that you were given"
        raise NotFoundError(f"there is no tool '{shown_name(name)}': {hint}")
    return tool


def use_tool(
    runtime: Runtime,
    agent_id: str,
    tool: Tool,
    arguments: Mapping[str, Any],
    session: str | None,
    form: Format = Format.MARKDOWN,
) -> dict[str, Any]:
    """Use a tool and return what the model is told; raises as ``Tools.run``.

    A null is taken for what is left out: models write nulls where nothing is to be said.
    """
    given = {name: value for name, value in arguments.items() if value is not None}
    run = runtime.tools.run
    try:
        done = run(agent_id, Actor.AGENT, tool.name, given, session_id=session, form=form)
    except NotFoundError as error:
        # A model reaches no list of agents.
        raise NotFoundError(str(error).removesuffix(f"; {LISTED}")) from None
    return told(done)
