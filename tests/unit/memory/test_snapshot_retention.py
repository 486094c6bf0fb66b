"""Which snapshots are kept."""

from __future__ import annotations

import itertools

from hypothesis import given, settings
from hypothesis import strategies as st

from memci.domain.memory.compression_scan import kept_snapshots
from tests.support.examples import examples

weights = st.dictionaries(st.integers(1, 5_000), st.integers(0, 5_000), max_size=120)


@settings(max_examples=examples(500))
@given(weights, st.integers(0, 200_000))
def test_kept_snapshots_fit_the_budget_and_include_both_ends(weights: dict[int, int], budget: int):
    kept = kept_snapshots(weights, budget)
    assert kept == sorted(set(kept))
    assert set(kept) <= set(weights)
    if weights:
        assert kept[-1] == max(weights)
    total = sum(weights[each] for each in kept)
    assert total <= budget or len(kept) == 1
    if len(kept) > 1:
        assert kept[0] == min(weights)
    if sum(weights.values()) <= budget:
        assert kept == sorted(weights)


@settings(max_examples=examples(500))
@given(weights, st.integers(0, 200_000))
def test_kept_snapshots_are_kept_again(weights: dict[int, int], budget: int):
    kept = kept_snapshots(weights, budget)
    assert kept_snapshots({each: weights[each] for each in kept}, budget) == kept


def test_distances_between_snapshots_grow_with_age():
    held: list[int] = []
    for number in range(1, 3_001):
        held.append(number)
        if len(held) > 64:
            held = kept_snapshots(dict.fromkeys(held, 1), 48)
    assert held[0] == 1
    assert held[-1] == 3_000
    newest = held[-1]
    for before, after in itertools.pairwise(held):
        # No gap is longer than a third of the time since.
        assert after - before <= max(2, (newest - before) / 3)
    recent = [each for each in held if newest - each < 16]
    assert len(recent) >= 8
