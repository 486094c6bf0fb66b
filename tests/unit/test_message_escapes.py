"""Unicode escapes in tool calls and results are read as characters."""

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
def test_escapes_are_decoded(written, read):
    assert decode_escapes(written) == read
    assert decode_escapes(read) == read


@given(st.text(), st.booleans())
def test_decoded_json_has_the_same_value(text, ascii_only):
    written = decode_escapes(json.dumps({"said": text}, ensure_ascii=ascii_only))
    assert json.loads(written) == {"said": text}


@given(st.text(st.characters(min_codepoint=0xA0, categories=["L", "M", "N", "P", "S"])))
def test_visible_characters_beyond_ascii_are_decoded(text):
    assert text in decode_escapes(json.dumps([text]))


def test_only_tool_calls_and_results_are_decoded():
    escaped, decoded = r'{"where": "\u5965\u65af\u9646"}', '{"where": "奥斯陆"}'
    call = {"id": "c1", "type": "function", "function": {"name": "book", "arguments": escaped}}
    result = Message(1, "m", Role.TOOL, escaped, NOW, tool_call_id="c1")
    calls = Message(2, "m", Role.ASSISTANT, escaped, NOW, tool_calls=(call,))
    assert (result.text, result.content) == (decoded, escaped)
    assert calls.text == f"{escaped}\nbook({decoded})"
    assert Message(3, "m", Role.USER, escaped, NOW).text == escaped
