"""An MCP connection, which is always for one agent.

This module needs no SDK, so that programs can report a missing SDK.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, TypeAlias

from memci.errors import MemciError
from memci.schemas.pages import WindowAnswer
from memci.schemas.tools.table import Tool

# A tool and its arguments → the answer for the model.
UseTool: TypeAlias = Callable[[Tool, Mapping[str, Any]], Mapping[str, Any]]

_NOT_INSTALLED = 'MCP needs its SDK, which is not installed here: pip install "memci[mcp]"'
_SDK = frozenset({"mcp", "mcp_types"})


@dataclass(frozen=True, slots=True)
class AgentConnection:
    """One agent's tools and window.

    ``use_tool`` and ``window`` block: they are called on threads. They raise ``MemciError`` with a
    public text.
    """

    agent_id: str
    tools: Sequence[Tool]
    use_tool: UseTool
    window: Callable[[], str]


def load_server(error_type: type[MemciError]) -> Any:
    """Return the module ``memci.mcp.server``; raise an error of this type without the SDK."""
    try:
        return import_module("memci.mcp.server")
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in _SDK:
            raise
        raise error_type(_NOT_INSTALLED) from None


def text_of(window: WindowAnswer) -> str:
    """Return the text of a window: its messages begin with headings."""
    return "".join(each.content or "" for each in window.messages)
