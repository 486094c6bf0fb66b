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
from memci.domain.memory.parameters import MemoryParameters
from memci.domain.memory.replay import ReplayEvent
from memci.domain.memory.tier import Promotion, Settled, promotion
from memci.jobs.short_terms import HOUR_S, MOST_COMPARED, note_short_terms
from memci.queue.consolidation import CONSOLIDATE_KIND
from memci.queue.handler import Effect
from memci.storage.parameters import parameters_of
from memci.storage.passes import position
from memci.storage.replay_log import log_event
from memci.storage.session import Connection, Database
from memci.storage.short_memories import (
    Term,
    alike_pairs,
    due_memories,
    made_of,
    mark_compared,
    settle,
    short_memories,
    young_memories,
)
from memci.storage.trail import TrailEvent, append_trail
from memci.storage.versions import links_at, merge, new_node_id


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

    def again(self, agent_id: str, job_id: UUID, details: Mapping[str, Any]) -> Effect:
        """Do so as an earlier job did, for a network that is rebuilt (M24).

        It settles what that job did, as ``details`` tell: when a session ended, and what was read
        by then, is known no more.
        """
        now = datetime.fromisoformat(details["at"])
        return self._find(
            agent_id, job_id, now, [Settled.read(each) for each in details["settled"]]
        )

    def _find(
        self, agent_id: str, job_id: UUID, now: datetime, again: Sequence[Settled] | None = None
    ) -> Effect:
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
    again: Sequence[Settled] | None

    def __call__(self, connection: Connection) -> Mapping[str, Any]:
        _, pass_number = position(connection, self.agent_id)
        mark_compared(connection, self.agent_id, self.found.compared)
        made = [self._merge(connection, group, pass_number) for group in self.found.groups]
        merges = [each for each in made if each is not None]
        settled = self._settle(connection, pass_number)
        if merges or settled or self.found.compared:
            written = [each.written() for each in settled]
            details = {"at": self.now.isoformat(), "settled": written}
            event = ReplayEvent.CONSOLIDATED
            log_event(connection, self.agent_id, event, self.job_id, details=details)
        if self.again is None:
            note_short_terms(connection, self.agent_id, self.parameters)
        return {
            "compared": len(self.found.compared),
            "merged": sum(count for _, count in merges),
            "nodes": [node for node, _ in merges],
            "settled": len(settled),
            "promoted": sum(each.reason is not None for each in settled),
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

    def _settle(self, connection: Connection, pass_number: int) -> list[Settled]:
        """End the short terms that are over; return which, and what spoke for each."""
        term = Term(
            self.now,
            silence_s=self.parameters.session_silence_hours * HOUR_S,
            over=not self.parameters.tiered_memory_enabled,
        )
        judged = self._judged(connection, term)
        sources = made_of(connection, self.agent_id, list(judged))
        settle(connection, self.agent_id, judged, term, pass_number)
        return [Settled(source, judged[node]) for node, source in sources.items()]

    def _judged(self, connection: Connection, term: Term) -> dict[int, Promotion | None]:
        if self.again is None:
            due = due_memories(connection, self.agent_id, term)
            return {each.node_id: promotion(each, self.parameters) for each in due}
        short = made_of(connection, self.agent_id) if self.again else {}
        reasons = {each.source: each.reason for each in self.again}
        return {node: reasons[source] for node, source in short.items() if source in reasons}
