"""The FastAPI application, from services."""

from __future__ import annotations

from fastapi import FastAPI

from memci.http import documentation, problems
from memci.http.edge import Edge
from memci.http.gate import Gate
from memci.http.routers import agents, health, jobs, messages, network, reads
from memci.http.services import Services
from memci.storage.gauges import lane_gauges
from memci.telemetry.metrics import HttpMetrics, LaneCollector, LaneGauges

_ROUTERS = (
    messages.writing,
    messages.reading,
    reads.router,
    agents.reading,
    agents.operating,
    network.router,
    jobs.reading,
    jobs.operating,
    health.router,
)


def create_app(services: Services) -> FastAPI:
    """Return the application that serves the whole HTTP surface."""
    metrics = HttpMetrics()
    metrics.registry.register(LaneCollector(lambda: _gauges(services)))
    app = FastAPI(title="memci", docs_url=None, redoc_url=None, redirect_slashes=False)
    app.state.services = services
    app.state.gate = Gate(services.settings)
    app.state.metrics = metrics
    app.add_middleware(Edge, metrics=metrics, traces=services.traces)
    problems.install(app)
    for router in _ROUTERS:
        app.router.routes.extend(router.routes)
    documentation.install(app)
    return app


def _gauges(services: Services) -> LaneGauges:
    with services.database.upkeep_transaction() as connection:
        return lane_gauges(connection, token_stale_s=services.settings.token_stale_s)
