"""Keys, scopes, agent patterns and rate limits; which requests need no key."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from memci.api_keys import new_key
from memci.config.groups import KeyLimits
from tests.integration.http.conftest import Serve
from tests.integration.http.serving import Served

BODY = {"messages": [{"role": "user", "content": "x"}]}
ROUTES = [
    ("GET", "/v1/agents/team-1/nodes", "read"),
    ("POST", "/v1/agents/team-1/messages", "write"),
    ("POST", "/v1/agents/team-1/compress", "write"),
    ("POST", "/v1/agents/team-1/pause", "admin"),
    ("POST", "/v1/agents/team-1/resume", "admin"),
    ("PUT", "/v1/agents/team-1/settings", "admin"),
    ("POST", "/v1/agents/team-1/jobs/00000000-0000-0000-0000-000000000000/cancel", "admin"),
]
KEYS = {
    scope: new_key(scope, agents="team-*", scope=scope)  # type: ignore[arg-type]
    for scope in ("read", "write", "admin")
}
SCOPES = list(KEYS)


@pytest.fixture
def server(serve: Serve) -> Served:
    return serve(api_keys=tuple(entry for _, entry in KEYS.values()))


@pytest.fixture
def http(server: Served) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=server.url) as client:
        yield client


def ask(http: httpx.Client, method: str, path: str, key: str | None) -> httpx.Response:
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    body = BODY if path.endswith("messages") else {}
    return http.request(method, path, json=body if method != "GET" else None, headers=headers)


def test_paths_of_v1_need_a_known_key(http: httpx.Client) -> None:
    for method, path, _ in [*ROUTES, ("GET", "/v1/agents", "read")]:
        for key in (None, "memci_wrong", ""):
            answer = ask(http, method, path, key)
            assert answer.status_code == 401
            assert answer.headers["www-authenticate"] == "Bearer"
            assert answer.json()["type"] == "urn:memci:problem:unauthorized"


def test_a_scope_allows_its_own_requests_and_those_of_lower_scopes(http: httpx.Client) -> None:
    for method, path, needed in ROUTES:
        for scope, (key, _) in KEYS.items():
            answer = ask(http, method, path, key)
            allowed = SCOPES.index(scope) >= SCOPES.index(needed)
            assert (answer.status_code != 403) == allowed, (method, path, scope)


def test_other_agents_are_forbidden_whether_they_exist_or_not(
    http: httpx.Client, server: Served
) -> None:
    admin = KEYS["admin"][0]
    ask(http, "POST", "/v1/agents/team-1/messages", admin)
    with server.runtime.database.lane_transaction() as connection:
        connection.exec_driver_sql("INSERT INTO lane (agent_id) VALUES ('rival')")
    answers = {
        ask(http, method, path.replace("team-1", agent), admin).text
        for method, path, _ in ROUTES
        for agent in ("rival", "nobody")
    }
    assert len(answers) == 1
    assert "is not for this agent" in answers.pop()


def test_a_key_lists_its_own_agents_only(http: httpx.Client, server: Served) -> None:
    with server.runtime.database.lane_transaction() as connection:
        for agent in ("rival", "team-1", "team-2", "Team-3", "teamwork"):
            connection.exec_driver_sql("INSERT INTO lane (agent_id) VALUES (%s)", (agent,))
    agents = ask(http, "GET", "/v1/agents", KEYS["read"][0]).json()["agents"]
    assert [each["agent_id"] for each in agents] == ["team-1", "team-2"]


def test_a_refused_body_is_not_read(http: httpx.Client) -> None:
    answer = http.post("/v1/agents/team-1/messages", content=b"not json at all")
    assert answer.status_code == 401


def test_health_and_docs_need_no_key(http: httpx.Client) -> None:
    for path in ("/healthz", "/readyz", "/metrics", "/openapi.json", "/docs"):
        assert http.get(path).status_code == 200


def test_no_answer_contains_the_key(http: httpx.Client) -> None:
    key = KEYS["read"][0]
    assert key not in ask(http, "POST", "/v1/agents/team-1/messages", key).text
    assert "memci_wrong" not in ask(http, "GET", "/v1/agents", "memci_wrong").text


def test_a_key_over_its_rate_limit_is_refused(serve: Serve) -> None:
    entries = tuple(entry for _, entry in KEYS.values())
    server = serve(api_keys=entries, key_limits=KeyLimits(requests_per_minute=3))
    with httpx.Client(base_url=server.url) as http:
        path = "/v1/agents/team-1/nodes"
        statuses = [ask(http, "GET", path, KEYS["read"][0]).status_code for _ in range(3)]
        assert statuses == [404, 404, 404]
        limited = ask(http, "GET", path, KEYS["read"][0])
        assert limited.status_code == 429
        assert limited.json()["type"] == "urn:memci:problem:rate-limited"
        assert 1 <= int(limited.headers["retry-after"]) <= 20
        assert ask(http, "GET", path, KEYS["write"][0]).status_code == 404


@pytest.mark.parametrize(
    "header",
    [{"Host": "evil.example"}, {"Origin": "https://evil.example"}, {"Origin": "null"},
     {"Origin": "http://127.0.0.1:3000"}, {"Origin": "http://localhost"},
     {"Host": "127.0.0.1.evil.example:80"}, {"Origin": "http://["}],
)  # fmt: skip
def test_without_keys_other_sites_are_refused(serve: Serve, header: dict[str, str]) -> None:
    server = serve()
    answer = httpx.post(f"{server.url}/v1/agents/a/messages", json=BODY, headers=header)
    assert answer.status_code == 403
    assert server.count("lane") == 0


def test_without_keys_this_machine_is_accepted(serve: Serve) -> None:
    server = serve()
    for header in ({"Host": "localhost:1"}, {"Host": "[::1]:8000"}, {"Origin": server.url}):
        answer = httpx.post(f"{server.url}/v1/agents/a/messages", json=BODY, headers=header)
        assert answer.status_code == 202
