"""The chat proxy: what passes, what is recorded, and what never leaves. No context worker runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from threading import Event
from typing import Any

import httpx
import openai
import pytest
from pydantic import SecretStr

from memci.access import new_key
from memci.testing import wait_until
from tests.integration.http.conftest import Serve
from tests.integration.http.proxying import DONE, assistant, chatting, event, stored, user
from tests.integration.http.serving import Served
from tests.support.model_server import (
    ModelServer,
    calls,
    closed_port,
    fails,
    model_server,
    says,
    sends,
    streams,
)

# Without workers a context is waited for in vain: these tests record alone.
ALONE = {"proxy_budget_tokens": 0}


@pytest.fixture
def upstream() -> Iterator[ModelServer]:
    with model_server() as model:
        model.rest = says("Noted.")
        yield model


@pytest.fixture
def proxy(serve: Serve, upstream: ModelServer) -> Served:
    return serve(proxy_upstream_url=upstream.url, **ALONE)


def ask(client: openai.OpenAI, *messages: dict[str, Any], **options: Any) -> Any:
    return client.chat.completions.create(model="tiny", messages=list(messages), **options)


def recorded(server: Served, count: int, agent: str = "alice") -> list[tuple[str, str | None]]:
    """What is stored, once so many messages are: a chat may be cut anywhere."""
    wait_until(lambda: len(stored(server, agent)) >= count, f"{count} messages are recorded")
    return stored(server, agent)


def test_there_is_no_proxy_unless_an_upstream_is_set(server: Served):
    answer = httpx.post(f"{server.url}/proxy/alice/v1/chat/completions", json={"messages": []})
    assert answer.status_code == 404


def test_a_chat_passes_and_is_recorded(proxy: Served, upstream: ModelServer):
    with chatting(proxy) as client:
        answer = ask(client, {"role": "system", "content": "Be kind."}, user("I live in Bern."))
    assert answer.choices[0].message.content == "Noted."
    (asked,) = upstream.asked
    assert asked.path == "/v1/chat/completions"
    assert [each["content"] for each in asked.body["messages"]] == ["Be kind.", "I live in Bern."]
    assert recorded(proxy, 2) == [("user", "I live in Bern."), ("assistant", "Noted.")]


def test_a_history_that_is_sent_again_is_stored_once(proxy: Served, upstream: ModelServer):
    upstream.script = [says("你好，小明。"), says("在南京路。"), says("不客气。")]
    turns = [user("我叫小明。"), user("书店在哪里？"), user("谢谢")]
    history: list[dict[str, Any]] = []
    with chatting(proxy) as client:
        for turn in turns:
            history.append(turn)
            answer = ask(client, *history)
            history.append(assistant(answer.choices[0].message.content))
            recorded(proxy, len(history))
        ask(client, *history[:-1])  # to have the last answer given anew
    contents = [each["content"] for each in history]
    assert [said for _, said in recorded(proxy, 7)] == [*contents, "Noted."]


def test_a_history_that_is_sent_again_at_once_keeps_what_is_known_of_its_answers(proxy: Served):
    history: list[dict[str, Any]] = []
    with chatting(proxy, default_headers={"X-Memci-Session": "fast"}) as client:
        for turn in range(12):
            history.append(user(f"Turn {turn}."))
            history.append(assistant(ask(client, *history).choices[0].message.content))
    recorded(proxy, len(history))
    with proxy.runtime.database.agent_snapshot("alice") as connection:
        rows = connection.exec_driver_sql(
            "SELECT metadata FROM message WHERE role = 'assistant' ORDER BY seq"
        )
        assert [row[0] for row in rows] == [{"chat": {"model": "tiny"}}] * 12


@pytest.mark.parametrize("kind", ["whole", "mixed", "stream", "stream without an end"])
def test_who_has_an_answer_finds_it_recorded(proxy: Served, upstream: ModelServer, kind: str):
    """What is said next comes behind it, whichever process it is said to."""
    end = b"" if kind == "stream without an end" else DONE
    pieces = [event({"content": "Not"}), event({"content": "ed."}), end]
    with chatting(proxy, default_headers={"X-Memci-Session": "quick"}) as client:
        for turn in range(6):
            streamed = kind.startswith("stream") or (kind == "mixed" and turn % 2 == 1)
            if streamed:
                upstream.script = [streams(*pieces)]
                for _ in ask(client, user(f"Turn {turn}."), stream=True):
                    pass
            else:
                ask(client, user(f"Turn {turn}."))
            assert stored(proxy)[-2:] == [("user", f"Turn {turn}."), ("assistant", "Noted.")]
    assert len(stored(proxy)) == 12


def test_what_is_too_large_to_be_recorded_is_told(proxy: Served):
    large = "x" * (proxy.runtime.settings.max_message_bytes + 1)
    with chatting(proxy) as client:
        raw = client.chat.completions.with_raw_response
        first = raw.create(model="tiny", messages=[user(large)])
        limit = proxy.runtime.settings.max_message_bytes
        assert first.headers["x-memci-memory"] == (
            f"on; not recorded: 1 message of more than {limit} bytes"
        )
        recorded(proxy, 1)
        again = raw.create(model="tiny", messages=[user(large), assistant("Noted."), user("So?")])
        assert again.headers["x-memci-memory"].startswith("on; not recorded: 1 message")
        recorded(proxy, 3)
        other = raw.create(model="tiny", messages=[user("Else?")])
    assert other.headers["x-memci-memory"] == "on"
    said = recorded(proxy, 5)
    assert said == [
        ("assistant", "Noted."),
        ("user", "So?"),
        ("assistant", "Noted."),
        ("user", "Else?"),
        ("assistant", "Noted."),
    ]
    with proxy.runtime.database.agent_snapshot("alice") as connection:
        rows = connection.exec_driver_sql("SELECT session_id FROM message ORDER BY seq")
        sessions = [row[0] for row in rows]
    assert len({*sessions[:3]}) == 1  # by how it began, though that is not kept
    assert len({*sessions}) == 2


def test_a_history_whose_beginning_was_cut_goes_on_where_it_was(proxy: Served):
    session = {"X-Memci-Session": "tour"}
    said = [user("One."), assistant("Noted."), user("Two."), assistant("Noted.")]
    with chatting(proxy, default_headers=session) as client:
        ask(client, said[0])
        recorded(proxy, 2)
        ask(client, *said[:3])
        recorded(proxy, 4)
        ask(client, *said[2:], user("Three."))
    texts = [text for _, text in recorded(proxy, 6)]
    assert texts == ["One.", "Noted.", "Two.", "Noted.", "Three.", "Noted."]


def test_what_is_said_twice_is_stored_twice(proxy: Served):
    with chatting(proxy, default_headers={"X-Memci-Session": "s"}) as client:
        for count in (2, 4):
            ask(client, user("Again."))
            recorded(proxy, count)
    assert [text for _, text in stored(proxy)] == ["Again.", "Noted."] * 2


def test_what_was_edited_is_recorded_as_it_is_now(proxy: Served):
    with chatting(proxy) as client:
        ask(client, user("Hello."))
        recorded(proxy, 2)
        begun = [user("Hello."), assistant("Noted.")]
        ask(client, *begun, user("I like tea."))
        recorded(proxy, 4)
        ask(client, *begun, user("I like coffee."))
    texts = [text for _, text in recorded(proxy, 6)]
    assert texts[-2:] == ["I like coffee.", "Noted."]
    assert len(texts) == 6


def test_a_request_that_failed_and_is_sent_again_is_stored_once(
    proxy: Served, upstream: ModelServer
):
    upstream.script = [fails(500)]
    with chatting(proxy) as client:
        with pytest.raises(openai.InternalServerError):
            ask(client, user("Hello?"))
        ask(client, user("Hello?"))
    assert recorded(proxy, 2) == [("user", "Hello?"), ("assistant", "Noted.")]


def test_a_conversation_is_a_session(proxy: Served):
    with chatting(proxy) as client:
        ask(client, user("About gardens."))
        ask(client, user("About ships."))
        ask(client, user("About planes."), user="pilot")
        ask(client, user("关于火车。"), extra_headers={"X-Memci-Session": "火车".encode()})
    recorded(proxy, 8)
    with proxy.runtime.database.agent_snapshot("alice") as connection:
        rows = connection.exec_driver_sql("SELECT session_id FROM message WHERE role = 'user'")
        sessions = [row[0] for row in rows]
    assert len(set(sessions)) == 4
    assert {"pilot", "火车"} < set(sessions)


def test_a_stream_passes_byte_for_byte_as_it_comes(proxy: Served, upstream: ModelServer):
    """The upstream goes on only when the client has its first piece."""
    seen = Event()
    pieces = [
        b": a comment\n\n" + event({"role": "assistant", "content": "In"}),
        event({"content": " Bern"})[:20],
        event({"content": " Bern"})[20:] + event({"content": "，瑞士。"}),
        event({}, finish="stop") + DONE,
    ]
    upstream.script = [streams(*pieces, after=seen)]
    body = {"model": "tiny", "stream": True, "messages": [user("Where?")]}
    url = f"{proxy.url}/proxy/alice/v1/chat/completions"
    got = b""
    with httpx.stream("POST", url, json=body, timeout=20) as answer:
        for chunk in answer.iter_raw():
            got += chunk
            seen.set()
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


def test_tool_calls_are_recorded_as_such(proxy: Served, upstream: ModelServer):
    upstream.script = [calls("weather", city="Bern"), says("Sunny.")]
    tools = [{"type": "function", "function": {"name": "weather", "parameters": {}}}]
    with chatting(proxy) as client:
        called = ask(client, user("Weather?"), tools=tools).choices[0].message
        answered = {"role": "tool", "tool_call_id": "call_1", "content": "sun"}
        ask(client, user("Weather?"), called.to_dict(), answered, tools=tools)
    said = recorded(proxy, 4)
    assert said == [("user", "Weather?"), ("assistant", None), ("tool", "sun"),
                    ("assistant", "Sunny.")]  # fmt: skip
    with proxy.runtime.database.agent_snapshot("alice") as connection:
        row = connection.exec_driver_sql("SELECT tool_calls FROM message WHERE seq = 2").one()
    assert row[0][0]["function"] == {"name": "weather", "arguments": '{"city": "Bern"}'}


def test_streamed_tool_calls_are_put_together(proxy: Served, upstream: ModelServer):
    begun = {"index": 0, "id": "c1", "type": "function"}
    upstream.script = [
        streams(
            event({"tool_calls": [{**begun, "function": {"name": "find", "arguments": ""}}]}),
            event({"tool_calls": [{"index": 0, "function": {"arguments": '{"q": '}}]}),
            event({"tool_calls": [{"index": 0, "function": {"arguments": '"tea"}'}}]}),
            DONE,
        )
    ]
    with chatting(proxy) as client, ask(client, user("Find tea."), stream=True) as stream:
        list(stream)
    recorded(proxy, 2)
    with proxy.runtime.database.agent_snapshot("alice") as connection:
        row = connection.exec_driver_sql("SELECT tool_calls FROM message WHERE seq = 2").one()
    assert row[0][0]["function"] == {"name": "find", "arguments": '{"q": "tea"}'}


def test_of_other_content_the_text_is_recorded(proxy: Served, upstream: ModelServer):
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    message = {"role": "user", "content": [{"type": "text", "text": "My cat."}, image]}
    with chatting(proxy) as client:
        ask(client, message)
    assert upstream.asked[0].body["messages"] == [message]
    assert recorded(proxy, 2)[0] == ("user", "My cat.\n[image]")


def test_errors_of_the_upstream_pass(proxy: Served, upstream: ModelServer):
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


def test_what_only_the_upstream_understands_is_passed_on(proxy: Served, upstream: ModelServer):
    upstream.script = [fails(400)]
    url = f"{proxy.url}/proxy/alice/v1/chat/completions"
    answer = httpx.post(url, json={"prompt": "Hello?"})
    assert answer.status_code == 400
    assert upstream.asked[0].body == {"prompt": "Hello?"}
    assert "x-memci-memory" not in answer.headers


def test_an_upstream_that_is_away_is_told_of(serve: Serve):
    proxy = serve(proxy_upstream_url=f"http://127.0.0.1:{closed_port()}/v1", **ALONE)
    with chatting(proxy) as client, pytest.raises(openai.InternalServerError) as raised:
        ask(client, user("Hello?"))
    assert raised.value.status_code == 503
    assert "MEMCI_PROXY_UPSTREAM_URL" in str(raised.value)


def test_a_client_that_goes_stops_the_upstream(proxy: Served, upstream: ModelServer):
    """What was said until then is recorded, and marked as cut."""
    stopped = Event()

    def talks(handler: Any, _: Any) -> None:
        handler.begin(200, {"content-type": "text/event-stream"})
        handler.wfile.write(event({"content": "Once upon"}))
        try:
            while not handler.model.stopping.wait(0.01):
                handler.wfile.write(b": still there\n\n")
        except OSError:
            stopped.set()

    upstream.script = [talks]
    with chatting(proxy) as client:
        stream = ask(client, user("A story!"), stream=True)
        next(iter(stream))
        stream.close()
    assert stopped.wait(10)
    assert recorded(proxy, 2)[-1] == ("assistant", "Once upon")
    with proxy.runtime.database.agent_snapshot("alice") as connection:
        row = connection.exec_driver_sql("SELECT metadata FROM message WHERE seq = 2").one()
    assert row[0] == {"chat": {"model": "tiny", "cut": True}}


def test_an_answer_that_is_cut_is_not_taken_for_the_whole(proxy: Served, upstream: ModelServer):
    def breaks(handler: Any, _: Any) -> None:
        handler.begin(200, {"content-type": "text/event-stream", "transfer-encoding": "chunked"})
        piece = event({"content": "Half"})
        handler.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))
        handler.wfile.flush()
        handler.reset()

    upstream.script = [breaks]
    with chatting(proxy) as client, pytest.raises((openai.APIError, httpx.TransportError)):
        list(ask(client, user("Tell me."), stream=True))
    assert recorded(proxy, 2)[-1] == ("assistant", "Half")


@pytest.mark.parametrize("name", ["../files", "a/../../files", "%2e%2e/files", "a//b"])
def test_no_name_of_a_model_leads_elsewhere(proxy: Served, upstream: ModelServer, name: str):
    target = f"/proxy/alice/v1/models/{name}".encode()
    with httpx.Client(base_url=proxy.url) as http:
        request = http.build_request("GET", "/")
        request.url = request.url.copy_with(raw_path=target)
        answer = http.send(request)
    assert answer.status_code == 404
    assert upstream.asked == []


def test_models_are_passed_on(proxy: Served, upstream: ModelServer):
    upstream.script = [sends(b'{"object": "list", "data": []}'), sends(b'{"id": "tiny"}')]
    with chatting(proxy) as client:
        assert client.models.list().data == []
        assert client.models.retrieve("tiny").id == "tiny"
    assert [each.path for each in upstream.asked] == ["/v1/models", "/v1/models/tiny"]


def test_headers_that_are_nobody_elses_stay(proxy: Served, upstream: ModelServer):
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
    headers = upstream.asked[0].headers
    assert headers["authorization"] == "Bearer upstream-key"
    assert headers["openai-organization"] == "org"
    assert not {"cookie", "x-memci-session", "x-forwarded-for", "x-hop"} & headers.keys()
    assert answer.headers["x-request-id"] == "7"
    assert answer.headers["x-memci-memory"] == "on"
    assert "set-cookie" not in answer.headers


def test_keys_go_where_they_belong(
    serve: Serve, upstream: ModelServer, logged: Callable[[], list[dict[str, Any]]]
):
    """A server with an upstream's key: clients send memci's, and neither key gets elsewhere."""
    key, entry = new_key("client", agents="alice", scope="write")
    server_key = "sk-of-the-server"
    proxy = serve(
        proxy_upstream_url=upstream.url,
        proxy_upstream_key=SecretStr(server_key),
        api_keys=(entry,),
        **ALONE,
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
    assert {each.headers["authorization"] for each in upstream.asked} == {f"Bearer {server_key}"}
    assert key not in str([each.headers for each in upstream.asked])
    for other in ({"api_key": "wrong"}, {"api_key": key, "agent": "bob"}):
        with chatting(proxy, **other) as client, pytest.raises(openai.APIStatusError) as raised:
            ask(client, user("Hi."))
        assert raised.value.status_code in {401, 403}
    assert len(upstream.asked) == 2
    assert server_key not in str(logged())
    assert key not in str(logged())


def test_without_an_upstreams_key_clients_send_both(serve: Serve, upstream: ModelServer):
    key, entry = new_key("client", scope="write")
    proxy = serve(proxy_upstream_url=upstream.url, api_keys=(entry,), **ALONE)
    with chatting(proxy, default_headers={"X-Memci-Key": key}) as client:
        ask(client, user("Hi."))
    assert upstream.asked[0].headers["authorization"] == "Bearer upstream-key"
    assert "x-memci-key" not in upstream.asked[0].headers
    with (
        chatting(proxy, api_key=key) as client,
        pytest.raises(openai.AuthenticationError) as raised,
    ):
        ask(client, user("Hi."))
    assert "X-Memci-Key" in str(raised.value)
    assert len(upstream.asked) == 1


def test_headers_that_cannot_be_followed_are_refused(proxy: Served, upstream: ModelServer):
    for name, value in {"X-Memci-Session": "x" * 257, "X-Memci-Budget-Tokens": "many"}.items():
        with chatting(proxy) as client, pytest.raises(openai.UnprocessableEntityError) as raised:
            ask(client, user("Hi."), extra_headers={name: value})
        assert raised.value.response.json()["field"] == name.lower()
    assert upstream.asked == []


def test_a_body_over_the_limit_is_refused(serve: Serve, upstream: ModelServer):
    proxy = serve(proxy_upstream_url=upstream.url, max_request_bytes=2_000, **ALONE)
    with chatting(proxy) as client, pytest.raises(openai.APIStatusError) as raised:
        ask(client, user("x" * 3_000))
    assert raised.value.status_code == 413
    assert upstream.asked == []


def test_a_chat_goes_on_without_memory(serve: Serve, upstream: ModelServer):
    """No context worker answers: the chat is recorded, and goes on as the client sent it."""
    proxy = serve(proxy_upstream_url=upstream.url)
    with chatting(proxy) as client:
        answer = client.chat.completions.with_raw_response.create(
            model="tiny", messages=[{"role": "user", "content": "Hi."}]
        )
    assert answer.parse().choices[0].message.content == "Noted."
    assert answer.headers["x-memci-memory"].startswith("off; No context worker answered in time")
    assert upstream.asked[0].body["messages"] == [user("Hi.")]
    assert recorded(proxy, 2) == [("user", "Hi."), ("assistant", "Noted.")]


def test_a_memory_that_does_not_answer_in_time_is_not_waited_for(
    serve: Serve, upstream: ModelServer
):
    proxy = serve(
        proxy_upstream_url=upstream.url, proxy_memory_timeout_ms=50, read_timeout_ms=5_000
    )
    with chatting(proxy) as client:
        answer = client.chat.completions.with_raw_response.create(
            model="tiny", messages=[{"role": "user", "content": "Hi."}]
        )
    assert answer.headers["x-memci-memory"] == "off; no answer in time"
