"""OpenAPI, and a page that shows it without resources from the network."""

from functools import cache, partial
from importlib.resources import files
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from starlette.responses import RedirectResponse, Response

import memci
from memci.schemas.problems import MEDIA_TYPE, Problem

_DESCRIPTIONS = {
    400: "The body is not JSON",
    401: "No key, or an unknown one",
    403: "The key may not do this",
    404: "There is no such thing",
    409: "The request contradicts what is stored",
    413: "Over a limit",
    415: "The body is not declared as JSON",
    422: "A field is wrong; `field` says which",
    429: "The key has used up its rate",
    500: "A fault of ours; the log says more",
    503: "A part does not answer; try again after Retry-After seconds",
}
_ALWAYS = (401, 403, 422, 429, 500, 503)
_RETRY_AFTER = {"Retry-After": {"schema": {"type": "integer"}, "description": "Seconds"}}
_SECURITY_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; connect-src 'self'; "
    "script-src 'unsafe-inline'; style-src 'unsafe-inline'",
    "X-Content-Type-Options": "nosniff",
}


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the responses for these problems, and for those of every route."""
    return described(*_ALWAYS, *statuses)


def described(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the responses for these problems."""
    schema = {"$ref": "#/components/schemas/Problem"}
    return {
        status: {
            "description": _DESCRIPTIONS[status],
            "content": {MEDIA_TYPE: {"schema": schema}},
            **({"headers": _RETRY_AFTER} if status in {429, 503} else {}),
        }
        for status in sorted(statuses)
    }


CONFLICT = described(409)


def install(app: FastAPI) -> None:
    """Serve /openapi.json and /docs, to which / leads."""
    app.openapi = cache(partial(_openapi, app))  # type: ignore[method-assign]
    page = files("memci.http").joinpath("docs.html").read_text()

    @app.get("/docs", include_in_schema=False)
    def docs() -> Response:
        return Response(page, media_type="text/html", headers=_SECURITY_HEADERS)

    @app.get("/", include_in_schema=False)
    def root() -> Response:
        return RedirectResponse("docs")


def _openapi(app: FastAPI) -> dict[str, Any]:
    schema = get_openapi(
        title="memci",
        version=memci.__version__,
        summary="Memory and context window of LLM agents",
        routes=app.routes,
    )
    components = schema.setdefault("components", {})
    template = "#/components/schemas/{model}"
    problem = Problem.model_json_schema(ref_template=template)
    schemas = components.setdefault("schemas", {})
    schemas.update(problem.pop("$defs", {}))
    schemas["Problem"] = problem
    for unused in ("HTTPValidationError", "ValidationError"):
        schemas.pop(unused, None)
    components["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
    for path, operations in schema["paths"].items():
        for operation in operations.values():
            # Keys are asked for only when some are set.
            operation["security"] = [{"key": []}, {}] if path.startswith("/v1/") else []
            _set_summary(operation)
    return schema


def _set_summary(operation: dict[str, Any]) -> None:
    """Take the summary from the first line of the description, not from the function's name."""
    first, _, rest = operation.pop("description", "").partition("\n")
    if first:
        operation["summary"] = first.removesuffix(".")
    if rest.strip():
        operation["description"] = rest.strip()
