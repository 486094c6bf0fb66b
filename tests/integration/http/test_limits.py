"""A request that exceeds a limit is refused, and nothing of it is stored."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing, suppress
from http.client import HTTPConnection
from socket import create_connection
from urllib.parse import urlsplit

import httpx
import pytest

from memci.http import protocol
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


def test_a_client_that_closes_after_each_request_reads_why_its_body_is_refused(
    server: Served,
) -> None:
    headers = JSON | {"Connection": "close"}
    with closing(HTTPConnection(urlsplit(server.url).netloc, timeout=20)) as connection:
        connection.request("POST", MESSAGES, b" " * (64 * MIB), headers)
        answer = connection.getresponse()
        assert answer.status == 413
        assert "send several requests" in json.load(answer)["detail"]


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


def _sent(server: Served, *parts: bytes) -> bytes:
    """Send parts of a request, and return the answer until the server closes the connection."""
    address = urlsplit(server.url)
    with create_connection((address.hostname, address.port), timeout=10) as connection:
        with suppress(ConnectionError):  # the server has closed it already
            for part in parts:
                connection.sendall(part)
        answer = b""
        with suppress(ConnectionError):
            while received := connection.recv(65536):
                answer += received
        return answer


_START = b"GET /healthz HTTP/1.1\r\nhost: x\r\n"


@pytest.mark.parametrize(
    "head",
    [
        pytest.param([b"a: " + b"x" * 70_000 + b"\r\n\r\n"], id="one header"),
        pytest.param([b"a%d: b\r\n" % number for number in range(20_000)], id="many headers"),
        pytest.param([b"a: ", *[b"x" * 4096] * 64], id="a header without an end"),
    ],
)
def test_a_large_head_is_refused(server: Served, http: httpx.Client, head: list[bytes]) -> None:
    answer = _sent(server, _START, *head)
    # The kernel may drop an answer to a client that still sends.
    assert answer == b"" or answer.startswith(b"HTTP/1.1 431 ")
    assert http.get("/healthz").status_code == 200


def test_a_large_path_is_refused(server: Served) -> None:
    answer = _sent(server, b"GET /" + b"x" * 70_000 + b" HTTP/1.1\r\nhost: x\r\n\r\n")
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 431 ")
    assert json.loads(body)["type"] == "urn:memci:problem:headers-too-large"


@pytest.mark.parametrize(
    "start",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(_START, id="a part of a head"),
        pytest.param(
            f"POST {MESSAGES} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"
            "content-length: 100\r\n\r\n{".encode(),
            id="a part of a body",
        ),
    ],
)
def test_an_unfinished_request_ends(
    server: Served, monkeypatch: pytest.MonkeyPatch, start: bytes
) -> None:
    monkeypatch.setattr(protocol, "HEAD_S", 0.2)
    monkeypatch.setattr(protocol, "BODY_S", 0.2)
    head, _, body = _sent(server, start).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 408 ")
    assert json.loads(body)["status"] == 408


def test_a_slow_answer_is_no_slow_request(
    server: Served, http: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protocol, "HEAD_S", 0.2)
    monkeypatch.setattr(protocol, "BODY_S", 0.2)
    # No worker runs, so the server waits 300 ms for one.
    answer = http.post("/v1/agents/alice/search", json={"query": "x"})
    assert answer.status_code == 503
