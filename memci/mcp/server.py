"""An MCP server for one agent, whatever it is connected by.

What a connection can do: it is for one agent, whatever a model writes into its arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias, TypeVar

import mcp_types as types
import structlog
from anyio import to_thread
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError
from pydantic_core import to_json

import memci
from memci.errors import MemciError, shown_name
from memci.schemas.pages import WindowAnswer
from memci.schemas.problems import problem_of
from memci.schemas.tools import Tool, ToolFormat, written

# A tool and its arguments → what a model is told (``shapes.told``).
Act: TypeAlias = Callable[[Tool, Mapping[str, Any]], Mapping[str, Any]]

NOT_INSTALLED = (
    "MCP needs its SDK, which is not installed here: pip install mcp "
    "(memci's extra mcp names the version)"
)
_SDK = frozenset({"mcp", "mcp_types"})


@dataclass(frozen=True, slots=True)
class Hand:
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


T = TypeVar("T")

INSTRUCTIONS = (
    "Your context is a tree of pages: conversations and notes, in folders. Each has an index, such "
    "as usr-12; usr-0 is the root. Open pages that you need in your window, close others to free "
    "tokens, write down what must not be lost. What has left the window can be found again."
)
_log = structlog.get_logger("memci.mcp")
_WINDOW_TYPE = "text/markdown"


def make_server(hand: Hand) -> Server[Any]:
    """Return a server that offers what ``hand`` can do; it keeps nothing between two requests."""
    parameters = {tool.name: tool.parameters for tool in hand.tools}
    return Server(
        "memci",
        version=memci.__version__,
        instructions=INSTRUCTIONS,
        get_tool_input_schema=parameters.get,
        on_list_tools=partial(_list_tools, hand),
        on_call_tool=partial(_call_tool, hand),
        on_list_resources=partial(_list_resources, hand),
        on_read_resource=partial(_read_resource, hand),
    )


def window_uri(agent_id: str) -> str:
    """Return what names an agent's window among resources."""
    return f"memci://agents/{agent_id}/window"


async def _list_tools(hand: Hand, _context: ServerRequestContext, _page: Any) -> Any:
    listed = written(hand.tools, ToolFormat.MCP)
    return types.ListToolsResult(tools=[types.Tool.model_validate(each) for each in listed])


async def _call_tool(
    hand: Hand, _context: ServerRequestContext, asked: types.CallToolRequestParams
) -> types.CallToolResult:
    """Use a tool. What the model can mend is an answer to it, not an error of the protocol."""
    tool = next((each for each in hand.tools if each.name == asked.name), None)
    if tool is None:
        raise MCPError(types.INVALID_PARAMS, f"Unknown tool: {shown_name(asked.name)}")
    try:
        told = await _aside(lambda: hand.act(tool, asked.arguments or {}))
    except MemciError as error:
        return types.CallToolResult(content=[_text(str(error))], is_error=True)
    return types.CallToolResult(
        content=[_text(to_json(told).decode())], structured_content=dict(told)
    )


async def _list_resources(hand: Hand, _context: ServerRequestContext, _page: Any) -> Any:
    window = types.Resource(
        uri=window_uri(hand.agent_id),
        name="window",
        description=f"The context window of {hand.agent_id}: what its model sees.",
        mime_type=_WINDOW_TYPE,
    )
    return types.ListResourcesResult(resources=[window])


async def _read_resource(
    hand: Hand, _context: ServerRequestContext, asked: types.ReadResourceRequestParams
) -> types.ReadResourceResult:
    uri = window_uri(hand.agent_id)
    if str(asked.uri) != uri:
        raise MCPError(types.INVALID_PARAMS, f"Unknown resource: {shown_name(str(asked.uri))}")
    try:
        text = await _aside(hand.window)
    except MemciError as error:
        raise MCPError(types.INVALID_PARAMS, str(error)) from None
    content = types.TextResourceContents(uri=uri, mime_type=_WINDOW_TYPE, text=text)
    return types.ReadResourceResult(contents=[content])


async def _aside(do: Callable[[], T]) -> T:
    """Do something that blocks on a thread; an error that nobody foresaw is logged, not told."""
    try:
        return await to_thread.run_sync(do)
    except MemciError:
        raise
    except Exception:  # noqa: BLE001 - whatever it was, it is in the log and not in the answer
        _log.exception("tool failed")
        raise MemciError(problem_of(MemciError()).detail) from None


def _text(text: str) -> types.TextContent:
    return types.TextContent(text=text)
