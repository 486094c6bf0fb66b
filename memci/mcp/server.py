"""An MCP server for one agent, over stdin and stdout or over HTTP."""

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
from memci.schemas.tools.format_names import ToolFormat
from memci.schemas.tools.table import written

T = TypeVar("T")

INSTRUCTIONS = (
    "Your context is a tree of pages: conversations and notes, in folders. Each has an index, such "
    "as usr-12; usr-0 is the root. Open pages that you need in your window, close others to free "
    "tokens, write down what must not be lost. What has left the window can be found again."
)
_log = structlog.get_logger("memci.mcp")
_WINDOW_TYPE = "text/markdown"


def make_server(connection: AgentConnection) -> Server[Any]:
    """Return a server for the tools and window of a connection; it has no state."""
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
    """Return the resource URI of an agent's window."""
    return f"memci://agents/{agent_id}/window"


async def _list_tools(
    connection: AgentConnection, _context: ServerRequestContext, _page: Any
) -> Any:
    listed = written(connection.tools, ToolFormat.MCP)
    return types.ListToolsResult(tools=[types.Tool.model_validate(each) for each in listed])


async def _call_tool(
    connection: AgentConnection, _context: ServerRequestContext, asked: types.CallToolRequestParams
) -> types.CallToolResult:
    """Use a tool. An error that the model can correct is an answer, not a protocol error."""
    tool = next((each for each in connection.tools if each.name == asked.name), None)
    if tool is None:
        raise MCPError(types.INVALID_PARAMS, f"Unknown tool: {shown_name(asked.name)}")
    try:
        answer = await _run_on_thread(lambda: connection.use_tool(tool, asked.arguments or {}))
    except MemciError as error:
        return types.CallToolResult(content=[_text(str(error))], is_error=True)
    return types.CallToolResult(
        content=[_text(to_json(answer).decode())], structured_content=dict(answer)
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
        text = await _run_on_thread(connection.window)
    except MemciError as error:
        raise MCPError(types.INVALID_PARAMS, str(error)) from None
    content = types.TextResourceContents(uri=uri, mime_type=_WINDOW_TYPE, text=text)
    return types.ReadResourceResult(contents=[content])


async def _run_on_thread(do: Callable[[], T]) -> T:
    """Run a blocking function on a thread; log unexpected errors without showing them."""
    try:
        return await to_thread.run_sync(do)
    except MemciError:
        raise
    except Exception:  # noqa: BLE001 - it goes to the log, not to the client
        _log.exception("tool failed")
        raise MemciError(problem_of(MemciError()).detail) from None


def _text(text: str) -> types.TextContent:
    return types.TextContent(text=text)


def run(connection: AgentConnection) -> None:
    """Serve until stdin ends; an interrupt ends the process at once."""
    # Python's own handler would wait for the thread that reads stdin. No state is lost.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    anyio.run(_serve, connection)


async def _serve(connection: AgentConnection) -> None:
    server = make_server(connection)
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


async def answer(
    connection: AgentConnection, scope: Scope, receive: Receive, send: Send, *, max_bytes: int
) -> None:
    """Answer one authorized request, with a body of at most ``max_bytes``."""
    manager = StreamableHTTPSessionManager(
        make_server(connection), json_response=True, stateless=True, max_request_body_size=max_bytes
    )
    async with manager.run():
        await manager.handle_request(scope, receive, send)
