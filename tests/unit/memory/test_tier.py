"""The tier of a new memory (R3)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from memci.domain.memory.node import NodeTier, tier_of
from memci.domain.memory.parameters import MemoryParameters

RECEIVED = datetime(2026, 3, 2, 9, tzinfo=UTC)
LONG = (NodeTier.LONG, None)


def test_a_memory_with_enough_worth_is_long_term_at_once() -> None:
    assert tier_of(6.0, RECEIVED, MemoryParameters(), eligible=True) == LONG


def test_a_memory_that_is_not_eligible_is_short_term() -> None:
    expected = (NodeTier.SHORT, RECEIVED + timedelta(hours=24))
    assert tier_of(10.0, RECEIVED, MemoryParameters(), eligible=False) == expected


def test_other_memories_are_short_term_for_a_day() -> None:
    expected = (NodeTier.SHORT, RECEIVED + timedelta(hours=24))
    assert tier_of(5.9, RECEIVED, MemoryParameters(), eligible=True) == expected


def test_threshold_and_time_to_live_are_parameters() -> None:
    parameters = MemoryParameters(long_term_importance_threshold=3.0, short_term_ttl_hours=0.5)
    assert tier_of(3.0, RECEIVED, parameters, eligible=True) == LONG
    assert tier_of(2.9, RECEIVED, parameters, eligible=True)[1] == RECEIVED + timedelta(minutes=30)


def test_without_tiers_everything_is_long_term() -> None:
    parameters = MemoryParameters(tiered_memory_enabled=False)
    assert tier_of(0.0, RECEIVED, parameters, eligible=False) == LONG


def test_a_time_to_live_beyond_the_calendar_is_bounded() -> None:
    parameters = MemoryParameters(short_term_ttl_hours=1e300)
    assert tier_of(0.0, RECEIVED, parameters, eligible=True)[1] == RECEIVED + timedelta(365_000)
