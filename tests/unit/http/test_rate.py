from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memci.errors import RateLimitedError
from memci.http.auth import RateLimit


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_burst_of_one_minute_is_allowed_and_then_the_rate() -> None:
    clock = Clock()
    limit = RateLimit(60, clock=clock)
    for _ in range(60):
        limit.take("a")
    with pytest.raises(RateLimitedError) as refused:
        limit.take("a")
    assert refused.value.retry_after_s == pytest.approx(1.0)
    limit.take("b")
    clock.now += refused.value.retry_after_s
    limit.take("a")


def test_zero_is_no_limit() -> None:
    limit = RateLimit(0)
    for _ in range(10_000):
        limit.take("a")


@given(st.integers(1, 50), st.lists(st.floats(0, 10), max_size=200))
def test_the_limit_is_the_rate_and_one_burst(per_minute: int, waits: list[float]) -> None:
    clock = Clock()
    limit = RateLimit(per_minute, clock=clock)
    refused_for: list[float] = []
    for wait in waits:
        clock.now += wait
        try:
            limit.take("a")
        except RateLimitedError as refused:
            refused_for.append(refused.retry_after_s)
    passed = len(waits) - len(refused_for)
    assert all(0 < each <= 60 / per_minute + 1e-6 for each in refused_for)
    assert passed <= per_minute + clock.now * per_minute / 60 + 1e-6
