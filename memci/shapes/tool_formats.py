"""The tools of agents, written as model providers and protocols want them (P15)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from enum import StrEnum
from typing import Any, TypeAlias

from memci.errors import InvalidInputError
from memci.shapes.told import schema_told
from memci.shapes.tools import Tool, tools_of_agents

Written: TypeAlias = dict[str, Any]


class ToolFormat(StrEnum):
    """Whose way of writing."""

    OPENAI = "openai"  # Chat Completions; most servers and LiteLLM take it
    RESPONSES = "responses"  # OpenAI's Responses
    ANTHROPIC = "anthropic"
    MCP = "mcp"


def tools(
    format: ToolFormat | str = ToolFormat.OPENAI,  # noqa: A002 - the word of the surface
) -> list[Written]:
    """Return all tools that a model may be given, to hand to a provider as they are.

    ``format`` is ``openai``, ``responses``, ``anthropic`` or ``mcp``. Raises ``InvalidInputError``
    for one that there is not.
    """
    if format not in list(ToolFormat):
        known = ", ".join(ToolFormat)
        raise InvalidInputError(f"format: expected one of: {known}", field="format")
    return deepcopy(written(tools_of_agents(), ToolFormat(format)))


def written(listed: Sequence[Tool], form: ToolFormat) -> list[Written]:
    """Return these tools in a format; their schemas are shared: change a copy."""
    return [_WAYS[form](tool) for tool in listed]


def _flat(tool: Tool) -> Written:
    return {"type": "function", **tool.function["function"]}


def _anthropic(tool: Tool) -> Written:
    return {
        "name": tool.name,
        "description": tool.description,
        "input_schema": tool.parameters,
    }


def _mcp(tool: Tool) -> Written:
    hints = {
        "readOnlyHint": not tool.changes,
        "destructiveHint": tool.destroys,
        "idempotentHint": tool.idempotent or not tool.changes,
        "openWorldHint": False,
    }
    return {
        "name": tool.name,
        "description": tool.description,
        "inputSchema": tool.parameters,
        "outputSchema": schema_told(tool.answer),
        "annotations": hints,
    }


_WAYS: Mapping[ToolFormat, Callable[[Tool], Written]] = {
    ToolFormat.OPENAI: lambda tool: tool.function,
    ToolFormat.RESPONSES: _flat,
    ToolFormat.ANTHROPIC: _anthropic,
    ToolFormat.MCP: _mcp,
}
