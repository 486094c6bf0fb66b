"""Limits: all are settings, and nothing over them is read to its end or kept."""

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


def test_so_is_one_that_does_not_say_how_long_it_is(http: httpx.Client) -> None:
    sent = 0

    def chunks() -> Iterator[bytes]:
        nonlocal sent
        for _ in range(9 * 16):
            sent += 1
            yield b" " * (MIB // 16)

    _assert_too_large(http.post(MESSAGES, content=chunks(), headers=JSON), "at most 8388608 bytes")
    assert sent > 8 * 16


def test_the_connection_goes_on_after_it(http: httpx.Client) -> None:
    http.post(MESSAGES, content=b" " * (9 * MIB), headers=JSON)
    assert http.get("/healthz").status_code == 200


def test_a_two_mebibyte_message_is_refused_by_name(http: httpx.Client, server: Served) -> None:
    said = ["fine", "x" * 2 * MIB]
    answer = http.post(MESSAGES, json={"messages": [{"role": "user", "content": c} for c in said]})
    _assert_too_large(answer, "at most 1048576 bytes")
    assert answer.json()["field"] == "messages[1]"
    assert server.messages("alice") == []


def test_more_than_five_hundred_messages_are_refused(http: httpx.Client, server: Served) -> None:
    answer = http.post(MESSAGES, json={"messages": [{"role": "user", "content": "x"}] * 501})
    _assert_too_large(answer, "at most 500 messages")
    assert server.messages("alice") == []


def test_what_is_just_within_the_limits_is_taken(serve: Serve) -> None:
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
