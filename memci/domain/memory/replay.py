"""What makes a network, as it is logged, and a network that is made so once more (M24).

::

                 its end is reached           switch
    (rebuild) building ──────────────► ready ────────► switching ──► switched
                 └────────► dropped ◄────┴─────────────────┘   its end is reached
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Self
from uuid import UUID


class ReplayEvent(StrEnum):
    """What can happen to a network, besides the erasure of messages: the log has none of these."""

    CREATED = "created"  # messages became memories
    SCANNED = "scanned"  # a pass, or the part of it up to the next event
    MENTIONED = "mentioned"  # somebody brought an entity into the focus
    RESTORED = "restored"  # a forgotten memory was made anew
    CONSOLIDATED = "consolidated"  # alike memories became one, and short terms ended


@dataclass(frozen=True, slots=True)
class ReplayEntry:
    """One event. ``place`` orders the log of an agent.

    ``seqs``: the messages that it took. Of a pass: its number, the nodes scanned in this part of
    it, and whether it ended there. ``job_id`` is what draws by lot are seeded with.
    """

    place: int
    event: ReplayEvent
    job_id: UUID | None = None
    seqs: tuple[int, ...] = ()
    pass_number: int = 0
    scanned: int = 0
    ended: bool = False
    details: Mapping[str, Any] = field(default_factory=dict)


class EditionState(StrEnum):
    """Where a rebuilt network stands."""

    BUILDING = "building"
    READY = "ready"
    SWITCHING = "switching"
    SWITCHED = "switched"
    DROPPED = "dropped"


@dataclass(frozen=True, slots=True)
class Edition:
    """A network that is rebuilt beside the current one, and how far it is.

    It is made of the log's entries up to ``cut_at``, of which only messages up to ``up_to_seq``
    are taken, and of those after ``begun_at``; None: of all. ``place`` is the entry replayed
    last; of a pass, ``scanned`` nodes so far; ``settled``: nothing of it is left to do.
    """

    number: int
    state: EditionState
    begun_at: int
    up_to_seq: int | None = None
    cut_at: int | None = None
    place: int = 0
    scanned: int = 0
    settled: bool = True

    def takes(self, entry: ReplayEntry) -> bool:
        """Tell whether an entry is part of it at all."""
        return self.cut_at is None or entry.place <= self.cut_at or entry.place > self.begun_at

    def has_done(self, entry: ReplayEntry) -> bool:
        """Tell whether nothing of an entry is left to do; the last one of the log may grow."""
        if entry.place != self.place:
            return entry.place < self.place
        return self.settled or (
            entry.event is ReplayEvent.SCANNED and not entry.ended and self.scanned >= entry.scanned
        )

    def seqs_of(self, entry: ReplayEntry) -> tuple[int, ...]:
        """Return those of an entry's messages that it is to take."""
        if self.up_to_seq is None or entry.place > self.begun_at:
            return entry.seqs
        return tuple(seq for seq in entry.seqs if seq <= self.up_to_seq)

    def after(self, entry: ReplayEntry, *, scanned: int = 0, settled: bool = True) -> Self:
        """Return how far it is after (a part of) an entry."""
        done = self.scanned if entry.place == self.place else 0
        return replace(self, place=entry.place, scanned=done + scanned, settled=settled)
