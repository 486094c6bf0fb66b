"""MCP over HTTP: each request stands for itself, so any process of the API may answer it."""

from __future__ import annotations

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.types import Receive, Scope, Send

from memci.mcp.hand import Hand
from memci.mcp.server import make_server


async def answer(hand: Hand, scope: Scope, receive: Receive, send: Send, *, max_bytes: int) -> None:
    """Answer one request that was let in; its body may have so many bytes."""
    manager = StreamableHTTPSessionManager(
        make_server(hand), json_response=True, stateless=True, max_request_body_size=max_bytes
    )
    async with manager.run():
        await manager.handle_request(scope, receive, send)
