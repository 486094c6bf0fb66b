"""Bad input gets a clear problem, nothing is stored, and no input is repeated."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from tests.integration.http.serving import Served

MESSAGES = "/v1/agents/alice/messages"
SECRET = "hush-hush"
JSON = {"Content-Type": "application/json"}
# Words of pydantic's messages, which are for programmers.
JARGON = re.compile(
    r"input|tuple|dictionary|valid (string|integer|number|boolean)|validation|field required|extra"
    r"|string should|unable to",
    re.IGNORECASE,
)


def message(**fields: Any) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": SECRET, **fields}]}


def problem_of(answer: httpx.Response) -> dict[str, Any]:
    assert 400 <= answer.status_code < 500, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    problem: dict[str, Any] = answer.json()
    assert problem["status"] == answer.status_code
    assert problem["type"].startswith("urn:memci:problem:")
    assert problem["title"]
    assert problem["detail"]
    assert SECRET not in answer.text
    assert not JARGON.search(str([problem["detail"], problem.get("errors")])), answer.text
    return problem


def send_raw_path(server: Served, method: str, path: str) -> tuple[int, dict[str, Any]]:
    """Send a message to a path that httpx would normalise."""
    with closing(HTTPConnection(urlsplit(server.url).netloc)) as connection:
        connection.request(method, path, json.dumps(message()), JSON)
        answer = connection.getresponse()
        assert answer.headers["content-type"] == "application/problem+json"
        return answer.status, json.load(answer)


@pytest.fixture
def server(one_server: Served) -> Served:
    return one_server


@pytest.fixture(autouse=True)
def _nothing_is_written(server: Served) -> Iterator[None]:
    yield
    assert server.messages("alice") == []
    assert server.count("job") == 0


TIME = "expected a time: ISO 8601 such as 2026-03-02T09:15:00Z, or an epoch number"
NO_FIELD = (
    "there is no such field; there are role, content, id, name, timestamp, tool_calls, "
    "tool_call_id, metadata"
)
NO_TEXT = (
    "is not of type text, and memci keeps text only: leave it out, or describe it in a text part"
)
GOOD = {"role": "user", "content": "fine"}


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "messages"),
        ({"messages": []}, "messages"),
        ({"messages": None}, "messages"),
        ([], None),
        (None, None),
        ({"messages": [GOOD], "surprise": 1}, "surprise"),
        ({"messages": [GOOD], "remember": "perhaps"}, "remember"),
        ({"messages": [GOOD], "session_id": "a\0b"}, "session_id"),
        ({"messages": [GOOD], "session_id": ""}, "session_id"),
        ({"messages": [GOOD], "user_id": "x" * 257}, "user_id"),
        ({"messages": [GOOD, GOOD, GOOD, {"role": "robot", "content": SECRET}]},
         "messages[3].role"),
        (message(surprise=1), "messages[0].surprise"),
        (message(content="a\0b" + SECRET), "messages[0].content"),
        (message(content="\ud800" + SECRET), "messages[0].content"),
        (message(content=7), "messages[0].content"),
        (message(content=None), "messages[0]"),
        (message(name="\udfff"), "messages[0].name"),
        (message(id="x" * 257), "messages[0].id"),
        (message(role="tool"), "messages[0]"),
        (message(tool_call_id="c"), "messages[0]"),
        (message(tool_calls=[{"id": "c", "function": {"name": "f"}}]),
         "messages[0].tool_calls[0].function.arguments"),
        (message(timestamp="yesterday"), "messages[0].timestamp"),
        (message(timestamp=10**400), "messages[0].timestamp"),
        (message(timestamp=-(10**14)), "messages[0].timestamp"),
        (message(timestamp="0001-01-01T00:00:00+23:00"), "messages[0].timestamp"),
        (message(timestamp=True), "messages[0].timestamp"),
        (message(metadata={"deep": {"er": ["a\0b"]}}), "messages[0]"),
        (message(metadata={"a\0b": 1}), "messages[0]"),
        (message(metadata={"deep": ["\ud800"]}), "messages[0]"),
        (message(metadata=[]), "messages[0].metadata"),
    ],
)  # fmt: skip
def test_wrong_fields_are_named(http: httpx.Client, body: object, field: str | None) -> None:
    answer = http.post(MESSAGES, content=json.dumps(body), headers=JSON)
    assert answer.status_code == 422
    problem = problem_of(answer)
    assert problem["type"] == "urn:memci:problem:invalid-input"
    assert problem.get("field") == field


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        ({}, "messages: required, but not given"),
        ({"messages": []}, "messages: must not be empty"),
        ({"messages": 5.5}, "messages: expected a list"),
        ({"messages": [{"role": "robot", "content": "x"}]},
         "messages[0].role: expected one of: system, user, assistant, tool"),
        ({"messages": [GOOD], "remember": "perhaps"},
         "remember: expected one of: now, auto, never"),
        (message(timestamp="soon"), f"messages[0].timestamp: {TIME}"),
        (message(content=7), "messages[0].content: expected text"),
        (message(content=[{"type": "image_url", "image_url": {"url": SECRET}}]),
         f"messages[0].content: part 1 {NO_TEXT}"),
        (message(content=[{"type": "text", "text": 1}]),
         'messages[0].content: part 1: expected {"type": "text", "text": "…"}'),
        (message(content=[SECRET]),
         "messages[0].content: expected text, or a list of parts of type text"),
        (message(refusal=SECRET), f"messages[0].refusal: {NO_FIELD}"),
        (message(id=""), "messages[0].id: must not be empty"),
        (message(id="x" * 257), "messages[0].id: expected at most 256 characters"),
        (message(surprise=1), f"messages[0].surprise: {NO_FIELD}"),
        ([], "body: expected a JSON object"),
    ],
)  # fmt: skip
def test_one_error_is_reported_once_in_plain_words(
    http: httpx.Client, body: object, detail: str
) -> None:
    problem = problem_of(http.post(MESSAGES, json=body))
    assert problem["detail"] == detail
    assert len(problem["errors"]) == 1


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b'{"messages": [', 400),
        (b"", 422),
        (b"\xff\xfe{}", 400),
        (b'{"messages": [{"role": "user", "content": "\xc3\x28"}]}', 400),
        (b'{"messages": [{"role": "user", "content": "x", "metadata": {"a": NaN}}]}', 400),
        (b'{"messages": [{"role": "user", "content": "x", "metadata": {"a": -Infinity}}]}', 400),
        (b'{"messages": [{"role": "user", "content": "x", "metadata": {"a": 1e999}}]}', 400),
        (b'{"messages": [{"role": "user", "content": "x", "timestamp": 1%s}]}'
         % (b"0" * 5000), 400),
        (b'{"messages": [{"role": "user", "content": "x"}], "messages": []}', 400),
        (b'{"messages": [{"role": "user", "content": "x", "metadata": %s1%s}]}'
         % (b'{"a":' * 100, b"}" * 100), 422),
        *[(b'{"messages": [{"role": "user", "content": "x", "metadata": {"a": %s1%s}}]}'
           % (b"[" * depth, b"]" * depth), None) for depth in (200, 300, 500, 900, 1200, 5000)],
        (b"[" * 1_000_000, 400),
        (b'{"a":' * 1_000_000, 400),
    ],
)  # fmt: skip
def test_invalid_json_is_refused(http: httpx.Client, body: bytes, status: int | None) -> None:
    answer = http.post(MESSAGES, content=body, headers=JSON)
    assert answer.status_code == status or status is None
    problem_of(answer)


@pytest.mark.parametrize("content_type", ["text/plain", "application/x-www-form-urlencoded", None])
def test_a_body_must_say_that_it_is_json(http: httpx.Client, content_type: str | None) -> None:
    headers = {"Content-Type": content_type} if content_type else {}
    answer = http.post(MESSAGES, content=json.dumps(message()).encode(), headers=headers)
    assert answer.status_code == 415
    assert problem_of(answer)["type"] == "urn:memci:problem:unsupported-media-type"


@pytest.mark.parametrize(
    "agent",
    ["..", "...", "a%2F..%2Fb", "a%2fb", "a%5Cb", "a" * 129, "a%00b", "a%20b", "%E4%BD%A0", "a%ff",
     "a;b", "%2e%2e"],
)  # fmt: skip
def test_invalid_agent_ids_are_refused(server: Served, agent: str) -> None:
    for method, end in (("GET", ""), ("GET", "/nodes"), ("POST", "/messages")):
        status, problem = send_raw_path(server, method, f"/v1/agents/{agent}{end}")
        assert 400 <= status < 500
        assert problem["status"] == status
    assert server.count("lane") == 0


def test_two_dots_in_a_path_are_not_resolved(server: Served) -> None:
    status, problem = send_raw_path(server, "POST", "/v1/agents/a/../b/messages")
    assert (status, problem["type"]) == (404, "urn:memci:problem:not-found")


@pytest.mark.parametrize(
    ("path", "field"),
    [
        ("/nodes?limit=0", "limit"),
        ("/nodes?limit=99999999999999999999999", "limit"),
        ("/nodes?kind=ghost", "kind"),
        ("/nodes/9223372036854775808", "node_id"),
        ("/nodes/-1", "node_id"),
        ("/nodes/one", "node_id"),
        ("/links?node=1e3", "node"),
        ("/messages?session_id=a%00b", "session_id"),
        ("/messages?cursor=%00", "cursor"),
        ("/jobs?state=lost", "state"),
        ("/jobs/7", "job_id"),
        ("/receipts/x", "receipt_id"),
    ],
)
def test_wrong_parameters_are_named(http: httpx.Client, path: str, field: str) -> None:
    answer = http.get(f"/v1/agents/alice{path}")
    assert answer.status_code == 422
    assert problem_of(answer)["field"] == field


@pytest.mark.parametrize("cursor", ["zzz", "", "alice"])
def test_an_invalid_cursor_is_refused(http: httpx.Client, cursor: str) -> None:
    answer = http.get("/v1/agents", params={"cursor": cursor})
    assert answer.status_code == 422
    assert problem_of(answer)["field"] == "cursor"


@pytest.mark.parametrize("key", ["", "x" * 256, "a b", "a\tb", "\xe9"])
def test_invalid_idempotency_keys_are_refused(http: httpx.Client, key: str) -> None:
    headers = {"Idempotency-Key": key.encode("latin-1")}
    answer = http.post(MESSAGES, json=message(), headers=headers)
    assert answer.status_code == 422
    assert problem_of(answer)["field"] == "Idempotency-Key"


def test_a_hundred_thousand_errors_make_a_short_answer(http: httpx.Client) -> None:
    answer = http.post(MESSAGES, json={"messages": [{"role": SECRET}] * 100_000})
    assert answer.status_code == 422
    assert len(problem_of(answer)["errors"]) == 20
    assert len(answer.content) < 5_000


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        ("/recall", {"keywords": ["a\0"]}, "keywords[0]"),
        ("/recall", {"keywords": ["a"], "depth": 11}, "depth"),
        ("/recall", {"keywords": ["a"] * 65}, "keywords"),
        ("/search", {"query": ""}, "query"),
        ("/search", {"query": " \u3000\n"}, "query"),
        ("/search", {"query": SECRET, "min_seq": 2**70}, "min_seq"),
        ("/search", {"query": SECRET, "wait_ms": 30_001}, "wait_ms"),
        ("/search", {"query": SECRET, "filters": {"since": "soon"}}, "filters.since"),
        ("/search", {"query": SECRET, "filters": {"since": "0001-01-01T00:00:00+23:00"}},
         "filters.since"),
        ("/context", {"budget_tokens": 0}, "budget_tokens"),
        ("/settings", {"decay_rate": 1.5}, "decay_rate"),
        ("/settings", {"node_capacity": 2**63}, "node_capacity"),
        ("/settings", {"surprise": 1}, "surprise"),
    ],
)  # fmt: skip
def test_reads_and_settings_are_checked_before_a_worker_is_asked(
    http: httpx.Client, path: str, body: dict[str, Any], field: str
) -> None:
    method = "PUT" if path == "/settings" else "POST"
    answer = http.request(method, f"/v1/agents/alice{path}", json=body)
    assert answer.status_code == 422
    assert problem_of(answer)["field"] == field


@pytest.mark.parametrize(
    ("path", "field", "expected"),
    [
        ("/v1/agents?limits=3", "limits", "did you mean limit?"),
        ("/v1/agents/alice/network?depth=abc", "depth", "this path takes limit, pass"),
        ("/v1/agents/alice/nodes?kind=memory&typ=x", "typ", "did you mean type?"),
        ("/v1/agents/alice/focus?limit=3", "limit", "this path takes none"),
        ("/v1/agents/alice/rebuild?limit=3", "limit", "this path takes none"),
    ],
)
def test_unknown_query_parameters_are_refused(
    server: Served, path: str, field: str, expected: str
) -> None:
    with httpx.Client(base_url=server.url) as http:
        problem = problem_of(http.get(path))
    assert (problem["status"], problem["field"]) == (422, field)
    assert expected in problem["detail"]


def test_health_checks_accept_any_query_parameter(server: Served) -> None:
    with httpx.Client(base_url=server.url) as http:
        assert http.get("/healthz?from=balancer").status_code == 200
