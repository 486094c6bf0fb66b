"""What reaches a terminal."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memci.cli.output import printable, shortened


@given(st.text())
def test_no_control_character_reaches_the_terminal(text: str):
    shown = printable(text)
    assert len(shown) == len(text)
    assert all(each.isprintable() or each in "\n\t" for each in shown)


def test_text_stays_as_it_is():
    text = "Zoë sagt:\t你好 🎉\n[bold]no markup[/bold]"
    assert printable(text) == text


def test_escape_sequences_lose_their_power():
    assert "\x1b" not in printable("\x1b]0;title\x07\x1b[2J")


@given(st.text(), st.integers(1, 50))
def test_a_shortened_text_is_one_line_within_its_length(text: str, length: int):
    assert len(shortened(text, length)) <= length
    assert "\n" not in shortened(text, length)
