"""Text and JSON that the command line prints."""

from __future__ import annotations

import json
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memci.cli.output import cell, counted, escaped, hint_pending, print_json, printable, shortened


@given(st.text())
def test_no_control_character_reaches_the_terminal(text: str):
    shown = printable(text)
    assert len(shown) == len(text)
    assert all(each.isprintable() or each in "\n\t" for each in shown)


@given(st.dictionaries(st.text(), st.text() | st.lists(st.text())))
def test_json_escapes_unprintable_characters_and_keeps_its_value(value: dict[str, object]):
    shown = escaped(json.dumps(value, ensure_ascii=False, indent=2))
    assert all(each.isprintable() or each == "\n" for each in shown)
    assert json.loads(shown) == value


def test_json_for_programs_cannot_rewrite_the_terminal(capsys: pytest.CaptureFixture[str]):
    value = {"content": "\x9b2J \u202egpj.exe \u2066 \x1b[2J \U000e0001 你好 🎉"}
    print_json(value)
    printed = capsys.readouterr().out
    assert json.loads(printed) == value
    assert "\\u009b2J \\u202egpj.exe \\u2066 \\u001b[2J \\udb40\\udc01 你好 🎉" in printed


@pytest.mark.parametrize(
    ("at", "expected"),
    [
        ("2026-03-02T06:30:00+08:00", "2026-03-02 06:30:00+08:00"),
        ("2026-03-02T06:30:00.25Z", "2026-03-02 06:30:00Z"),
    ],
)
def test_times_keep_the_offset_of_the_speaker(at: str, expected: str):
    assert cell(datetime.fromisoformat(at)) == expected


def test_printable_text_is_unchanged():
    text = "Zoë sagt:\t你好 🎉\n[bold]no markup[/bold]"
    assert printable(text) == text


def test_escape_characters_are_replaced():
    assert "\x1b" not in printable("\x1b]0;title\x07\x1b[2J")


@given(st.text(), st.integers(1, 50))
def test_a_shortened_text_is_one_line_within_its_length(text: str, length: int):
    assert len(shortened(text, length)) <= length
    assert "\n" not in shortened(text, length)


def test_counts_use_singular_and_plural():
    assert [counted(each, "job") for each in (0, 1, 2)] == ["0 jobs", "1 job", "2 jobs"]
    assert [counted(each, "memory", "memories") for each in (1, 2)] == ["1 memory", "2 memories"]


def test_the_number_of_pending_messages_is_printed_to_stderr(capsys: pytest.CaptureFixture[str]):
    for count in (0, 1, 2):
        hint_pending(count)
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.splitlines() == [
        "memory has not read 1 message yet",
        "memory has not read 2 messages yet",
    ]
