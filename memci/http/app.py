"""The FastAPI application."""

from collections.abc import Iterable

from fastapi import FastAPI

from memci.domain.usage import Usage
from memci.http import agent_tools, documentation, problems
from memci.http.auth import Gate
from memci.http.proxy.routes import Proxy
from memci.http.routers import (
    agents,
    documents,
    erasing,
    frameworks,
    health,
    memory,
    network,
    pages,
)
from memci.http.routing import Edge
from memci.runtime import Runtime
from memci.storage.diagnosis import lane_gauges
from memci.storage.usage import total_usage
from memci.telemetry.metrics import HttpMetrics, LaneCollector, LaneGauges, ModelCollector

_ROUTES = (
    memory.message_routes,
    memory.routes,
    agents.routes,
    agents.job_routes,
    erasing.routes,
    erasing.transfer_routes,
    network.routes,
    pages.routes,
    pages.tool_routes,
    documents.routes,
    frameworks.item_routes,
    frameworks.thread_routes,
)


def create_app(runtime: Runtime) -> FastAPI:
    """Return the application that serves the whole HTTP surface."""
    metrics = HttpMetrics()
    metrics.registry.register(LaneCollector(lambda: _gauges(runtime)))
    metrics.registry.register(ModelCollector(lambda: _usage(runtime)))
    app = FastAPI(title="memci", docs_url=None, redoc_url=None, redirect_slashes=False)
    app.state.runtime = runtime
    app.state.gate = Gate(runtime.settings)
    app.state.metrics = metrics
    app.state.closing = []  # functions to await before the event loop ends
    app.add_middleware(Edge, metrics=metrics, traces=runtime.traces)
    problems.install(app)
    for router in (*(each for routes in _ROUTES for each in routes.all), health.router):
        app.router.routes.extend(router.routes)
    app.router.routes.append(agent_tools.route)
    if runtime.settings.proxy_upstream_url is not None:
        proxy = Proxy(runtime, runtime.settings.proxy_upstream_url)
        app.router.routes.extend(proxy.routes())
        app.state.closing.append(proxy.upstream.close)
    documentation.install(app)
    return app


def _gauges(runtime: Runtime) -> LaneGauges:
    with runtime.database.upkeep_transaction() as connection:
        return lane_gauges(connection)


def _usage(runtime: Runtime) -> Iterable[tuple[tuple[str, str], Usage]]:
    with runtime.database.upkeep_transaction() as connection:
        return total_usage(connection)
