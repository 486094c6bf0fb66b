"""How long to wait before something that failed is tried again (M13, queue.md)."""

from __future__ import annotations

FIRST_S = 0.5
LONGEST_S = 60.0
# Tries of a job that its lane waits for; later ones are waited for without a worker.
TRIES_INSIDE = 3
_DOUBLINGS = 10  # more would pass LONGEST_S anyway


def backoff_s(failures: int, jitter: float) -> float:
    """Return the seconds to wait after ``failures`` (from 1) failures in a row.

    The wait doubles with each failure up to a minute. ``jitter``, a random number in [0, 1),
    takes up to half of it away, so that those who failed together do not come back together.
    """
    doublings = min(max(failures, 1) - 1, _DOUBLINGS)
    return min(FIRST_S * (1 << doublings), LONGEST_S) * (1 - jitter / 2)
