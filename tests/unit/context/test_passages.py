"""Passages of long messages (E6)."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memci.domain.search.passages import MOST_PASSAGES, Passage, passages_of

_SENTENCES = st.sampled_from([
    "The ferry leaves at eight. ", "No! ", "x" * 1_500 + " ", "明天早上八点坐渡轮去香港。", "\n\n",
    "A list of things, of which none matters, follows here: ",
])  # fmt: skip


@given(st.lists(_SENTENCES, max_size=150).map("".join))
def test_passages_follow_each_other_and_reach_the_end(text: str):
    passages = passages_of(text)
    assert all(each.start < each.stop <= len(text) for each in passages)
    for one, following in pairwise(passages):
        assert one.stop <= following.start
        assert not text[one.stop : following.start].strip()
    if passages and len(passages) < MOST_PASSAGES:
        assert not text[passages[-1].stop :].strip()


@pytest.mark.parametrize(
    ("sentence", "covered", "longest"),
    [
        ("The ferry leaves at eight in the morning. ", 1_950, 1_080),
        ("渡轮早上八点出发。", 710, 390),
        ('{"id": 17, "to": [4, 5]}, ', 1_000, 560),
    ],
)
def test_passages_begin_where_a_vector_of_the_message_ends(
    sentence: str, covered: int, longest: int
):
    assert passages_of(sentence * (covered // len(sentence))) == []
    passages = passages_of(sentence * 200)
    assert covered - 100 < passages[0].start < covered + 100
    assert max(stop - start for start, stop in passages) <= longest


def test_a_name_before_the_text_is_not_counted():
    assert Passage(2_010, 3_010).after("Ann") == Passage(2_005, 3_005)
    assert Passage(2_010, 3_010).after(None) == Passage(2_010, 3_010)
