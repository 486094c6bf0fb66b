"""Errors as problem details (RFC 9457)."""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from inspect import isclass
from typing import Any, get_type_hints

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match

from memci import errors
from memci.http.auth import Rate
from memci.http.request import MalformedError, MediaTypeError
from memci.schemas import problems
from memci.schemas.base import Request as Body
from memci.validation_messages import own_faults

# A request can have a hundred thousand faults; the first few are enough.
_MOST_FAULTS = 20
# The first part of a location, which is no part of a name.
_PLACES = frozenset({"body", "query", "path", "header"})


def install(app: FastAPI) -> None:
    """Answer every error of the app as a problem."""
    app.exception_handler(errors.MemciError)(_on_memci_error)
    app.exception_handler(RequestValidationError)(_on_invalid)
    app.exception_handler(HTTPException)(_on_http_error)


def answer(problem: problems.Problem, headers: Mapping[str, str] | None = None) -> Response:
    """Return a problem as a response."""
    return Response(
        problem.model_dump_json(exclude_none=True),
        status_code=problem.status,
        headers=dict(headers or {}),
        media_type=problems.MEDIA_TYPE,
    )


def answer_error(error: errors.MemciError) -> Response:
    """Return an error of memci as a response."""
    problem = problems.problem_of(error)
    match error:
        case MalformedError():
            problem = problem.model_copy(update={"status": 400, "title": "Malformed body"})
        case MediaTypeError():
            update = {"type": problems.TYPE_PREFIX + "unsupported-media-type", "status": 415}
            problem = problem.model_copy(update=update | {"title": "Unsupported media type"})
    return answer(problem, _headers(error, problem.status))


def _headers(error: errors.MemciError, status: int) -> dict[str, str]:
    if isinstance(error, errors.UnauthorizedError):
        return {"WWW-Authenticate": "Bearer"}
    if isinstance(error, (errors.RateLimitedError, errors.UnavailableError)):
        wait = {"Retry-After": str(max(1, math.ceil(error.retry_after_s)))}
        if isinstance(error, errors.RateLimitedError) and error.limit is not None:
            wait |= Rate(error.limit, error.remaining, error.retry_after_s).headers
        return wait
    return {"Retry-After": "1"} if status == 503 else {}  # noqa: PLR2004 - the status itself


async def _on_memci_error(_request: Request, error: errors.MemciError) -> Response:
    return answer_error(error)


async def _on_invalid(request: Request, error: RequestValidationError) -> Response:
    """Answer with the wrong fields and the expected values, never with the sent ones."""
    found = own_faults(error.errors())
    model = _body_of(request.scope["endpoint"])
    faults = [
        problems.Fault(
            field=_path(each["loc"]),
            detail=problems.expected_by(model, each["loc"][1:], each),
        )
        for each in found[:_MOST_FAULTS]
    ]
    first = faults[0]
    more = f" ({len(found) - 1} more)" if len(found) > 1 else ""
    detail = f"{first.field or 'body'}: {first.detail}{more}"
    problem = problems.problem_of(errors.InvalidInputError(detail, field=first.field))
    return answer(problem.model_copy(update={"errors": faults}))


async def _on_http_error(request: Request, error: HTTPException) -> Response:
    """Answer the errors of routing: an unknown path or method."""
    if error.status_code == 405:  # noqa: PLR2004 - the status itself
        allowed = ", ".join(sorted(_methods(request)))
        problem = problems.Problem(
            type=problems.TYPE_PREFIX + "method-not-allowed",
            title="Method not allowed",
            status=405,
            detail=f"this path answers {allowed}",
        )
        return answer(problem, {"Allow": allowed})
    return answer_error(errors.NotFoundError("there is no such path; /docs lists all"))


def _methods(request: Request) -> set[str]:
    methods: set[str] = set()
    for route in request.app.routes:
        if route.matches(request.scope)[0] is not Match.NONE:
            methods |= route.methods or set()
    return methods


@cache
def _body_of(endpoint: Callable[..., Any]) -> type[BaseModel] | None:
    """Return the schema of the body that an endpoint takes, if it takes one."""
    kinds = get_type_hints(endpoint).values()
    return next((each for each in kinds if isclass(each) and issubclass(each, Body)), None)


def _path(location: Sequence[str | int]) -> str | None:
    parts = location[1:] if location and location[0] in _PLACES else location
    return problems.field_path(tuple(parts)) or None
