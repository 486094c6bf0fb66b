"""MCP clients of the official SDK, on both transports."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

from tests.support.command_line import ROOT, environment
from tests.support.fork_server import fork_server

# Protocol of a client: with a handshake, as until 2025, or without one, as now.
MODES = ("legacy", "auto")


# A client starts this program; it passes its streams to a forked `memci mcp`, which starts soon.
_HAND_ON = 'cat "$1" & exec cat > "$0"'


@asynccontextmanager
async def over_stdio(
    url: str, agent: str, *, session: str | None = None, key: str = "", mode: str = "auto"
) -> AsyncIterator[Client]:
    """Start a `memci mcp` and connect to it."""
    more = ("--session", session) if session else ()
    settings = {"MEMCI_API_URL": url, **({"MEMCI_API_KEY": key} if key else {})}
    with TemporaryDirectory() as folder:
        stdin, stdout = Path(folder, "in"), Path(folder, "out")
        os.mkfifo(stdin)
        os.mkfifo(stdout)
        fork_server().start(
            ["memci", "mcp", "--agent", agent, *more],
            environment(**settings),
            ROOT,
            *(stdin, stdout, Path(os.devnull)),
        )
        streams = StdioServerParameters(
            command="/bin/sh", args=["-c", _HAND_ON, str(stdin), str(stdout)]
        )
        async with Client(streams, mode=mode) as client:
            yield client


@asynccontextmanager
async def over_http(
    url: str, agent: str, *, session: str | None = None, key: str = "", mode: str = "auto"
) -> AsyncIterator[Client]:
    """Connect to the API."""
    query = str(httpx.QueryParams({"session_id": session})) if session else ""
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    async with create_mcp_http_client(headers=headers) as http:
        transport = streamable_http_client(f"{url}/mcp/{agent}?{query}", http_client=http)
        async with Client(transport, mode=mode) as client:
            yield client


def talk(go: Callable[[], Awaitable[Any]]) -> Any:
    """Run a conversation with a timeout; raise its error without an exception group."""

    async def limited() -> Any:
        async with asyncio.timeout(50):
            return await go()

    try:
        return asyncio.run(limited())
    except BaseExceptionGroup as group:
        error: BaseException = group
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        raise error from None
