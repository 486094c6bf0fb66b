"""The chat proxy: what it passes on and what it keeps back. No context worker runs."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event
from typing import Any

import httpx
import openai
import pytest
from pydantic import SecretStr

from memci.api_keys import new_key
from memci.http.proxy import memory
from tests.integration.http.conftest import RECORD_ONLY, Serve
from tests.integration.http.proxying import DONE, ask, chatting, event, recorded, stored, user
from tests.integration.http.serving import Served
from tests.support.model_server import ModelServer, closed_port, fails, says, sends, streams


def test_there_is_no_proxy_unless_an_upstream_is_set(server: Served):
    answer = httpx.post(f"{server.url}/proxy/alice/v1/chat/completions", json={"messages": []})
    assert answer.status_code == 404
    assert "MEMCI_PROXY_UPSTREAM_URL" in answer.json()["detail"]


def test_a_stream_is_passed_on_byte_for_byte_at_once(proxy: Served, upstream: ModelServer):
    """The upstream continues only after the client has the first piece."""
    received = Event()
    pieces = [
        b": a comment\n\n" + event({"role": "assistant", "content": "In"}),
        event({"content": " Bern"})[:20],
        event({"content": " Bern"})[20:] + event({"content": "，瑞士。"}),
        event({}, finish="stop") + DONE,
    ]
    upstream.script = [streams(*pieces, after=received)]
    body = {"model": "tiny", "stream": True, "messages": [user("Where?")]}
    url = f"{proxy.url}/proxy/alice/v1/chat/completions"
    got = b""
    with httpx.stream("POST", url, json=body, timeout=20) as answer:
        for chunk in answer.iter_raw():
            got += chunk
            received.set()
    assert got == b"".join(pieces)
    assert answer.headers["content-type"] == "text/event-stream"
    assert answer.headers["x-memci-memory"] == "on"
    assert recorded(proxy, 2)[-1] == ("assistant", "In Bern，瑞士。")


def test_a_stream_is_read_by_the_client_library(proxy: Served, upstream: ModelServer):
    texts = ["Yes", ", ", "do."]
    upstream.script = [streams(*(event({"content": each}) for each in texts), DONE)]
    with chatting(proxy) as client, ask(client, user("May I?"), stream=True) as stream:
        assert [each.choices[0].delta.content for each in stream] == texts
    assert recorded(proxy, 2)[-1] == ("assistant", "Yes, do.")


def test_errors_of_the_upstream_are_passed_on(proxy: Served, upstream: ModelServer):
    upstream.script = [fails(429, code="slow", retry_after="3"), sends(b"no JSON")]
    with chatting(proxy) as client:
        with pytest.raises(openai.RateLimitError) as raised:
            ask(client, user("Hello?"))
        assert raised.value.code == "slow"
        assert raised.value.response.headers["retry-after"] == "3"
    url = f"{proxy.url}/proxy/alice/v1/chat/completions"
    answer = httpx.post(url, json={"messages": [user("Hello?")]})
    assert (answer.status_code, answer.content) == (200, b"no JSON")
    assert stored(proxy) == [("user", "Hello?")]


@pytest.mark.parametrize("body", [{"prompt": "Hello?"}, {"messages": []}], ids=str)
def test_bodies_without_messages_are_passed_on(
    proxy: Served, upstream: ModelServer, body: dict[str, Any]
):
    upstream.script = [fails(400)]
    answer = httpx.post(f"{proxy.url}/proxy/alice/v1/chat/completions", json=body)
    assert answer.status_code == 400
    assert upstream.requests[0].body == body
    assert "x-memci-memory" not in answer.headers


def test_an_unreachable_upstream_is_reported(serve: Serve):
    proxy = serve(proxy_upstream_url=f"http://127.0.0.1:{closed_port()}/v1", **RECORD_ONLY)
    with chatting(proxy) as client, pytest.raises(openai.InternalServerError) as raised:
        ask(client, user("Hello?"))
    assert raised.value.status_code == 503
    assert "MEMCI_PROXY_UPSTREAM_URL" in str(raised.value)


@pytest.mark.parametrize("name", ["../files", "a/../../files", "%2e%2e/files", "a//b"])
def test_a_model_name_cannot_reach_another_path(proxy: Served, upstream: ModelServer, name: str):
    target = f"/proxy/alice/v1/models/{name}".encode()
    with httpx.Client(base_url=proxy.url) as http:
        request = http.build_request("GET", "/")
        request.url = request.url.copy_with(raw_path=target)
        answer = http.send(request)
    assert answer.status_code == 404
    assert upstream.requests == []


def test_requests_for_models_are_passed_on(proxy: Served, upstream: ModelServer):
    upstream.script = [sends(b'{"object": "list", "data": []}'), sends(b'{"id": "tiny"}')]
    with chatting(proxy) as client:
        assert client.models.list().data == []
        assert client.models.retrieve("tiny").id == "tiny"
    assert [each.path for each in upstream.requests] == ["/v1/models", "/v1/models/tiny"]


def test_private_headers_are_not_passed_on(proxy: Served, upstream: ModelServer):
    upstream.script = [
        lambda handler, _: handler.send(
            200, b"{}", {"set-cookie": "a=b", "x-memci-memory": "forged", "x-request-id": "7"}
        )
    ]
    url = f"{proxy.url}/proxy/alice/v1/chat/completions"
    mine = {
        "Authorization": "Bearer upstream-key",
        "Cookie": "secret=1",
        "X-Memci-Session": "s",
        "X-Forwarded-For": "10.0.0.1",
        "Connection": "x-hop",
        "X-Hop": "1",
        "OpenAI-Organization": "org",
    }
    answer = httpx.post(url, json={"messages": [user("Hi.")]}, headers=mine)
    headers = upstream.requests[0].headers
    assert headers["authorization"] == "Bearer upstream-key"
    assert headers["openai-organization"] == "org"
    assert not {"cookie", "x-memci-session", "x-forwarded-for", "x-hop"} & headers.keys()
    assert answer.headers["x-request-id"] == "7"
    assert answer.headers["x-memci-memory"] == "on"
    assert "set-cookie" not in answer.headers


def test_each_key_goes_only_to_its_own_server(
    serve: Serve, upstream: ModelServer, logged: Callable[[], list[dict[str, Any]]]
):
    """The server has the upstream's key; clients send memci's. Neither key goes elsewhere."""
    key, entry = new_key("client", agents="alice", scope="write")
    server_key = "sk-of-the-server"
    proxy = serve(
        proxy_upstream_url=upstream.url,
        proxy_upstream_key=SecretStr(server_key),
        api_keys=(entry,),
        **RECORD_ONLY,
    )
    wrong = f'{{"error": {{"message": "Incorrect API key provided: {server_key}"}}}}'
    upstream.script = [
        says("Noted."),
        lambda handler, _: handler.send(401, wrong.encode(), {"content-type": "application/json"}),
    ]
    with chatting(proxy, api_key=key) as client:
        ask(client, user("Hi."))
        with pytest.raises(openai.AuthenticationError) as raised:
            ask(client, user("Hi."))
    assert "key provided: ***" in str(raised.value)
    assert {each.headers["authorization"] for each in upstream.requests} == {f"Bearer {server_key}"}
    assert key not in str([each.headers for each in upstream.requests])
    for other in ({"api_key": "wrong"}, {"api_key": key, "agent": "bob"}):
        with chatting(proxy, **other) as client, pytest.raises(openai.APIStatusError) as raised:
            ask(client, user("Hi."))
        assert raised.value.status_code in {401, 403}
    assert len(upstream.requests) == 2
    assert server_key not in str(logged())
    assert key not in str(logged())


def test_without_an_upstreams_key_clients_send_both(serve: Serve, upstream: ModelServer):
    key, entry = new_key("client", scope="write")
    proxy = serve(proxy_upstream_url=upstream.url, api_keys=(entry,), **RECORD_ONLY)
    with chatting(proxy, default_headers={"X-Memci-Key": key}) as client:
        ask(client, user("Hi."))
    assert upstream.requests[0].headers["authorization"] == "Bearer upstream-key"
    assert "x-memci-key" not in upstream.requests[0].headers
    with (
        chatting(proxy, api_key=key) as client,
        pytest.raises(openai.AuthenticationError) as raised,
    ):
        ask(client, user("Hi."))
    assert "X-Memci-Key" in str(raised.value)
    assert len(upstream.requests) == 1


def test_invalid_headers_are_refused(proxy: Served, upstream: ModelServer):
    for name, value in {"X-Memci-Session": "x" * 257, "X-Memci-Budget-Tokens": "many"}.items():
        with chatting(proxy) as client, pytest.raises(openai.UnprocessableEntityError) as raised:
            ask(client, user("Hi."), extra_headers={name: value})
        assert raised.value.response.json()["field"] == name.lower()
    assert upstream.requests == []


def test_a_body_over_the_limit_is_refused(serve: Serve, upstream: ModelServer):
    proxy = serve(proxy_upstream_url=upstream.url, http_max_request_bytes=2_000, **RECORD_ONLY)
    with chatting(proxy) as client, pytest.raises(openai.APIStatusError) as raised:
        ask(client, user("x" * 3_000))
    assert raised.value.status_code == 413
    assert upstream.requests == []


def test_a_chat_is_answered_without_memory(serve: Serve, upstream: ModelServer):
    """No context worker answers: the chat is recorded and passed on unchanged."""
    proxy = serve(proxy_upstream_url=upstream.url)
    with chatting(proxy) as client:
        answer = client.chat.completions.with_raw_response.create(
            model="tiny", messages=[{"role": "user", "content": "Hi."}]
        )
    assert answer.parse().choices[0].message.content == "Noted."
    assert answer.headers["x-memci-memory"].startswith("off; No context worker answered in time")
    assert upstream.requests[0].body["messages"] == [user("Hi.")]
    assert recorded(proxy, 2) == [("user", "Hi."), ("assistant", "Noted.")]


def test_a_chat_does_not_wait_for_a_slow_memory_and_the_log_says_so(
    serve: Serve,
    upstream: ModelServer,
    monkeypatch: pytest.MonkeyPatch,
    logged: Callable[[], list[dict[str, Any]]],
):
    monkeypatch.setattr(memory, "MEMORY_TIMEOUT_S", 0.05)
    proxy = serve(proxy_upstream_url=upstream.url, http_read_timeout_ms=5_000)
    with chatting(proxy) as client:
        answer = client.chat.completions.with_raw_response.create(
            model="tiny", messages=[{"role": "user", "content": "Hi."}]
        )
    reason = (
        "memory did not answer within 0.05 s: are there context workers, and have they started?"
    )
    assert answer.headers["x-memci-memory"] == f"off; {reason}"
    said = [each for each in logged() if each["event"] == "a chat goes on without memory"]
    assert [each["reason"] for each in said] == [reason]
