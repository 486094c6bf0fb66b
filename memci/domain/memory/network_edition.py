"""The events that built a network, and the comparison of two editions (M24).

::

                 its end is reached           switch
    (rebuild) building ──────────────► ready ────────► switching ──► switched
                 └────────► dropped ◄────┴─────────────────┘   its end is reached
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Self, TypeAlias
from uuid import UUID


class ReplayEvent(StrEnum):
    """The kinds of events in the replay log; erasures of messages are not logged."""

    CREATED = "created"  # messages became memories
    SCANNED = "scanned"  # a pass, or its part up to the next event
    MENTIONED = "mentioned"  # an entity was brought into the focus
    RESTORED = "restored"  # a forgotten memory was restored
    CONSOLIDATED = "consolidated"  # similar memories were merged, and short terms ended
    EDITED = "edited"  # a person pinned a memory, or set its type or worth
    CORRECTED = "corrected"  # a person removed a memory: a note with another text is made into one
    DELETED = "deleted"  # a person removed a memory


@dataclass(frozen=True, slots=True)
class ReplayEntry:
    """One event. ``place`` orders the log of an agent.

    ``seqs``: the messages of the event. For a pass: its number, the nodes scanned in this part of
    it, and whether it ended there. ``job_id`` seeds random draws.
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
    """The state of a rebuilt network."""

    BUILDING = "building"
    READY = "ready"
    SWITCHING = "switching"
    SWITCHED = "switched"
    DROPPED = "dropped"


@dataclass(frozen=True, slots=True)
class Edition:
    """A network that is rebuilt beside the current one, and its progress.

    It is built from the log's entries up to ``cut_at``, with the messages up to ``up_to_seq`` and
    all messages of entries after ``begun_at``; None: no bound. ``place`` is the last replayed
    entry; of a pass, ``scanned`` nodes so far. ``settled``: that entry is complete.
    """

    number: int
    state: EditionState
    begun_at: int
    up_to_seq: int | None = None
    cut_at: int | None = None
    place: int = 0
    scanned: int = 0
    settled: bool = True

    def has_done(self, entry: ReplayEntry) -> bool:
        """Return True if an entry is complete; the last one of the log may grow."""
        if entry.place != self.place:
            return entry.place < self.place
        return self.settled or (
            entry.event is ReplayEvent.SCANNED and not entry.ended and self.scanned >= entry.scanned
        )

    def seqs_of(self, entry: ReplayEntry) -> tuple[int, ...]:
        """Return the messages of an entry that the edition includes."""
        if self.up_to_seq is None or entry.place > self.begun_at:
            return entry.seqs
        return tuple(seq for seq in entry.seqs if seq <= self.up_to_seq)

    def after(self, entry: ReplayEntry, *, scanned: int = 0, settled: bool = True) -> Self:
        """Return the edition after (a part of) an entry."""
        done = self.scanned if entry.place == self.place else 0
        return replace(self, place=entry.place, scanned=done + scanned, settled=settled)


# Strengths of links by (source, target), both living nodes.
Strengths: TypeAlias = Mapping[tuple[int, int], float]


@dataclass(frozen=True, slots=True)
class ComparedNode:
    """A living node. ``digest`` identifies its text; ``importance`` by M11."""

    id: int
    entity_key: str | None  # None: a memory
    seqs: tuple[int, ...]
    original_length: int
    length: int
    digest: str
    importance: float


@dataclass(frozen=True, slots=True)
class ComparedNetwork:
    """One of the editions; nodes by id, ascending."""

    nodes: Sequence[ComparedNode]
    strengths: Strengths


@dataclass(frozen=True, slots=True)
class Pair:
    """The same memory or entity in both editions."""

    current: ComparedNode
    rebuilt: ComparedNode


@dataclass(frozen=True, slots=True)
class Comparison:
    """The result of a comparison; the lists hold memories only, the most important first."""

    pairs: list[Pair]  # of memories
    only_current: list[ComparedNode]
    only_rebuilt: list[ComparedNode]
    same_links: int
    links_only_current: int
    links_only_rebuilt: int
    largest_strength_difference: float
    largest_importance_difference: float

    @property
    def changed(self) -> list[Pair]:
        """Memories that say different things in the two editions."""
        return [each for each in self.pairs if each.current.digest != each.rebuilt.digest]


def compare(current: ComparedNetwork, rebuilt: ComparedNetwork) -> Comparison:
    """Compare two editions. Nodes with the same origin are the same; their ids always differ."""
    ours, theirs = _keyed(current.nodes), _keyed(rebuilt.nodes)
    both = [Pair(ours[key], theirs[key]) for key in ours if key in theirs]
    names = {pair.current.id: pair.rebuilt.id for pair in both}
    linked = {
        (names.get(source, -source), names.get(target, -target)): strength
        for (source, target), strength in current.strengths.items()
    }
    same = linked.keys() & rebuilt.strengths.keys()
    strengths = (abs(linked[pair] - rebuilt.strengths[pair]) for pair in same)
    importances = (abs(each.current.importance - each.rebuilt.importance) for each in both)
    memories = [each for each in both if each.current.entity_key is None]
    return Comparison(
        pairs=sorted(memories, key=lambda each: _rank(each.current)),
        only_current=_memories(node for key, node in ours.items() if key not in theirs),
        only_rebuilt=_memories(node for key, node in theirs.items() if key not in ours),
        same_links=len(same),
        links_only_current=len(linked) - len(same),
        links_only_rebuilt=len(rebuilt.strengths) - len(same),
        largest_strength_difference=max(strengths, default=0.0),
        largest_importance_difference=max(importances, default=0.0),
    )


def _keyed(nodes: Sequence[ComparedNode]) -> dict[tuple[Hashable, int], ComparedNode]:
    """Return nodes by their origin; nodes of the same origin are numbered in order."""
    found: dict[tuple[Hashable, int], ComparedNode] = {}
    seen: Counter[Hashable] = Counter()
    for node in nodes:
        made_of: Hashable = node.entity_key
        if node.entity_key is None:
            made_of = node.seqs, node.original_length
        found[made_of, seen[made_of]] = node
        seen[made_of] += 1
    return found


def _memories(nodes: Iterable[ComparedNode]) -> list[ComparedNode]:
    return sorted((node for node in nodes if node.entity_key is None), key=_rank)


def _rank(node: ComparedNode) -> tuple[float, int]:
    return -node.importance, node.id
