"""MCP over stdin and stdout: how a client on the same machine starts a server of its own."""

from __future__ import annotations

import signal

import anyio
from mcp.server.stdio import stdio_server

from memci.mcp.hand import Hand
from memci.mcp.server import make_server


def run(hand: Hand) -> None:
    """Serve until stdin ends; an interrupt ends the process as it stands."""
    # Python's own would wait for the thread that reads stdin. Nothing is kept here.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    anyio.run(_serve, hand)


async def _serve(hand: Hand) -> None:
    server = make_server(hand)
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())
