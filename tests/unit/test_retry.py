from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memci.domain.job import LONGEST_WAIT_S, backoff_s


def test_the_wait_doubles() -> None:
    assert [backoff_s(failures, 0) for failures in range(1, 9)] == [
        0.5, 1, 2, 4, 8, 16, 32, 60,
    ]  # fmt: skip


@given(st.integers(0, 10**9), st.floats(0, 1, exclude_max=True))
def test_the_wait_is_at_most_a_minute_and_jitter_takes_at_most_half(
    failures: int, jitter: float
) -> None:
    wait = backoff_s(failures, jitter)
    assert 0.25 <= wait <= LONGEST_WAIT_S
    assert backoff_s(failures, 0) / 2 <= wait <= backoff_s(failures, 0)
