"""Answers to wrong paths and methods, while servers are down, and after internal errors."""

from __future__ import annotations

import select
import socket
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from memci.embedded import Servers
from memci.errors import DatabaseUnavailableError
from memci.testing import wait_until
from tests.integration.http.conftest import Serve, make_settings
from tests.integration.http.serving import Served, served
from tests.support.databases import as_owner

BODY = {"messages": [{"role": "user", "content": "hush-hush"}]}


@pytest.mark.parametrize("path", ["/v1", "/v2/agents", "/v1/agents/", "/v1/agents/a/surprise"])
def test_unknown_paths_are_not_found(http: httpx.Client, path: str) -> None:
    answer = http.get(path)
    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["type"] == "urn:memci:problem:not-found"


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("DELETE", "/v1/agents/a/messages", "GET, POST"),
        ("POST", "/v1/agents/a/settings", "GET, PUT"),
        ("GET", "/v1/agents/a/recall", "POST"),
        ("PATCH", "/healthz", "GET"),
        ("PROPFIND", "/v1/agents", "GET"),
    ],
)
def test_a_wrong_method_is_answered_with_the_allowed_ones(
    http: httpx.Client, method: str, path: str, allowed: str
) -> None:
    answer = http.request(method, path)
    assert answer.status_code == 405
    assert answer.headers["allow"] == allowed
    assert answer.json()["type"] == "urn:memci:problem:method-not-allowed"


def test_a_read_that_no_worker_answers_is_503(http: httpx.Client) -> None:
    for path, body in (
        ("recall", {"keywords": ["x"]}),
        ("search", {"query": "x"}),
        ("context", {"budget_tokens": 100}),
    ):
        answer = http.post(f"/v1/agents/a/{path}", json=body)
        assert answer.status_code == 503
        assert answer.json()["type"] == "urn:memci:problem:read-timeout"
        assert int(answer.headers["retry-after"]) >= 1


def test_an_internal_error_is_answered_and_logged_without_texts(
    http: httpx.Client, server: Served, logged: Callable[[], list[dict[str, Any]]]
) -> None:
    with as_owner(server.runtime.database.engine.url) as connection:
        connection.exec_driver_sql("ALTER TABLE message DROP COLUMN remember")
    answer = http.post("/v1/agents/a/messages", json=BODY)
    assert answer.status_code == 500
    assert answer.json() == {
        "type": "urn:memci:problem:internal",
        "title": "Internal error",
        "status": 500,
        "detail": "internal error; the server's log says more",
    }
    (line,) = [line for line in logged() if line["level"] == "error"]
    assert line["event"] == "request failed"
    assert line["agent_id"] == "a"
    assert "UndefinedColumn" in line["exception"]
    assert "hush-hush" not in str(line)
    assert http.get("/healthz").status_code == 200


def test_a_stopped_database_is_503_and_a_restarted_one_202(own_servers: Servers) -> None:
    settings = make_settings(own_servers.postgres.url, own_servers.redis.url)
    with served(settings) as server, httpx.Client(base_url=server.url, timeout=30) as http:
        assert http.post("/v1/agents/a/messages", json=BODY).status_code == 202
        own_servers.postgres.stop()
        answer = http.post("/v1/agents/a/messages", json=BODY)
        assert answer.status_code == 503
        assert int(answer.headers["retry-after"]) >= 1
        assert answer.json()["detail"] == str(DatabaseUnavailableError())
        ready = http.get("/readyz")
        assert ready.status_code == 503
        assert ready.json()["checks"]["broker"] == "ok"
        assert ready.json()["checks"]["database"] != "ok"
        assert "memci_database_up 0.0" in http.get("/metrics").text
        own_servers.postgres.start()
        assert http.post("/v1/agents/a/messages", json=BODY).status_code == 202
        assert server.messages("a") == ["hush-hush"] * 2


def test_messages_are_accepted_while_the_broker_is_down(own_servers: Servers) -> None:
    settings = make_settings(own_servers.postgres.url, own_servers.redis.url)
    with served(settings) as server, httpx.Client(base_url=server.url, timeout=30) as http:
        own_servers.redis.stop()
        assert http.post("/v1/agents/a/messages", json=BODY).status_code == 202
        answer = http.post("/v1/agents/a/search", json={"query": "x"})
        assert answer.status_code == 503
        assert answer.json()["type"] == "urn:memci:problem:unavailable"
        assert http.get("/readyz").json()["checks"]["broker"] != "ok"


def test_a_caller_that_disconnects_is_no_error(
    http: httpx.Client, server: Served, logged: Callable[[], list[dict[str, Any]]]
) -> None:
    where = urlsplit(server.url)
    with socket.create_connection((where.hostname, where.port)) as caller:
        caller.sendall(
            b"POST /v1/agents/a/messages HTTP/1.1\r\nHost: localhost\r\n"
            b'Content-Type: application/json\r\nContent-Length: 999\r\n\r\n{"messages":'
        )
    route = 'route="/v1/agents/{agent}/messages"'
    counted = f'memci_http_requests_total{{method="POST",{route},status="499"}}'
    wait_until(lambda: counted in http.get("/metrics").text, "the caller's leaving was counted")
    assert logged() == []
    assert server.messages("a") == []


def test_waiting_reads_do_not_block_writes(serve: Serve) -> None:
    server = serve(http_read_timeout_ms=6000)
    where = urlsplit(server.url)
    search = b'{"query": "x"}'
    ask = (
        b"POST /v1/agents/a/search HTTP/1.1\r\nHost: localhost\r\n"
        b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(search), search)
    )
    queued = server.runtime.redis
    assert queued is not None
    with ExitStack() as stack:
        readers = []
        for _ in range(50):
            reader = socket.create_connection((where.hostname, where.port))
            readers.append(stack.enter_context(reader))
            reader.sendall(ask)
        wait_until(lambda: queued.llen("memci.read") == len(readers), "all reads were asked for")
        answer = httpx.post(f"{server.url}/v1/agents/a/messages", json=BODY)
        answered, _, _ = select.select(readers, [], [], 0)
    assert answer.status_code == 202
    assert not answered
