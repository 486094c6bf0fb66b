"""When a failed job is tried again (queue.md, "Failure, retry, dead letter")."""

from __future__ import annotations

# Between the three tries inside a job; what comes later waits outside, without a worker.
IN_JOB_WAITS_S = (0.5, 1.0)
LONGEST_WAIT_S = 60.0


def in_job_wait_s(failures: int, random_share: float) -> float | None:
    """Return how long to wait inside the job after its ``failures``-th failure (from 1).

    None when the lane is to be let go. ``random_share`` in [0, 1) spreads the waits by a
    quarter either way.
    """
    if failures > len(IN_JOB_WAITS_S):
        return None
    return IN_JOB_WAITS_S[failures - 1] * (0.75 + random_share / 2)


def back_off_s(failures: int, random_share: float) -> float:
    """Return how long a job waits outside: 2 s after the third failure, doubling, at most 60 s."""
    return min(2.0 ** min(failures - 2, 10), LONGEST_WAIT_S) * (0.5 + random_share / 2)
