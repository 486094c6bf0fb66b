"""Texts are cut out of their messages where they were taken from."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from memci.domain.memory.passage import Span, cut_out, solid_length, stretches
from tests.support.examples import examples

TEXTS = st.text("ab \n\t\u3000你", min_size=1, max_size=12).filter(str.strip)


@settings(max_examples=examples(500))
@given(texts=st.lists(TEXTS, min_size=1, max_size=5), data=st.data())
def test_what_a_span_tells_of_is_cut_out_again(texts: list[str], data: st.DataObject) -> None:
    said = dict(enumerate(texts, 10))
    solid = [(seq, each) for seq, text in said.items() for each in text if not each.isspace()]
    inner = data.draw(st.sets(st.integers(1, len(solid) - 1))) if len(solid) > 1 else set()
    pieces = [solid[one:other] for one, other in pairwise([0, *sorted(inner), len(solid)])]
    found = list(stretches(said, map(len, pieces)))
    for piece, stretch in zip(pieces, found, strict=True):
        assert list(stretch.parts) == list(dict.fromkeys(seq for seq, _ in piece))
        assert "".join(stretch.text.split()) == "".join(each for _, each in piece)
        for seq, part in stretch.parts.items():
            assert part in said[seq]
            assert part.strip() == part
        assert cut_out({seq: said[seq] for seq in stretch.parts}, stretch.span) == stretch


def test_a_part_of_the_middle() -> None:
    assert cut_out({7: "one two three"}, Span(3, 3)).parts == {7: "two"}
    assert cut_out({7: "one two", 9: "three"}, Span(3, 5)).parts == {7: "two", 9: "th"}


def test_blanks_inside_stay_but_for_very_many() -> None:
    assert cut_out({1: " 好\t 的\n\nx "}, Span(0, 3)).text == "好\t 的\n\nx"
    assert cut_out({1: "a" + " " * 5_000 + "b"}, Span(0, 2)).text == "a\nb"


def test_messages_that_hold_less_give_what_they_hold() -> None:
    assert cut_out({1: "one"}, Span(1, 9)) == (Span(1, 2), {1: "ne"})
    assert cut_out({1: "one"}, Span(3, 9)).text == cut_out({}, Span(0, 9)).text == ""


def test_blanks_do_not_count() -> None:
    assert solid_length(" a\u3000好\n b") == 3
