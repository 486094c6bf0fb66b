"""Routes that check the API key before they read the body, and the middleware around them."""

import time
from collections.abc import Callable, Coroutine, Mapping
from functools import wraps
from inspect import iscoroutinefunction
from typing import Any, ClassVar

import structlog
from fastapi import APIRouter
from fastapi.concurrency import contextmanager_in_threadpool
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import BaseModel
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Send
from starlette.types import Scope as AsgiScope
from structlog.contextvars import bind_contextvars

from memci.api_keys import Scope
from memci.commands.audit import recorded
from memci.errors import InvalidInputError, MemciError
from memci.http.auth import Gate
from memci.http.documentation import problems
from memci.http.problems import answer_error
from memci.http.request import Call, audit_entry, check_query
from memci.telemetry.metrics import HttpMetrics
from memci.telemetry.traces import Traces, valid_traceparent

# Of every scope: they change or remove what was known.
_AUDITED = frozenset({"PATCH", "DELETE"})
# Their commands record them, since they are not asked for by these routes alone.
_RECORDED_BELOW = frozenset({"edit_node", "edit_nodes", "delete_node", "delete_nodes"})


class GuardedRoute(APIRoute):
    """A route that needs a key with its scope, if the server has keys."""

    scope: ClassVar[Scope]

    def __init__(
        self,
        path: str,
        endpoint: Callable[..., Any],
        *,
        status_code: int | None = None,
        **options: Any,
    ) -> None:
        """Document the problems that follow from the route's path and body."""
        answering = _answering(endpoint, status_code or 200)
        options["operation_id"] = endpoint.__name__
        super().__init__(path, answering, status_code=status_code, **options)
        statuses = [404] if self.param_convertors else []
        if self.body_field is not None:
            statuses += [400, 413, 415]
        self.responses = {**problems(*statuses), **self.responses}

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return a handler that checks the request first."""
        handle = super().get_route_handler()
        parts = (self.dependant, *self.dependant.dependencies)
        known = frozenset(each.alias for part in parts for each in part.query_params)

        async def guarded(request: Request) -> Response:
            gate: Gate = request.app.state.gate
            agent_id = gate.admit(request, self.scope)
            if agent_id is not None:
                bind_contextvars(agent_id=agent_id)
            check_query(request, known)
            call = Call(request.scope, request.receive, max_bytes=gate.max_request_bytes)
            if self.body_field is not None:
                await call.read()
            is_administration = self.scope is Scope.ADMIN and request.method != "GET"
            changes = request.method in _AUDITED and self.operation_id not in _RECORDED_BELOW
            if is_administration or changes:
                return await _audited(call, self.operation_id or "", handle)
            return await handle(call)

        return guarded


async def _audited(
    call: Call, action: str, handle: Callable[[Request], Coroutine[Any, Any, Response]]
) -> Response:
    entry = audit_entry(call, action)
    bind_contextvars(request_id=entry.request_id)
    async with contextmanager_in_threadpool(recorded(call.runtime.database, entry)) as recording:
        try:
            response = await handle(call)
            recording.status = response.status_code
        except RequestValidationError:
            recording.status = 422
            raise
        finally:
            recording.subject = getattr(call.state, "subject", None)
    return response


class Routes:
    """The routes of one subject, by the scope that their keys need.

    They document the problems of path and body, and ``responses``.
    """

    def __init__(self, tag: str, responses: Mapping[int | str, Any] | None = None) -> None:
        self.read, self.write, self.admin = self.all = [
            APIRouter(
                prefix="/v1",
                tags=[tag],
                route_class=type(f"{scope.name}_ROUTE", (GuardedRoute,), {"scope": scope}),
                responses=dict(responses or {}),
            )
            for scope in (Scope.READ, Scope.WRITE, Scope.ADMIN)
        ]


def _answering(endpoint: Callable[..., Any], status_code: int) -> Callable[..., Any]:
    """Return an endpoint that serializes its answer in its own thread.

    FastAPI would validate the answer again, in a second thread.
    """

    def response(result: Any) -> Response:
        if isinstance(result, BaseModel):
            return Response(
                result.model_dump_json(), status_code=status_code, media_type="application/json"
            )
        return result  # type: ignore[no-any-return]

    @wraps(endpoint)
    def answer(*args: Any, **kwargs: Any) -> Response:
        return response(endpoint(*args, **kwargs))

    @wraps(endpoint)
    async def answer_async(*args: Any, **kwargs: Any) -> Response:
        return response(await endpoint(*args, **kwargs))

    return answer_async if iscoroutinefunction(endpoint) else answer


_log = structlog.get_logger("memci.http")
# Only for metrics, as in nginx: the caller left before the answer.
_GONE = 499
_UNMATCHED = "unmatched"
_HIDDEN_SEPARATORS = (b"%2f", b"%5c")


class Edge:
    """Pure ASGI middleware: it buffers nothing and starts no task."""

    def __init__(self, app: ASGIApp, *, metrics: HttpMetrics, traces: Traces) -> None:
        self._app = app
        self._metrics = metrics
        self._traces = traces

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = time.perf_counter()
        status = 0

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                for name, value in scope["state"].get("headers", {}).items():
                    headers.setdefault(name, value)  # those of a proxied server stay
            await send(message)

        try:
            await self._answer(scope, receive, watched)
        except ClientDisconnect:
            status = status or _GONE
        except Exception:
            _log.exception("request failed", method=scope["method"], route=_route(scope))
            if status:
                raise  # half an answer is out: let the server cut the connection
            await answer_error(MemciError())(scope, receive, watched)  # without details
        finally:
            elapsed = time.perf_counter() - started
            self._metrics.observe(_method(scope), _route(scope), status, elapsed)

    async def _answer(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        raw_path: bytes = scope.get("raw_path") or b""
        if any(hidden in raw_path.lower() for hidden in _HIDDEN_SEPARATORS):
            # Decoded, it would be another path.
            error = InvalidInputError("a path must not hold an encoded slash")
            await answer_error(error)(scope, receive, send)
            return
        parent = valid_traceparent(Headers(scope=scope).get("traceparent"))
        with self._traces.span(f"{scope['method']} request", parent=parent) as traceparent:
            scope.setdefault("state", {})["traceparent"] = traceparent
            await self._app(scope, receive, send)


def _route(scope: AsgiScope) -> str:
    """Return the template of the path: ids would make a time series of each agent."""
    return getattr(scope.get("route"), "path", _UNMATCHED)


def _method(scope: AsgiScope) -> str:
    known = {"GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH"}
    return scope["method"] if scope["method"] in known else "other"
