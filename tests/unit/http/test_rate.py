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
    limit = RateLimit(clock=clock)
    rates = [limit.take("a", 60) for _ in range(60)]
    assert [each.remaining for each in rates] == list(range(59, -1, -1))
    assert rates[-1].headers == {
        "RateLimit-Limit": "60", "RateLimit-Remaining": "0", "RateLimit-Reset": "60",
    }  # fmt: skip
    with pytest.raises(RateLimitedError) as refused:
        limit.take("a", 60)
    assert refused.value.retry_after_s == pytest.approx(1.0)
    limit.take("b", 60)
    clock.now += refused.value.retry_after_s
    limit.take("a", 60)


def test_names_that_rest_longest_are_forgotten() -> None:
    limit = RateLimit(most=2, clock=Clock())
    for name in ("a", "b", "c"):
        limit.take(name, 1)
    for name in ("b", "c"):
        with pytest.raises(RateLimitedError):
            limit.take(name, 1)
    limit.take("a", 1)
    assert len(limit._buckets) == 2


@given(st.integers(1, 50), st.lists(st.floats(0, 10), max_size=200))
def test_the_limit_is_the_rate_and_one_burst(per_minute: int, waits: list[float]) -> None:
    clock = Clock()
    limit = RateLimit(clock=clock)
    refused_for: list[float] = []
    for wait in waits:
        clock.now += wait
        try:
            limit.take("a", per_minute)
        except RateLimitedError as refused:
            refused_for.append(refused.retry_after_s)
    passed = len(waits) - len(refused_for)
    assert all(0 < each <= 60 / per_minute + 1e-6 for each in refused_for)
    assert passed <= per_minute + clock.now * per_minute / 60 + 1e-6
