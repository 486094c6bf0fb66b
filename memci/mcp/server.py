"""An MCP server for one agent, over stdin and stdout or over HTTP."""

from __future__ import annotations

import signal
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import anyio
import mcp_types as types
import structlog
from anyio import to_thread
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.exceptions import MCPError
from pydantic_core import to_json
from starlette.types import Receive, Scope, Send

import memci
from memci.errors import MemciError, shown_name
from memci.mcp.connection import AgentConnection
from memci.schemas.problems import problem_of
from memci.schemas.tool_format import ToolFormat
from memci.schemas.tools import written

T = TypeVar("T")

INSTRUCTIONS = (
    "Your context is a tree of pages: conversations and notes, in folders. Each has an index, such "
    "as usr-12; usr-0 is the root. Open pages that you need in your window, close others to free "
    "tokens, write down what must not be lost. What has left the window can be found again."
)
_log = structlog.get_logger("memci.mcp")
_WINDOW_TYPE = "text/markdown"


def make_server(connection: AgentConnection) -> Server[Any]:
    """Return a server that offers what ``connection`` can do; it keeps no state."""
    parameters = {tool.name: tool.parameters for tool in connection.tools}
    return Server(
        "memci",
        version=memci.__version__,
        instructions=INSTRUCTIONS,
        get_tool_input_schema=parameters.get,
        on_list_tools=partial(_list_tools, connection),
        on_call_tool=partial(_call_tool, connection),
        on_list_resources=partial(_list_resources, connection),
        on_read_resource=partial(_read_resource, connection),
    )


def window_uri(agent_id: str) -> str:
    """Return what names an agent's window among resources."""
    return f"memci://agents/{agent_id}/window"


async def _list_tools(
    connection: AgentConnection, _context: ServerRequestContext, _page: Any
) -> Any:
    listed = written(connection.tools, ToolFormat.MCP)
    return types.ListToolsResult(tools=[types.Tool.model_validate(each) for each in listed])


async def _call_tool(
    connection: AgentConnection, _context: ServerRequestContext, asked: types.CallToolRequestParams
) -> types.CallToolResult:
    """Use a tool. What the model can mend is an answer to it, not an error of the protocol."""
    tool = next((each for each in connection.tools if each.name == asked.name), None)
    if tool is None:
        raise MCPError(types.INVALID_PARAMS, f"Unknown tool: {shown_name(asked.name)}")
    try:
        told = await _aside(lambda: connection.act(tool, asked.arguments or {}))
    except MemciError as error:
        return types.CallToolResult(content=[_text(str(error))], is_error=True)
    return types.CallToolResult(
        content=[_text(to_json(told).decode())], structured_content=dict(told)
    )


async def _list_resources(
    connection: AgentConnection, _context: ServerRequestContext, _page: Any
) -> Any:
    window = types.Resource(
        uri=window_uri(connection.agent_id),
        name="window",
        description=f"The context window of {connection.agent_id}: what its model sees.",
        mime_type=_WINDOW_TYPE,
    )
    return types.ListResourcesResult(resources=[window])


async def _read_resource(
    connection: AgentConnection,
    _context: ServerRequestContext,
    asked: types.ReadResourceRequestParams,
) -> types.ReadResourceResult:
    uri = window_uri(connection.agent_id)
    if str(asked.uri) != uri:
        raise MCPError(types.INVALID_PARAMS, f"Unknown resource: {shown_name(str(asked.uri))}")
    try:
        text = await _aside(connection.window)
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


def run(connection: AgentConnection) -> None:
    """Serve until stdin ends; an interrupt ends the process as it stands."""
    # Python's own would wait for the thread that reads stdin. Nothing is kept here.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    anyio.run(_serve, connection)


async def _serve(connection: AgentConnection) -> None:
    server = make_server(connection)
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


async def answer(
    connection: AgentConnection, scope: Scope, receive: Receive, send: Send, *, max_bytes: int
) -> None:
    """Answer one request that was let in; its body may have so many bytes."""
    manager = StreamableHTTPSessionManager(
        make_server(connection), json_response=True, stateless=True, max_request_body_size=max_bytes
    )
    async with manager.run():
        await manager.handle_request(scope, receive, send)
