"""MCP over stdin and stdout: how a client on the same machine starts a server of its own.

MCP over HTTP: each request stands for itself, so any process of the API may answer it.
"""

from __future__ import annotations

import signal

import anyio
from mcp.server.stdio import stdio_server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.types import Receive, Scope, Send

from memci.mcp.server import Hand, make_server


def run(hand: Hand) -> None:
    """Serve until stdin ends; an interrupt ends the process as it stands."""
    # Python's own would wait for the thread that reads stdin. Nothing is kept here.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    anyio.run(_serve, hand)


async def _serve(hand: Hand) -> None:
    server = make_server(hand)
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


async def answer(hand: Hand, scope: Scope, receive: Receive, send: Send, *, max_bytes: int) -> None:
    """Answer one request that was let in; its body may have so many bytes."""
    manager = StreamableHTTPSessionManager(
        make_server(hand), json_response=True, stateless=True, max_request_body_size=max_bytes
    )
    async with manager.run():
        await manager.handle_request(scope, receive, send)
