"""What an MCP connection can do: it is for one agent, whatever a model writes into its arguments.

This module needs no SDK, so that programs can say when the SDK is missing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from memci.schemas.pages import WindowAnswer
from memci.schemas.tools import Tool

# A tool and its arguments → what a model is told (``shapes.told``).
Act: TypeAlias = Callable[[Tool, Mapping[str, Any]], Mapping[str, Any]]

NOT_INSTALLED = (
    "MCP needs its SDK, which is not installed here: pip install mcp "
    "(memci's extra mcp names the version)"
)
_SDK = frozenset({"mcp", "mcp_types"})


@dataclass(frozen=True, slots=True)
class AgentConnection:
    """One agent's tools and window.

    ``act`` and ``window`` block: they are called on threads. They raise ``MemciError`` with a text
    that may be told.
    """

    agent_id: str
    tools: Sequence[Tool]
    act: Act
    window: Callable[[], str]


def is_sdk(error: ModuleNotFoundError) -> bool:
    """Tell whether it is the SDK that could not be imported."""
    return (error.name or "").partition(".")[0] in _SDK


def text_of(window: WindowAnswer) -> str:
    """Return what a window shows, as one text: its messages begin with headings."""
    return "".join(each.content or "" for each in window.messages)
