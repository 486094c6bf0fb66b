"""Parts of the chat proxy: reading answers, storing messages, adding notes, passing headers."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from memci.http.proxy.chat_messages import ChatRequest, parse_messages
from memci.http.proxy.memory import notes_of
from memci.http.proxy.relay import AnswerReader
from memci.http.proxy.upstream import Keys, headers_for_client, headers_for_upstream, keys_in

MOST = 10_000


def chunk(delta: dict[str, Any], index: int = 0) -> bytes:
    body = {"model": "m", "choices": [{"index": index, "delta": delta}]}
    return b"data: " + json.dumps(body).encode() + b"\r\n\r\n"


STREAM = (
    b": comment\n\n"
    + chunk({"role": "assistant", "content": "Hé"})
    + chunk({"content": "other choice"}, index=1)
    + chunk({"content": "llo 世界"})
    + chunk({"tool_calls": [{"index": 1, "id": "b", "function": {"name": "g"}}]})
    + chunk({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "f"}}]})
    + chunk({"tool_calls": [{"index": 0, "function": {"arguments": '{"x": 1}'}}]})
    + b"data: not json\n\ndata: [1]\n\ndata: [DONE]\n\n"
)


@given(st.lists(st.integers(1, len(STREAM) - 1), max_size=20))
def test_a_stream_is_read_wherever_it_is_split(cuts: list[int]):
    answer = AnswerReader(streamed=True, max_bytes=MOST)
    places = [0, *sorted(cuts), len(STREAM)]
    for begin, end in pairwise(places):
        answer.feed(STREAM[begin:end])
    message = answer.message()
    assert message is not None
    assert message["content"] == "Héllo 世界"
    assert [each["function"]["name"] for each in message["tool_calls"]] == ["f", "g"]
    assert answer.model == "m"


def test_an_incomplete_tool_call_is_dropped():
    answer = AnswerReader(streamed=True, max_bytes=MOST)
    call = {"index": 0, "id": "a", "function": {"name": "f", "arguments": '{"x": '}}
    answer.feed(chunk({"content": "Well"}) + chunk({"tool_calls": [call]}))
    assert answer.message() == {"role": "assistant", "content": "Well"}


def test_a_missing_or_too_long_answer_is_no_message():
    for body in (b"", b"no JSON", b"[]", b'{"choices": 7}', b'{"choices": [{"message": {}}]}'):
        answer = AnswerReader(streamed=False, max_bytes=MOST)
        answer.feed(body)
        assert answer.message() is None
    answer = AnswerReader(streamed=False, max_bytes=3)
    answer.feed(b'{"choices": [{"message": {"content": "x"}}]}')
    assert answer.message() is None


def test_a_refusal_is_the_content_of_the_message():
    answer = AnswerReader(streamed=False, max_bytes=MOST)
    answer.feed(b'{"choices": [{"message": {"content": null, "refusal": "No."}}]}')
    message = answer.message()
    assert message is not None
    (kept,) = parse_messages([message], max_bytes=MOST).messages
    assert kept.content == "No."


def test_messages_are_kept_as_far_as_possible():
    messages: list[Any] = [
        {"role": "system", "content": "Be kind."},
        {"role": "developer", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "See"}, {"type": "input_audio"}]},
        {"role": "user", "content": "nul \x00 and half \ud800"},
        {"role": "user", "content": None},
        {"role": "tool", "tool_call_id": "c", "content": ""},
        {"role": "function", "name": "old", "content": "x"},
        {"role": "user", "content": "x" * 200},
        {"role": "assistant", "tool_calls": [{"id": "c", "custom": {"name": "f", "input": "i"}}]},
        {"role": "assistant", "tool_calls": ["what?"]},
        "what?",
    ]
    found = parse_messages(messages, max_bytes=150)
    kept = found.messages
    assert found.first_text == "See\n[audio]"
    assert found.left_out == ("1 message of more than 150 bytes and 3 messages of unknown form")
    assert [each.content for each in kept] == [
        "See\n[audio]",
        "nul \ufffd and half \ufffd",
        " ",
        None,
    ]
    assert kept[-1].tool_calls[0]["function"] == {"name": "f", "arguments": "i"}


def test_notes_are_one_system_message_and_the_turns():
    system = [
        {"role": "system", "content": "- pinned\n"},
        {"role": "system", "content": "\nNotes."},
    ]
    turns = [{"role": "user", "content": "one"}, {"role": "assistant", "content": "two"}]
    query = {"role": "user", "content": "asked"}
    noted = {"role": "system", "content": "- pinned\n\nNotes."}
    assert notes_of([*system, *turns, query], ends_with_query=True) == [noted, *turns]
    assert notes_of([*turns, query], ends_with_query=True) == turns
    assert notes_of(system, ends_with_query=False) == [noted]


def test_system_messages_are_joined_before_the_turns():
    """Many models refuse system messages between turns."""
    days = {"role": "system", "content": "When the turns below were said:\n- 9 November: one\n"}
    rule = {"role": "system", "content": "Speak French.\n"}
    said = [{"role": "user", "content": "one"}, {"role": "assistant", "content": "two"}]
    query = {"role": "user", "content": "asked"}
    text = "When the turns below were said:\n- 9 November: one\n\nSpeak French."
    noted = {"role": "system", "content": text}
    assert notes_of([days, said[0], rule, said[1], query], ends_with_query=True) == [noted, *said]
    assert notes_of([said[0], rule, said[1]], ends_with_query=False) == [
        {"role": "system", "content": "Speak French."}, *said
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("own", "role"),
    [((), "system"), (("system",), "system"), (("system", "developer"), "developer")],
)  # fmt: skip
def test_notes_follow_the_clients_own_system_messages(own: tuple[str, ...], role: str):
    mine = [{"role": each, "content": "mine"} for each in own]
    asked = {"role": "user", "content": "?"}
    body = {"model": "m", "messages": [*mine, asked], "stream": True}
    notes = [{"role": "system", "content": "note"}, {"role": "user", "content": "recent"}]
    made = ChatRequest("a", body, (), "s", None, 1).with_notes(notes)
    assert made["messages"] == [*mine, {"role": role, "content": "note"}, notes[1], asked]
    assert (made["model"], made["stream"], len(body["messages"])) == ("m", True, len(own) + 1)


SERVER = SecretStr("sk-server")


@pytest.mark.parametrize(
    ("headers", "key", "expected"),
    [
        ({"authorization": "Bearer k"}, None, Keys(None, "Bearer k")),
        ({"authorization": "Bearer memci_k"}, None, Keys(None, None)),
        ({"authorization": "Bearer k", "x-memci-key": "k"}, None, Keys("Bearer k", None)),
        ({"authorization": "Bearer u", "x-memci-key": "k"}, None, Keys("Bearer k", "Bearer u")),
        ({"authorization": "Bearer k"}, SERVER, Keys("Bearer k", "Bearer sk-server")),
        ({"authorization": "Bearer u", "x-memci-key": "k"}, SERVER,
         Keys("Bearer k", "Bearer sk-server")),
        ({}, SERVER, Keys(None, "Bearer sk-server")),
        ({}, None, Keys(None, None)),
    ],
)  # fmt: skip
def test_keys_are_separated(headers: dict[str, str], key: SecretStr | None, expected: Keys):
    assert keys_in(headers, key) == expected
    assert "sk-server" not in repr(keys_in(headers, key))


def test_connection_headers_are_not_passed_on():
    given = [("Connection", "close, X-Hop"), ("X-Hop", "1"), ("Keep-Alive", "5"), ("X-Id", "7")]
    assert headers_for_client(given) == [("x-id", "7")]
    more = [("Cookie", "c"), ("Host", "h"), ("Authorization", "a")]
    sent = headers_for_upstream([*given, *more], "Bearer u")
    assert sent == [("x-id", "7"), ("accept-encoding", "identity"), ("authorization", "Bearer u")]
