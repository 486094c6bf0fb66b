"""``memci.memory.consolidate``: alike memories are merged, short terms come to an end (R5)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from memci.domain.lane.job import Job
from memci.domain.memory.consolidation import (
    ALIKE_COSINE,
    ShortMemory,
    groups,
    joined_links,
    merged,
)
from memci.domain.memory.creation import Creation
from memci.domain.memory.node import NodeKind, NodeTier
from memci.domain.memory.parameters import MemoryParameters
from memci.domain.memory.replay import ReplayEvent
from memci.domain.memory.tier import promotion
from memci.queue.consolidation import CONSOLIDATE_KIND, ask_next
from memci.queue.handler import Effect
from memci.storage.parameters import parameters_of
from memci.storage.passes import position
from memci.storage.replay_log import log_event
from memci.storage.session import Connection, Database
from memci.storage.short_memories import (
    Term,
    alike_pairs,
    due_memories,
    mark_compared,
    next_end,
    settle,
    short_memories,
    young_memories,
)
from memci.storage.short_terms import count_new, note_end, note_new
from memci.storage.trail import TrailEvent, append_trail
from memci.storage.versions import links_at, merge, new_node_id

# New memories that one job compares with the others: a second's work where there are 10,000.
MOST_COMPARED = 500
_HOUR_S = 3600


def utc_now() -> datetime:
    """Return the time, aware UTC."""
    return datetime.now(UTC)


class Consolidation:
    """Merges what was said twice in a session and day, then judges those whose term is over.

    Needs no model: the merged memory has the text, and so the vector, of the one that says most.
    """

    kind = CONSOLIDATE_KIND
    triggers_compression = False

    def __init__(
        self,
        database: Database,
        defaults: MemoryParameters,
        *,
        clock: Callable[[], datetime] = utc_now,
    ) -> None:
        """Take the parameters of agents that set none."""
        self._database = database
        self._defaults = defaults
        self._clock = clock

    def prepare(self, job: Job) -> Effect:
        """Find which memories tell the same; the effect looks whether they still do."""
        return self._find(job.agent_id, job.id, self._clock())

    def again(self, agent_id: str, job_id: UUID, now: datetime) -> Effect:
        """Do so as an earlier job did at ``now``, for a network that is rebuilt (M24)."""
        return self._find(agent_id, job_id, now, again=True)

    def _find(self, agent_id: str, job_id: UUID, now: datetime, *, again: bool = False) -> Effect:
        with self._database.agent_snapshot(agent_id) as connection:
            parameters = parameters_of(connection, agent_id, self._defaults)
            found = _Found((), (), {})
            if parameters.simplemem_enabled:
                found = _find(connection, agent_id)
        return _Effect(agent_id, job_id, parameters, found, now, again)


@dataclass(frozen=True, slots=True)
class _Found:
    """Memories that were compared with all others, and groups of them that tell the same."""

    compared: Sequence[int]
    groups: Sequence[tuple[int, ...]]
    memories: Mapping[int, ShortMemory]


def _find(connection: Connection, agent_id: str) -> _Found:
    young = young_memories(connection, agent_id, MOST_COMPARED)
    pairs = alike_pairs(connection, agent_id, young, ALIKE_COSINE)
    memories = short_memories(connection, agent_id, {node for pair in pairs for node in pair})
    alike = [pair for pair in pairs if memories.keys() >= set(pair)]
    return _Found(young, groups(memories, alike), memories)


@dataclass(frozen=True, slots=True)
class _Effect:
    agent_id: str
    job_id: UUID
    parameters: MemoryParameters
    found: _Found
    now: datetime
    again: bool

    def __call__(self, connection: Connection) -> Mapping[str, Any]:
        _, pass_number = position(connection, self.agent_id)
        mark_compared(connection, self.agent_id, self.found.compared)
        made = [self._merge(connection, group, pass_number) for group in self.found.groups]
        merges = [each for each in made if each is not None]
        settled, promoted = self._settle(connection, pass_number)
        if merges or settled or self.found.compared:
            details = {"at": self.now.isoformat()}
            event = ReplayEvent.CONSOLIDATED
            log_event(connection, self.agent_id, event, self.job_id, details=details)
        if not self.again:
            self._note(connection)
        return {
            "compared": len(self.found.compared),
            "merged": sum(count for _, count in merges),
            "nodes": [node for node, _ in merges],
            "settled": settled,
            "promoted": promoted,
        }

    def _merge(
        self, connection: Connection, group: tuple[int, ...], pass_number: int
    ) -> tuple[int, int] | None:
        """Merge a group, unless one of it is no longer as it was; return the new id and how many.

        A memory without a link would be forgotten at once: what is linked among itself alone stays
        as it is.
        """
        memories = short_memories(connection, self.agent_id, group)
        if any(memories.get(node) != self.found.memories[node] for node in group):
            return None
        links = joined_links(links_at(connection, self.agent_id, group), group, 0)
        if not any(link.source == 0 for link in links):
            return None
        new = new_node_id(connection, self.agent_id)
        whole, teller = merged([memories[node] for node in group], new)
        merge(connection, self.agent_id, group, whole, teller, pass_number)
        details = {"job": str(self.job_id), "messages": whole.seqs, "from": list(group)}
        append_trail(connection, self.agent_id, TrailEvent.CREATED, pass_number, {new: details})
        return new, len(group)

    def _settle(self, connection: Connection, pass_number: int) -> tuple[int, int]:
        """Judge the memories whose term is over; return how many, and how many were promoted."""
        term = Term(
            self.now,
            silence_s=self.parameters.session_silence_hours * _HOUR_S,
            over=not self.parameters.tiered_memory_enabled,
        )
        due = due_memories(connection, self.agent_id, term)
        judged = {each.node_id: promotion(each, self.parameters) for each in due}
        settle(connection, self.agent_id, judged, term, pass_number)
        return len(judged), sum(why is not None for why in judged.values())

    def _note(self, connection: Connection) -> None:
        silence_s = self.parameters.session_silence_hours * _HOUR_S
        note_end(connection, self.agent_id, next_end(connection, self.agent_id, silence_s))
        left = 0
        if self.parameters.simplemem_enabled:
            left = len(young_memories(connection, self.agent_id, MOST_COMPARED))
        count_new(connection, self.agent_id, left)
        if left == MOST_COMPARED:
            ask_next(connection, self.agent_id)


def note_created(
    connection: Connection, agent_id: str, creation: Creation, parameters: MemoryParameters
) -> None:
    """Count the memories of a creation, and ask for consolidation when there are enough (R5).

    Part of the creation's effect: by it upkeep finds short terms that are over.
    """
    memories = [node for node in creation.nodes if node.kind is NodeKind.MEMORY]
    if not memories:
        return
    ends = (node.expires_at for node in memories if node.tier is NodeTier.SHORT)
    first = min((end for end in ends if end is not None), default=None)
    silence_s = parameters.session_silence_hours * _HOUR_S
    new = note_new(connection, agent_id, len(memories), first, silence_s=silence_s)
    if parameters.simplemem_enabled and new >= parameters.consolidation_interval:
        count_new(connection, agent_id, 0)
        ask_next(connection, agent_id)
