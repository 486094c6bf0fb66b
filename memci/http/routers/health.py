"""Routes for liveness, readiness and metrics; they show no ids and no content."""

from collections.abc import Callable

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from memci.broker.app import check_broker
from memci.errors import MemciError
from memci.http import problems
from memci.http.documentation import described
from memci.runtime import Runtime
from memci.schemas.agents import AliveAnswer, ReadyAnswer
from memci.schemas.problems import TYPE_PREFIX, Problem
from memci.storage.diagnosis import check_database, check_migrations
from memci.telemetry.metrics import CONTENT_TYPE, HttpMetrics

OK = "ok"


def check(runtime: Runtime) -> dict[str, str]:
    """Return for each part ``OK`` or its error; checks all parts."""
    checks: dict[str, Callable[[], None]] = {
        "database": lambda: check_database(runtime.database),
        "broker": lambda: check_broker(runtime.celery),
        "migrations": lambda: check_migrations(runtime.database),
    }
    results = dict.fromkeys(checks, OK)
    for name, ask in checks.items():
        try:
            ask()
        except MemciError as error:
            results[name] = str(error)
    return results


router = APIRouter(tags=["health"])


@router.get("/healthz")
def alive() -> AliveAnswer:
    """Say that the process answers."""
    return AliveAnswer(alive=True)


@router.get("/readyz", responses=described(503), response_model=ReadyAnswer)
def ready(request: Request) -> Response | ReadyAnswer:
    """Say whether database, broker and migrations are as they must be."""
    checks = check(request.app.state.runtime)
    failed = sorted(name for name, result in checks.items() if result != OK)
    if not failed:
        return ReadyAnswer(ready=True, checks=checks)
    problem = Problem(
        type=TYPE_PREFIX + "unavailable",
        title="Not ready",
        status=503,
        detail=f"not ready: {', '.join(failed)}; `memci doctor` says what to do",
        checks=checks,
    )
    return problems.answer(problem, {"Retry-After": "1"})


@router.get(
    "/metrics",
    response_class=Response,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
)
def metrics(request: Request) -> Response:
    """Return metrics in Prometheus' text format."""
    http_metrics: HttpMetrics = request.app.state.metrics
    return Response(http_metrics.render(), media_type=CONTENT_TYPE)
