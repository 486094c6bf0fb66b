"""A request that exceeds a limit is refused, and nothing of it is stored."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from tests.integration.http.conftest import Serve
from tests.integration.http.serving import Served

MESSAGES = "/v1/agents/alice/messages"
MIB = 1024 * 1024
JSON = {"Content-Type": "application/json"}


@pytest.fixture
def server(one_server: Served) -> Served:
    return one_server


def test_a_nine_mebibyte_body_is_refused(http: httpx.Client, server: Served) -> None:
    answer = http.post(MESSAGES, content=b" " * (9 * MIB), headers=JSON)
    _assert_too_large(answer, "at most 8388608 bytes")
    assert server.messages("alice") == []


def test_a_large_body_without_a_length_is_refused(http: httpx.Client) -> None:
    sent = 0

    def chunks() -> Iterator[bytes]:
        nonlocal sent
        for _ in range(9 * 16):
            sent += 1
            yield b" " * (MIB // 16)

    _assert_too_large(http.post(MESSAGES, content=chunks(), headers=JSON), "at most 8388608 bytes")
    assert sent > 8 * 16


def test_the_connection_is_usable_after_a_large_body(http: httpx.Client) -> None:
    http.post(MESSAGES, content=b" " * (9 * MIB), headers=JSON)
    assert http.get("/healthz").status_code == 200


def test_a_two_mebibyte_message_is_refused_and_named(http: httpx.Client, server: Served) -> None:
    texts = ["fine", "x" * 2 * MIB]
    answer = http.post(MESSAGES, json={"messages": [{"role": "user", "content": c} for c in texts]})
    _assert_too_large(answer, "at most 1048576 bytes")
    assert answer.json()["field"] == "messages[1]"
    assert server.messages("alice") == []


def test_more_than_five_hundred_messages_are_refused(http: httpx.Client, server: Served) -> None:
    answer = http.post(MESSAGES, json={"messages": [{"role": "user", "content": "x"}] * 501})
    _assert_too_large(answer, "at most 500 messages")
    assert server.messages("alice") == []


def test_requests_just_within_the_limits_are_accepted(serve: Serve) -> None:
    server = serve()
    with httpx.Client(base_url=server.url, timeout=20) as http:
        no_space = {"messages": [{"role": "user", "content": "语" * 300_000}]}
        assert http.post(MESSAGES, json=no_space).status_code == 202
        many = {"messages": [{"role": "user", "content": "x"}] * 500}
        assert http.post(MESSAGES, json=many).status_code == 202
    assert len(server.messages("alice")) == 501


def test_the_size_of_a_request_is_a_setting(serve: Serve) -> None:
    server = serve(http_max_request_bytes=2048)
    with httpx.Client(base_url=server.url) as http:
        message = {"role": "user", "content": "x"}
        long = {"messages": [message | {"content": "x" * 2048}]}
        _assert_too_large(http.post(MESSAGES, json=long), "at most 2048 bytes")


def _assert_too_large(answer: httpx.Response, expected: str) -> None:
    assert answer.status_code == 413
    assert answer.headers["content-type"] == "application/problem+json"
    problem = answer.json()
    assert problem["type"] == "urn:memci:problem:too-large"
    assert expected in problem["detail"]
