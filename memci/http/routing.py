"""One kind of route: who asks is checked before what they ask is read."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import wraps
from inspect import iscoroutinefunction
from typing import Any, ClassVar

from fastapi.routing import APIRoute
from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import Response
from structlog.contextvars import bind_contextvars

from memci.api_keys import Scope
from memci.http.auth import Gate
from memci.http.request import Call, check_query


class GuardedRoute(APIRoute):
    """A route that needs a key with some scope, when there are keys."""

    needs: ClassVar[Scope]

    def __init__(
        self,
        path: str,
        endpoint: Callable[..., Any],
        *,
        status_code: int | None = None,
        **options: Any,
    ) -> None:
        """Take what every route takes."""
        answering = _answering(endpoint, status_code or 200)
        options["operation_id"] = endpoint.__name__
        super().__init__(path, answering, status_code=status_code, **options)

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Put the checks before FastAPI's own handler."""
        handle = super().get_route_handler()
        known = frozenset(each.alias for each in self.dependant.query_params)

        async def guarded(request: Request) -> Response:
            gate: Gate = request.app.state.gate
            agent_id = gate.admit(request, self.needs)
            if agent_id is not None:
                bind_contextvars(agent_id=agent_id)
            check_query(request, known)
            call = Call(request.scope, request.receive, max_bytes=gate.max_request_bytes)
            if self.body_field is not None:
                await call.read()
            return await handle(call)

        return guarded


class ReadRoute(GuardedRoute):
    """Reads memory."""

    needs = Scope.READ


class WriteRoute(GuardedRoute):
    """Adds to memory."""

    needs = Scope.WRITE


class AdminRoute(GuardedRoute):
    """Operates an agent's lane."""

    needs = Scope.ADMIN


def _answering(endpoint: Callable[..., Any], status_code: int) -> Callable[..., Any]:
    """Write the answer as JSON where the endpoint runs, in its thread if it has one.

    FastAPI would check the answer again, and goes to a second thread for it.
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
