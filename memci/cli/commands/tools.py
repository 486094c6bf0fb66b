"""The commands ``memci tools`` and ``memci mcp``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memci.cli.connection import client_for, explained, read_settings
from memci.cli.options import AgentOption, SessionOption
from memci.cli.output import print_json
from memci.schemas.tools.format_names import ToolFormat

if TYPE_CHECKING:
    from memci.config.settings import Settings
    from memci.schemas.tools.table import Tool


def tools(
    *,
    form: Annotated[
        ToolFormat, typer.Option("--format", help="Format of this provider or protocol.")
    ] = ToolFormat.OPENAI,
) -> None:
    """Print the tools for models as JSON.

    Needs no server.
    """
    from memci.schemas.tools.table import tools as all_tools

    print_json(all_tools(form))


# MCP clients wait while this command starts.
_TIMEOUT_S = 5.0


def mcp(*, agent: AgentOption, session: SessionOption = None) -> None:
    """Serve an agent's tools and window over MCP.

    Uses stdin and stdout. Clients such as Claude Desktop start this command. It needs a running
    memci; as for all commands, set MEMCI_API_URL and MEMCI_API_KEY.
    """
    from memci.errors import ConfigurationError
    from memci.mcp.connection import AgentConnection, load_server, text_of

    server = load_server(ConfigurationError)
    settings = read_settings()
    with client_for(settings) as memci:
        memory = memci.agent(agent)

        def act(tool: Tool, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
            with explained(settings):
                return memory.call_tool(tool.name, arguments, session_id=session)

        def window() -> str:
            with explained(settings):
                return text_of(memory.window(session_id=session))

        server.run(AgentConnection(agent, _permitted_tools(settings), act, window))


def _permitted_tools(settings: Settings) -> Sequence[Tool]:
    """Return the tools that the key may use; all tools while the server is unavailable."""
    from memci.errors import MemciError
    from memci.schemas.tools.table import tools_of_agents

    try:
        with client_for(settings, timeout_s=_TIMEOUT_S) as memci:
            known = {each["function"]["name"] for each in memci.tools()}
    except MemciError:  # each call of a tool will report the error
        return tools_of_agents()
    return [each for each in tools_of_agents() if each.name in known]
