"""Jobs, their states, and when a failed job is tried again (M13, queue.md).

::

             submit                effect
    (none) ─────────► queued ──────────────────► done
                      │ ▲  │ refused, or 15 tries, or 3 starts without an outcome
               cancel │ │  └───────────────────► dead ──► (discard) cancelled
                      ▼ └── replay ──────────────┘
                  cancelled

"Running" is no state: the lease tells who is at it, and a worker that dies leaves it queued.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID


class JobState(StrEnum):
    """Where a job stands."""

    QUEUED = "queued"
    DONE = "done"
    DEAD = "dead"
    CANCELLED = "cancelled"


class JobSource(StrEnum):
    """Who asked for a job."""

    HTTP = "http"
    CELERY = "celery"
    BEAT = "beat"
    REPLAY = "replay"
    LANE = "lane"  # another job of the same agent
    READ = "read"  # a recall, of what it has reported (M15)
    REEMBED = "reembed"  # `memci reembed`, of every agent


@dataclass(frozen=True, slots=True)
class Job:
    """One piece of work for one agent.

    ``ordinal`` is its place in the mailbox. ``payload`` names stored messages (``first_seq`` to
    ``last_seq``) and holds no text. ``attempts`` counts tries that ended with a small model not
    answering, ``started`` the starts of which nobody has said that their process outlived them;
    the last of these was at ``started_at``.
    """

    agent_id: str
    id: UUID
    ordinal: int
    kind: str
    payload: Mapping[str, Any]
    source: JobSource
    first_seq: int | None
    last_seq: int | None
    attempts: int
    started: int
    traceparent: str | None
    started_at: datetime | None = None


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
