from __future__ import annotations

import httpx
import pytest

from memci.http.routers import health
from memci.storage.migrate import current_revision, upgrade
from memci.telemetry.metrics import LANE_GAUGES
from tests.integration.http.serving import Served
from tests.support.databases import as_owner, migration_url


def test_a_server_is_alive_and_ready(http: httpx.Client) -> None:
    assert http.get("/healthz").json() == {"alive": True}
    checks = {"database": "ok", "broker": "ok", "migrations": "ok"}
    assert http.get("/readyz").json() == {"ready": True, "checks": checks}


def test_a_server_needs_the_schema_of_its_release_or_of_a_later_one(
    http: httpx.Client, server: Served
) -> None:
    url = server.runtime.database.engine.url
    with as_owner(url) as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
        assert http.get("/readyz").status_code == 200
        upgrade(migration_url(url))
        assert current_revision(connection) == "9999"
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '0000'")
    answer = http.get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["checks"]["database"] == health.OK
    assert "memci db upgrade" in answer.json()["checks"]["migrations"]


def metrics_of(http: httpx.Client) -> dict[str, float]:
    lines = http.get("/metrics").text.splitlines()
    samples = (line.rsplit(" ", 1) for line in lines if not line.startswith("#"))
    return {name: float(value) for name, value in samples}


def test_metrics_show_the_queue(http: httpx.Client, server: Served) -> None:
    body = {"messages": [{"role": "user", "content": "x"}]}
    for agent in ("a", "a", "b"):
        http.post(f"/v1/agents/{agent}/messages", json=body)
    http.post("/v1/agents/b/compress")
    with server.runtime.database.lane_transaction() as connection:
        connection.exec_driver_sql(
            "UPDATE job SET created_at = now() - interval '1 minute' WHERE agent_id = 'b'"
        )
        connection.exec_driver_sql(
            "UPDATE lane SET wake_at = now() - interval '1 minute' WHERE agent_id = 'b'"
        )
        connection.exec_driver_sql(
            "UPDATE lane SET lease_until = now() + interval '1 minute' WHERE agent_id = 'a'"
        )
    found = metrics_of(http)
    assert found["memci_queued_jobs"] == 3
    assert found["memci_oldest_queued_age_seconds"] == pytest.approx(60, abs=5)
    assert found["memci_memory_lag_seconds"] == pytest.approx(60, abs=5)
    assert found["memci_dead_jobs"] == 0
    assert found["memci_leases"] == 1
    assert found["memci_lanes_due_unclaimed"] == 1
    assert found["memci_compress_pending"] == 1
    assert found["memci_database_up"] == 1


def test_requests_are_counted_by_route_and_never_by_agent(http: httpx.Client) -> None:
    for agent in ("alice", "bob"):
        http.get(f"/v1/agents/{agent}/nodes")
        http.get(f"/v1/agents/{agent}/nodes?limit=0")
    http.get("/v1/surprise/alice")
    found = metrics_of(http)
    route = 'method="GET",route="/v1/agents/{agent}/nodes"'
    assert found[f'memci_http_requests_total{{{route},status="404"}}'] == 2
    assert found[f'memci_http_requests_total{{{route},status="422"}}'] == 2
    assert found[f"memci_http_request_seconds_count{{{route}}}"] == 4
    assert found['memci_http_requests_total{method="GET",route="unmatched",status="404"}'] == 1
    assert not any("alice" in name or "agent=" in name for name in found)


def test_every_gauge_is_described(http: httpx.Client) -> None:
    text = http.get("/metrics").text
    for description in LANE_GAUGES.values():
        assert description in text
