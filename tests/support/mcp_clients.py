"""Clients of MCP, as the official SDK makes them, on both transports."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import httpx
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

from tests.support.fleet import ROOT

# How a client speaks: as all did until 2025, with a handshake, or as they do now, without one.
MODES = ("legacy", "auto")


def command(agent: str, url: str, *more: str, **settings: str) -> StdioServerParameters:
    """How a client on the same machine starts a server for an agent."""
    return StdioServerParameters(
        command=sys.executable,
        args=["-m", "memci.cli", "mcp", "--agent", agent, *more],
        env={"PYTHONPATH": str(ROOT), "MEMCI_API_URL": url, **settings},
    )


@asynccontextmanager
async def over_stdio(
    url: str, agent: str, *, session: str | None = None, key: str = "", mode: str = "auto"
) -> AsyncIterator[Client]:
    """Connect to a `memci mcp` that is started for it."""
    more = ("--session", session) if session else ()
    settings = {"MEMCI_API_KEY": key} if key else {}
    async with Client(command(agent, url, *more, **settings), mode=mode) as client:
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
    """Run a conversation to its end, within a time; what failed in it is raised by itself."""

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
