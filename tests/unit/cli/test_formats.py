"""Files of all formats are read; bad files are refused."""

from __future__ import annotations

import json

import pytest

from memci.cli.formats import FileFormat
from memci.cli.formats.parsed_file import BadFileError
from memci.cli.formats.read import decode, detect, parse

HI = {"role": "user", "content": "Hi"}
CALL = {"id": "call-1", "type": "function", "function": {"name": "look", "arguments": "{}"}}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (json.dumps([HI]), FileFormat.JSON),
        (json.dumps({"messages": [HI]}, indent=2), FileFormat.JSON),
        (f"{json.dumps(HI)}\n{json.dumps(HI)}\n", FileFormat.JSONL),
        (f"\n\n{json.dumps(HI)}\n", FileFormat.JSONL),
        ('{"role": "user", "content": "\x85"}\n{}', FileFormat.JSONL),
        ("Alice: Hi\n", FileFormat.TEXT),
        ("[2026-03-02 09:15] Alice: Hi\n", FileFormat.TEXT),
        ("[9:15] 用户：你好\n", FileFormat.TEXT),
        ("{\n", FileFormat.JSON),
        ("[\n", FileFormat.JSON),
    ],
)
def test_the_format_of_a_file_is_detected_from_its_text(text: str, expected: FileFormat):
    assert detect(text) is expected


@pytest.mark.parametrize(
    "text",
    [
        json.dumps([HI, HI]),
        json.dumps({"messages": [HI, HI], "model": "x"}),
        f"{json.dumps(HI)}\r\n\r\n{json.dumps(HI)}",
        json.dumps({"messages": [HI]}) + "\n" + json.dumps({"messages": [HI]}) + "\n",
        "User: Hi\nUser: Hi\n",
    ],
)
def test_all_formats_give_the_same_messages(text: str):
    assert parse(text).messages == [HI, HI]


def test_openai_messages_are_read_and_unknown_parts_are_counted():
    parsed = parse(
        json.dumps(
            [
                {"role": "developer", "content": "Be brief", "refusal": None},
                {
                    "role": "user",
                    "content": [{"type": "text", "text": "See"}, {"type": "image_url"}],
                },
                {"role": "assistant", "content": None, "tool_calls": [CALL], "annotations": []},
                {"role": "tool", "content": "42", "tool_call_id": "call-1"},
                {"role": "user", "content": "Thanks", "created_at": 1772442900},
            ]
        )
    )
    roles = [message["role"] for message in parsed.messages]
    assert roles == ["system", "user", "assistant", "tool", "user"]
    assert parsed.messages[1]["content"] == "See\n[image_url]"
    assert parsed.messages[2]["tool_calls"] == [CALL]
    assert parsed.messages[4]["timestamp"].startswith("2026-03-02T09:15")
    assert parsed.ignored == {"annotations": 1, "part image_url": 1}


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "empty"),
        (" \n\t\n", "empty"),
        ("[]", "no message"),
        ('{"messages": []}', "no message"),
        ("[1]", r"^message 1: expected a message"),
        ('[{"role": "user"}]', r"^message 1: content may be null only beside tool_calls"),
        ('[{"role": "wizard", "content": "x"}]', r"^message 1: role: "),
        ('[{"role": "tool", "content": "x"}]', r"^message 1: tool_call_id belongs to"),
        ('{"role": "user",\n "content": }', r"^line 2: not JSON"),
        ('{"role": "user", "content": "x"}\nnonsense\n', r"^line 2: not JSON"),
        ('{"role": "user", "content": "x"}\n{"role": 7}\n', r"^line 2, message 1: |^line 2: "),
        ('{"role": "user", "content": "\\u0000"}', "U\\+0000"),
        ('{"role": "user", "content": "\\ud800"}', "surrogate"),
        ('[{"role": "user", "content": 7}]', r"^message 1: content: "),
        ('[{"role": "user", "content": [7]}]', r"^message 1: content: expected text"),
        ("[" * 100_000, r"^line 1: "),
        ('[{"role": "user", "content": "x", "timestamp": 1e400}]', r"^message 1: timestamp: "),
        ('[{"role": "user", "content": "x", "timestamp": ' + "9" * 5000 + "}]", r"^line 1: "),
        ("plain words without anybody", r"^line 1: this line has no speaker"),
    ],
)
def test_a_file_without_a_conversation_is_refused_with_the_place(text: str, complaint: str):
    with pytest.raises(BadFileError, match=complaint):
        parse(text)


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\xff\xfe", "a binary file"),
        (b"Alice: Hi\nBob: caf\xe9\n", r"^line 2: this is not UTF-8 \(byte 18\)"),
        (b"Alice: H\x00i\n", r"^line 1: a NUL byte"),
        ("Alice: Hi\n".encode("utf-16"), "UTF-16: save it as UTF-8"),
    ],
)
def test_a_file_that_is_not_utf_8_text_is_refused(content: bytes, complaint: str):
    with pytest.raises(BadFileError, match=complaint):
        decode(content)


def test_a_byte_order_mark_is_removed():
    assert decode("\ufeffAlice: Hi".encode()) == "Alice: Hi"


def test_a_huge_line_is_read_in_reasonable_time():
    words = "lorem: " * 1_500_000  # 10 MB with a colon in every word
    assert parse(f"Alice: {words}").messages[0]["content"] == words.strip()
    assert len(parse(json.dumps([{"role": "user", "content": words}])).messages) == 1
