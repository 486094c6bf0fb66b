"""Jobs, their states, and when a failed job is tried again (M13, queue.md).

::

             submit                effect
    (none) ─────────► queued ──────────────────► done
                      │ ▲  │ refused, or 15 tries, or 5 starts without an outcome
               cancel │ │  └───────────────────► dead ──► (discard) cancelled
                      ▼ └── replay ──────────────┘
                  cancelled

"Running" is no state: the lease says which worker runs the lane, and a job whose worker dies
stays queued.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID


class JobKind:
    """Names of the kinds of jobs; Flower shows them as names of tasks."""

    CREATE = "memci.memory.create"
    CONSOLIDATE = "memci.memory.consolidate"
    RESTORE = "memci.memory.restore"
    REBUILD = "memci.memory.rebuild"
    INDEX_MESSAGES = "memci.message.index"
    TRACK_MESSAGES = "memci.message.track"
    INDEX_ITEMS = "memci.item.index"
    INDEX_DOCUMENT = "memci.document.index"
    NAME_PAGES = "memci.page.name"
    SUMMARISE = "memci.session.summarise"
    DROP_LINKS = "memci.link.drop"
    REEMBED = "memci.vector.reembed"
    UNREADABLE = "memci.message.unreadable"  # a broker message that could not be read


class JobState(StrEnum):
    """The state of a job."""

    QUEUED = "queued"
    DONE = "done"
    DEAD = "dead"
    CANCELLED = "cancelled"


class JobSource(StrEnum):
    """Who submitted a job."""

    HTTP = "http"
    CELERY = "celery"
    BEAT = "beat"
    REPLAY = "replay"
    LANE = "lane"  # another job of the same agent
    READ = "read"  # a read that found something to do, such as links to drop (M15)
    REEMBED = "reembed"  # `memci db reembed`, for every agent


@dataclass(frozen=True, slots=True)
class Job:
    """One piece of work for one agent."""

    agent_id: str
    id: UUID
    ordinal: int  # position in the mailbox
    kind: str
    payload: Mapping[str, Any]  # ids and numbers, no text
    source: JobSource
    first_seq: int | None = None  # the messages that the job is for
    last_seq: int | None = None
    attempts: int = 0  # tries that failed because a small model did not answer
    started: int = 1  # starts without an outcome: the process may have died in them
    traceparent: str | None = None
    started_at: datetime | None = None  # the last start


TRIES_INSIDE = 3  # the lane waits for these tries of a job; later ones run without it
FIRST_WAIT_S = 0.5
LONGEST_WAIT_S = 60.0
_MAX_DOUBLINGS = 10  # more would exceed the longest wait anyway


def backoff_s(failures: int, jitter: float) -> float:
    """Return the seconds to wait after ``failures`` (from 1) failures in a row.

    The wait doubles with each failure up to a minute. ``jitter``, a random number in [0, 1),
    removes up to half of it, so that jobs that failed together do not retry together.
    """
    doublings = min(max(failures, 1) - 1, _MAX_DOUBLINGS)
    return min(FIRST_WAIT_S * (1 << doublings), LONGEST_WAIT_S) * (1 - jitter / 2)
