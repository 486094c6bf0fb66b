"""Laws of tiers (R3, R5): the first tier, the end of a short term, and promotion."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from memci.domain.memory.node import DueMemory, NodeTier, promotion, tier_of
from memci.domain.memory.parameters import MemoryParameters
from tests.support.examples import examples

MANY = settings(max_examples=examples(500))
WORTHS = st.floats(0, 10) | st.sampled_from([5.9, 6.0, 6.1])
RECEIVED = st.integers(0, 4 * 10**9).map(lambda second: datetime.fromtimestamp(second, UTC))
parameters = st.builds(
    MemoryParameters,
    tiered_memory_enabled=st.booleans(),
    short_term_ttl_hours=st.floats(0.1, 10_000),
    long_term_importance_threshold=WORTHS,
)


@MANY
@given(WORTHS, RECEIVED, parameters, st.booleans())
def test_eligible_memories_of_enough_worth_are_long_term_and_others_have_a_term(
    worth: float, received: datetime, values: MemoryParameters, eligible: bool
) -> None:
    tier, ends = tier_of(worth, received, values, eligible=eligible)
    worthy = eligible and worth >= values.long_term_importance_threshold
    assert (tier is NodeTier.LONG) == (worthy or not values.tiered_memory_enabled)
    if tier is NodeTier.LONG:
        assert ends is None
    else:
        assert ends == received + timedelta(hours=values.short_term_ttl_hours)


@MANY
@given(WORTHS, RECEIVED, parameters, st.booleans())
def test_more_worth_never_means_a_shorter_term(
    worth: float, received: datetime, values: MemoryParameters, eligible: bool
) -> None:
    less, _ = tier_of(worth / 2, received, values, eligible=eligible)
    more, _ = tier_of(worth, received, values, eligible=eligible)
    assert less is NodeTier.SHORT or more is NodeTier.LONG


@MANY
@given(st.floats(0, 3) | st.just(1.0), WORTHS, st.booleans(), parameters)
def test_importance_worth_or_use_promotes_and_nothing_else(
    importance: float, worth: float, used: bool, values: MemoryParameters
) -> None:
    found = promotion(DueMemory(1, importance, worth, used), values)
    promoted = importance >= 1 or worth >= values.long_term_importance_threshold or used
    assert (found is not None) == promoted
