"""Texts are cut out of their messages where they were taken from."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from memci.domain.memory.span import Span, cut_out, spans

TEXTS = st.text("ab \n\t\u3000你", min_size=1, max_size=12).filter(str.strip)


@settings(max_examples=500, deadline=None)
@given(texts=st.lists(TEXTS, min_size=1, max_size=5), data=st.data())
def test_what_a_span_tells_of_is_cut_out_again(texts: list[str], data: st.DataObject) -> None:
    said = dict(enumerate(texts, 10))
    solid = [(seq, each) for seq, text in said.items() for each in text if not each.isspace()]
    inner = data.draw(st.sets(st.integers(1, len(solid) - 1))) if len(solid) > 1 else set()
    ends = [0, *sorted(inner), len(solid)]
    pieces = [solid[one:other] for one, other in pairwise(ends)]
    segments = [
        (tuple(dict.fromkeys(seq for seq, _ in piece)), " ".join(each for _, each in piece))
        for piece in pieces
    ]
    for (seqs, text), span in zip(segments, spans(said, segments), strict=True):
        parts = cut_out([said[seq] for seq in seqs], span)
        assert "".join("".join(parts).split()) == "".join(text.split())
        assert all(part.strip() == part and part for part in parts)
        assert all(part in said[seq] for part, seq in zip(parts, seqs, strict=True))


def test_a_part_of_the_middle() -> None:
    assert cut_out(["one two three"], Span(3, 3)) == ["two"]
    assert cut_out(["one two", "three"], Span(3, 5)) == ["two", "th"]
