"""What programs write as escapes is read as characters."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memci.message import Message, Role, decode_escapes

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (r'{"city": "\u5965\u65af\u9646"}', '{"city": "奥斯陆"}'),
        (r"Caf\u00E9 \ud83d\ude00!", "Café 😀!"),
        (r"a\\u5965", r"a\\u5965"),
        (r"a\\\u5965", r"a\\奥"),
        (r"\u0022 \u000a \u0000 \u007f", r"\u0022 \u000a \u0000 \u007f"),
        (r"half \ud83d of \ude00 it", r"half \ud83d of \ude00 it"),
        (r"\u59 \u59zz \U00005965", r"\u59 \u59zz \U00005965"),
        (r'c == "\u200b" or c == "\u00A0\u202e"', r'c == "\u200b" or c == "\u00A0\u202e"'),
        ("plain", "plain"),
    ],
)
def test_escapes_are_read(written, read):
    assert decode_escapes(written) == read
    assert decode_escapes(read) == read


@given(st.text(), st.booleans())
def test_json_says_the_same_with_characters(text, ascii_only):
    written = decode_escapes(json.dumps({"said": text}, ensure_ascii=ascii_only))
    assert json.loads(written) == {"said": text}


@given(st.text(st.characters(min_codepoint=0xA0, categories=["L", "M", "N", "P", "S"])))
def test_all_but_ascii_that_can_be_seen_is_legible(text):
    assert text in decode_escapes(json.dumps([text]))


def test_of_what_tools_are_given_and_say_alone():
    said, read = r'{"where": "\u5965\u65af\u9646"}', '{"where": "奥斯陆"}'
    call = {"id": "c1", "type": "function", "function": {"name": "book", "arguments": said}}
    result = Message(1, "m", Role.TOOL, said, NOW, tool_call_id="c1")
    calls = Message(2, "m", Role.ASSISTANT, said, NOW, tool_calls=(call,))
    assert (result.text, result.content) == (read, said)
    assert calls.text == f"{said}\nbook({read})"
    assert Message(3, "m", Role.USER, said, NOW).text == said
