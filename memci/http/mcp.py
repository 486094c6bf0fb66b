"""MCP at ``/mcp/{agent}``, behind the gate that all requests pass (P15)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import cache
from importlib import import_module
from typing import Any, TypeAlias

from pydantic import TypeAdapter, ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.routing import Route
from starlette.types import Receive, Send
from starlette.types import Scope as Connection
from structlog.contextvars import bound_contextvars

from memci.access import Scope, allows
from memci.errors import InvalidInputError, NotFoundError
from memci.http.gate import Gate, check_same_origin
from memci.http.query import check_query
from memci.http.tool_calls import use_tool
from memci.mcp.hand import NOT_INSTALLED, Hand, text_of
from memci.runtime import Runtime
from memci.shapes.base import ForeignId
from memci.shapes.tools import tools_of_agents

Answering: TypeAlias = Callable[..., Awaitable[None]]

_SESSION = "session_id"
_SESSION_ID: TypeAdapter[str] = TypeAdapter(ForeignId)
_SDK = frozenset({"mcp", "mcp_types"})


class _Endpoint:
    """Lets a request in, and has it answered for the agent of its path and for no other."""

    async def __call__(self, scope: Connection, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        gate: Gate = request.app.state.gate
        check_same_origin(request)
        agent_id = gate.admit(request, Scope.READ)
        assert agent_id is not None  # noqa: S101 - the path names one
        check_query(request, {_SESSION})
        hand = _hand(request, agent_id)
        answer = await run_in_threadpool(_answering)
        with bound_contextvars(agent_id=agent_id):
            await answer(hand, scope, receive, send, max_bytes=gate.max_request_bytes)


route = Route("/mcp/{agent}", _Endpoint(), methods=["POST"], include_in_schema=False)


def _hand(request: Request, agent_id: str) -> Hand:
    runtime: Runtime = request.app.state.runtime
    session_id = _session(request)
    may_write = allows(request.state.key, Scope.WRITE)
    return Hand(
        agent_id=agent_id,
        tools=[each for each in tools_of_agents() if may_write or not each.changes],
        act=lambda tool, arguments: use_tool(runtime, agent_id, tool, arguments, session_id),
        window=lambda: text_of(runtime.windows.show(agent_id, session_id=session_id)),
    )


def _session(request: Request) -> str | None:
    given = request.query_params.get(_SESSION)
    if given is None:
        return None
    try:
        return _SESSION_ID.validate_python(given)
    except ValidationError:
        raise InvalidInputError("expected 1 to 256 characters", field=_SESSION) from None


@cache
def _answering() -> Answering:
    """Return what speaks the protocol; the SDK is imported when it is first needed."""
    try:
        module: Any = import_module("memci.mcp.streamable")
    except ModuleNotFoundError as error:
        if error.name not in _SDK:
            raise
        raise NotFoundError(NOT_INSTALLED) from None
    answering: Answering = module.answer
    return answering
