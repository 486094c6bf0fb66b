"""The chat proxy records each message once and in order. No context worker runs."""

from __future__ import annotations

from threading import Event
from typing import Any

import httpx
import openai
import pytest

from tests.integration.http.proxying import (
    DONE,
    ask,
    assistant,
    chatting,
    event,
    recorded,
    stored,
    user,
)
from tests.integration.http.serving import Served
from tests.support.model_server import ModelServer, calls, fails, says, streams


def test_a_chat_is_passed_on_and_recorded(proxy: Served, upstream: ModelServer):
    with chatting(proxy) as client:
        answer = ask(client, {"role": "system", "content": "Be kind."}, user("I live in Bern."))
    assert answer.choices[0].message.content == "Noted."
    (asked,) = upstream.requests
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
        ask(client, *history[:-1])  # asks for the last answer again
    contents = [each["content"] for each in history]
    assert [content for _, content in recorded(proxy, 7)] == [*contents, "Noted."]


def test_a_history_that_is_sent_again_at_once_keeps_its_metadata(proxy: Served):
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
def test_answers_are_recorded_at_once(proxy: Served, upstream: ModelServer, kind: str):
    """The next message is stored after the answer, in any server process."""
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


def test_messages_too_large_to_record_are_reported(proxy: Served):
    large = "x" * (proxy.runtime.settings.append_limits.message_bytes + 1)
    with chatting(proxy) as client:
        raw = client.chat.completions.with_raw_response
        first = raw.create(model="tiny", messages=[user(large)])
        limit = proxy.runtime.settings.append_limits.message_bytes
        assert first.headers["x-memci-memory"] == (
            f"on; not recorded: 1 message of more than {limit} bytes"
        )
        recorded(proxy, 1)
        again = raw.create(model="tiny", messages=[user(large), assistant("Noted."), user("So?")])
        assert again.headers["x-memci-memory"].startswith("on; not recorded: 1 message")
        recorded(proxy, 3)
        other = raw.create(model="tiny", messages=[user("Else?")])
    assert other.headers["x-memci-memory"] == "on"
    messages = recorded(proxy, 5)
    assert messages == [
        ("assistant", "Noted."),
        ("user", "So?"),
        ("assistant", "Noted."),
        ("user", "Else?"),
        ("assistant", "Noted."),
    ]
    with proxy.runtime.database.agent_snapshot("alice") as connection:
        rows = connection.exec_driver_sql("SELECT session_id FROM message ORDER BY seq")
        sessions = [row[0] for row in rows]
    assert len({*sessions[:3]}) == 1  # by its first message, although that is not stored
    assert len({*sessions}) == 2


def test_a_history_without_its_beginning_is_continued(proxy: Served):
    session = {"X-Memci-Session": "tour"}
    history = [user("One."), assistant("Noted."), user("Two."), assistant("Noted.")]
    with chatting(proxy, default_headers=session) as client:
        ask(client, history[0])
        recorded(proxy, 2)
        ask(client, *history[:3])
        recorded(proxy, 4)
        ask(client, *history[2:], user("Three."))
    texts = [text for _, text in recorded(proxy, 6)]
    assert texts == ["One.", "Noted.", "Two.", "Noted.", "Three.", "Noted."]


def test_a_message_that_is_said_twice_is_stored_twice(proxy: Served):
    with chatting(proxy, default_headers={"X-Memci-Session": "s"}) as client:
        for count in (2, 4):
            ask(client, user("Again."))
            recorded(proxy, count)
    assert [text for _, text in stored(proxy)] == ["Again.", "Noted."] * 2


def test_an_edited_message_is_recorded_as_a_new_one(proxy: Served):
    with chatting(proxy) as client:
        ask(client, user("Hello."))
        recorded(proxy, 2)
        history = [user("Hello."), assistant("Noted.")]
        ask(client, *history, user("I like tea."))
        recorded(proxy, 4)
        ask(client, *history, user("I like coffee."))
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


def test_tool_calls_are_recorded_as_such(proxy: Served, upstream: ModelServer):
    upstream.script = [calls("weather", city="Bern"), says("Sunny.")]
    tools = [{"type": "function", "function": {"name": "weather", "parameters": {}}}]
    with chatting(proxy) as client:
        called = ask(client, user("Weather?"), tools=tools).choices[0].message
        answered = {"role": "tool", "tool_call_id": "call_1", "content": "sun"}
        ask(client, user("Weather?"), called.to_dict(), answered, tools=tools)
    messages = recorded(proxy, 4)
    assert messages == [("user", "Weather?"), ("assistant", None), ("tool", "sun"),
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


def test_the_text_of_other_content_is_recorded(proxy: Served, upstream: ModelServer):
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    message = {"role": "user", "content": [{"type": "text", "text": "My cat."}, image]}
    with chatting(proxy) as client:
        ask(client, message)
    assert upstream.requests[0].body["messages"] == [message]
    assert recorded(proxy, 2)[0] == ("user", "My cat.\n[image]")


def test_a_client_that_disconnects_stops_the_upstream(proxy: Served, upstream: ModelServer):
    """The answer until then is recorded and marked as cut."""
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


def test_a_cut_answer_is_an_error_for_the_client(proxy: Served, upstream: ModelServer):
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
