"""BM25 over a message and its neighbours (R11b)."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memci.domain.search import bm25
from memci.domain.search.bm25 import REACH, first_after, position_at, session_at

POSITIONS = st.builds(position_at, st.integers(0, 3), st.integers(0, 12))
POSTINGS = st.dictionaries(
    st.sampled_from("abc"),
    st.dictionaries(POSITIONS, st.integers(1, 4), min_size=1, max_size=20),
    max_size=3,
)


def score_one_by_one(position: int, postings: bm25.Postings, texts: float) -> float:
    """Return the same score, computed for each neighbourhood by itself."""
    total = 0.0
    for counts in postings.values():
        centres = {at + step for at in counts for step in range(-REACH, REACH + 1)}
        rare = bm25.rarity(min(len(centres), texts), texts)
        times = sum(counts.get(position + step, 0) for step in range(-REACH, REACH + 1))
        total += rare * times * (bm25.K1 + 1) / (times + bm25.K1) if times else 0.0
    return total


@given(st.sets(POSITIONS, max_size=30), POSTINGS, st.integers(1, 100))
def test_the_score_is_the_sum_over_each_neighbourhood(
    positions: set[int], postings: dict[str, dict[int, int]], texts: int
):
    scores = bm25.around(positions, postings, texts)
    assert scores.keys() == positions
    for position, score in scores.items():
        assert score == pytest.approx(score_one_by_one(position, postings, texts))


def test_a_word_counts_for_two_messages_on_either_side_in_its_session():
    middle = position_at(1, 0)
    scores = bm25.around(range(middle - 4, middle + 5), {"tram": {middle: 1}}, 100)
    assert [at - middle for at, score in scores.items() if score > 0] == [-2, -1, 0, 1, 2]
    # There is no message at that position: positions of the session before end far below.
    assert session_at(middle - 1) == 0
    assert first_after(0) == middle


@given(st.floats(0, 1e6), st.floats(1, 1e6))
def test_a_rarer_word_weighs_more(holding: float, texts: float):
    holding = min(holding, texts)
    assert bm25.rarity(holding, texts) > 0
    assert bm25.rarity(holding / 2, texts) >= bm25.rarity(holding, texts)
    assert math.isfinite(bm25.rarity(0, texts))
