"""Texts are cut out of their messages by spans."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from memci.domain.memory.passage import Span, cut_out, solid_length, stretches
from tests.support.examples import examples

TEXTS = st.text("ab \n\t\u3000你", min_size=1, max_size=12).filter(str.strip)


@settings(max_examples=examples(500))
@given(texts=st.lists(TEXTS, min_size=1, max_size=5), data=st.data())
def test_a_span_cuts_out_the_same_text_again(texts: list[str], data: st.DataObject) -> None:
    messages = dict(enumerate(texts, 10))
    solid = [(seq, each) for seq, text in messages.items() for each in text if not each.isspace()]
    inner = data.draw(st.sets(st.integers(1, len(solid) - 1))) if len(solid) > 1 else set()
    pieces = [solid[one:other] for one, other in pairwise([0, *sorted(inner), len(solid)])]
    found = list(stretches(messages, map(len, pieces)))
    for piece, stretch in zip(pieces, found, strict=True):
        assert list(stretch.parts) == list(dict.fromkeys(seq for seq, _ in piece))
        assert "".join(stretch.text.split()) == "".join(each for _, each in piece)
        for seq, part in stretch.parts.items():
            assert part in messages[seq]
            assert part.strip() == part
        assert cut_out({seq: messages[seq] for seq in stretch.parts}, stretch.span) == stretch


def test_a_span_in_the_middle_is_cut_out() -> None:
    assert cut_out({7: "one two three"}, Span(3, 3)).parts == {7: "two"}
    assert cut_out({7: "one two", 9: "three"}, Span(3, 5)).parts == {7: "two", 9: "th"}


def test_blanks_inside_are_kept_unless_there_are_very_many() -> None:
    assert cut_out({1: " 好\t 的\n\nx "}, Span(0, 3)).text == "好\t 的\n\nx"
    assert cut_out({1: "a" + " " * 5_000 + "b"}, Span(0, 2)).text == "a\nb"


def test_a_span_beyond_the_end_gives_the_existing_text() -> None:
    assert cut_out({1: "one"}, Span(1, 9)) == (Span(1, 2), {1: "ne"}, {1: (1, 3)})
    assert cut_out({1: "one"}, Span(3, 9)).text == cut_out({}, Span(0, 9)).text == ""


def test_blanks_do_not_count_as_length() -> None:
    assert solid_length(" a\u3000好\n b") == 3
