"""Tools of an agent over HTTP, and MCP at ``/mcp/{agent}`` (P5, P15)."""

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from pydantic import ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.routing import Route
from starlette.types import Receive, Send
from starlette.types import Scope as Connection
from structlog.contextvars import bound_contextvars

from memci.api_keys import Scope, allows
from memci.commands.audit import recorded
from memci.config.groups import ApiKey
from memci.domain.agent_id import LISTED
from memci.domain.pages.permission import Actor
from memci.domain.pages.window_text import Format
from memci.errors import InvalidInputError, MemciError, NotFoundError, shown_name
from memci.http.auth import Gate, check_same_origin
from memci.http.request import audit_entry, check_query
from memci.mcp.connection import AgentConnection, load_server, text_of
from memci.runtime import Runtime
from memci.schemas.pages import WindowRequest
from memci.schemas.problems import problem_of
from memci.schemas.tools.pages import answer_for_model
from memci.schemas.tools.table import BY_NAME, Tool, tools_of_agents


def scope_of(tool: Tool) -> Scope:
    """Return the scope that a key needs for a tool."""
    if tool.erases:
        return Scope.ADMIN
    return Scope.WRITE if tool.changes else Scope.READ


def tools_for(key: ApiKey | None) -> list[Tool]:
    """Return the tools that a key may use; None: the server has no keys."""
    return [each for each in tools_of_agents() if allows(key, scope_of(each))]


def tool_named(name: str) -> Tool:
    """Return a tool for agents, or raise ``NotFoundError``."""
    tool = BY_NAME.get(name)
    if tool is None or not tool.for_agents:
        near = get_close_matches(name, [each.name for each in tools_of_agents()], 1)
        hint = f"did you mean {near[0]}?" if near else "use one of those that you were given"
        raise NotFoundError(f"there is no tool '{shown_name(name)}': {hint}")
    return tool


def use_tool(
    request: Request,
    agent_id: str,
    tool: Tool,
    arguments: Mapping[str, Any],
    session: str | None,
    form: Format = Format.MARKDOWN,
) -> dict[str, Any]:
    """Use a tool within the key's quotas; return the answer for the model.

    Raises as ``Tools.run``.
    Models write null for an omitted argument.
    """
    given = {name: value for name, value in arguments.items() if value is not None}
    runtime: Runtime = request.app.state.runtime
    try:
        answer = runtime.tools.run(
            agent_id,
            Actor.AGENT,
            tool.name,
            given,
            session_id=session,
            form=form,
            paying=request.state.paying,
        )
    except NotFoundError as error:
        # A model has no list of agents.
        raise NotFoundError(str(error).removesuffix(f"; {LISTED}")) from None
    return answer_for_model(answer)


P = ParamSpec("P")
T = TypeVar("T")


def audited(request: Request, tool: Tool, use: Callable[[], T]) -> T:
    """Use a tool; record it in the audit log if it erases. Commands record other changes."""
    if not tool.erases:
        return use()
    runtime: Runtime = request.app.state.runtime
    with recorded(runtime.database, audit_entry(request, f"tool_{tool.name}")):
        return use()


_SESSION = "session_id"


class _Endpoint:
    """Authorizes a request, and answers it for the agent of its path only."""

    async def __call__(self, scope: Connection, receive: Receive, send: Send) -> None:
        scope["route"] = route  # for the metrics
        request = Request(scope, receive)
        gate: Gate = request.app.state.gate
        check_same_origin(request)
        agent_id = gate.admit(request, Scope.READ)
        assert agent_id is not None  # noqa: S101 - the path names one
        check_query(request, {_SESSION})
        connection = _connect(request, agent_id)
        server = await run_in_threadpool(load_server, NotFoundError)
        with bound_contextvars(agent_id=agent_id):
            await server.answer(connection, scope, receive, send, max_bytes=gate.max_request_bytes)


route = Route("/mcp/{agent}", _Endpoint(), methods=["POST"], include_in_schema=False)


def _connect(request: Request, agent_id: str) -> AgentConnection:
    runtime: Runtime = request.app.state.runtime
    try:
        window = WindowRequest(session_id=request.query_params.get(_SESSION))
    except ValidationError:
        raise InvalidInputError("expected 1 to 256 characters", field=_SESSION) from None
    return AgentConnection(
        agent_id=agent_id,
        tools=tools_for(request.state.key),
        use_tool=_with_public_errors(
            lambda tool, given: audited(
                request,
                tool,
                lambda: use_tool(request, agent_id, tool, given, window.session_id),
            )
        ),
        window=_with_public_errors(lambda: text_of(runtime.windows.show(agent_id, window))),
    )


def _with_public_errors(do: Callable[P, T]) -> Callable[P, T]:
    """Replace the texts of errors by public ones."""

    @wraps(do)
    def run(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return do(*args, **kwargs)
        except MemciError as error:
            raise MemciError(problem_of(error).detail) from error

    return run
