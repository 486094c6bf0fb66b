"""The outermost layer: measures, traces, and lets no error out as it is."""

from __future__ import annotations

import time

import structlog
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from memci.errors import InvalidInputError
from memci.http import problems
from memci.telemetry.metrics import HttpMetrics
from memci.telemetry.traces import Traces, valid_traceparent

_log = structlog.get_logger("memci.http")
# For the metrics alone, as nginx counts it: the caller left before it was answered.
_GONE = 499
_UNMATCHED = "unmatched"
_HIDDEN_SEPARATORS = (b"%2f", b"%5c")


class Edge:
    """Pure ASGI: nothing is buffered, and no task is started."""

    def __init__(self, app: ASGIApp, *, metrics: HttpMetrics, traces: Traces) -> None:
        """Take what is inside."""
        self._app = app
        self._metrics = metrics
        self._traces = traces

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
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
            await send(message)

        try:
            await self._answer(scope, receive, watched)
        except ClientDisconnect:
            status = status or _GONE
        except Exception:
            _log.exception("request failed", method=scope["method"], route=_route(scope))
            if status:
                raise  # half an answer is out: let the server cut the connection
            await problems.internal()(scope, receive, watched)
        finally:
            elapsed = time.perf_counter() - started
            self._metrics.observe(_method(scope), _route(scope), status, elapsed)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        raw_path: bytes = scope.get("raw_path") or b""
        if any(hidden in raw_path.lower() for hidden in _HIDDEN_SEPARATORS):
            # Decoded, it would name another path than it seems to.
            error = InvalidInputError("a path must not hold an encoded slash")
            await problems.answer_error(error)(scope, receive, send)
            return
        parent = valid_traceparent(Headers(scope=scope).get("traceparent"))
        with self._traces.span(f"{scope['method']} request", parent=parent) as traceparent:
            scope.setdefault("state", {})["traceparent"] = traceparent
            await self._app(scope, receive, send)


def _route(scope: Scope) -> str:
    """Return the template of the path: ids would make a time series of each agent."""
    return getattr(scope.get("route"), "path", _UNMATCHED)


def _method(scope: Scope) -> str:
    known = {"GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH"}
    return scope["method"] if scope["method"] in known else "other"
