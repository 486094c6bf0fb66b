"""MCP at ``/mcp/{agent}``, behind the gate that all requests pass (P15)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import cache, wraps
from importlib import import_module
from typing import Any, ParamSpec, TypeAlias, TypeVar

from pydantic import ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.routing import Route
from starlette.types import Receive, Send
from starlette.types import Scope as Connection
from structlog.contextvars import bound_contextvars

from memci.api_keys import Scope
from memci.errors import InvalidInputError, MemciError, NotFoundError
from memci.http.auth import Gate, check_same_origin
from memci.http.request import check_query
from memci.http.tool_calls import tools_for, use_tool
from memci.mcp.connection import NOT_INSTALLED, AgentConnection, is_sdk, text_of
from memci.runtime import Runtime
from memci.schemas.pages import WindowRequest
from memci.schemas.problems import problem_of

P = ParamSpec("P")
T = TypeVar("T")
Answering: TypeAlias = Callable[..., Awaitable[None]]

_SESSION = "session_id"


class _Endpoint:
    """Lets a request in, and has it answered for the agent of its path and for no other."""

    async def __call__(self, scope: Connection, receive: Receive, send: Send) -> None:
        scope["route"] = route  # what it is counted under
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


def _hand(request: Request, agent_id: str) -> AgentConnection:
    runtime: Runtime = request.app.state.runtime
    asked = _asked(request)
    return AgentConnection(
        agent_id=agent_id,
        tools=tools_for(request.state.key),
        act=_telling(
            lambda tool, given: use_tool(runtime, agent_id, tool, given, asked.session_id)
        ),
        window=_telling(lambda: text_of(runtime.windows.show(agent_id, asked))),
    )


def _telling(do: Callable[P, T]) -> Callable[P, T]:
    """Let errors say what callers may be told, and of a fault of ours nothing."""

    @wraps(do)
    def done(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return do(*args, **kwargs)
        except MemciError as error:
            raise MemciError(problem_of(error).detail) from error

    return done


def _asked(request: Request) -> WindowRequest:
    try:
        return WindowRequest(session_id=request.query_params.get(_SESSION))
    except ValidationError:
        raise InvalidInputError("expected 1 to 256 characters", field=_SESSION) from None


@cache
def _answering() -> Answering:
    """Return what speaks the protocol; the SDK is imported when it is first needed."""
    try:
        module: Any = import_module("memci.mcp.server")
    except ModuleNotFoundError as error:
        if not is_sdk(error):
            raise
        raise NotFoundError(NOT_INSTALLED) from None
    answering: Answering = module.answer
    return answering
