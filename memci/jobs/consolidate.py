"""``memci.memory.consolidate``: merges equal memories and ends short terms (R5, M9)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Self
from uuid import UUID

from memci.domain.job import Job, JobKind
from memci.domain.memory.consolidation import ALIKE_COSINE, Merge, ShortMemory, groups, merged
from memci.domain.memory.edition import ReplayEvent
from memci.domain.memory.node import Link
from memci.domain.memory.parameters import MemoryParameters
from memci.domain.memory.tier import Promotion, Settled, promotion
from memci.jobs.network_growth import MOST_COMPARED, note_short_terms
from memci.queue.runner import Effect
from memci.storage.agents import parameters_of
from memci.storage.network.editions import log_event
from memci.storage.network.node_history import passages_of
from memci.storage.network.passes import position
from memci.storage.network.short_term import (
    Term,
    alike_pairs,
    due_memories,
    links_at,
    made_of,
    mark_compared,
    new_node_ids,
    settle,
    short_memories,
    write_merges,
    young_memories,
)
from memci.storage.session import Connection, Database


@dataclass(frozen=True, slots=True)
class Alike:
    """Memories that were compared with all others, and groups of them that tell the same.

    ``left_out``: there are more groups, whose memories are to be compared once more.
    """

    compared: Sequence[int]
    groups: Sequence[tuple[int, ...]]
    memories: Mapping[int, ShortMemory]
    left_out: bool = False

    @classmethod
    def find(cls, connection: Connection, agent_id: str) -> Self:
        """Compare those that have not been compared yet; write nothing."""
        young = young_memories(connection, agent_id, MOST_COMPARED)
        pairs = alike_pairs(connection, agent_id, young, ALIKE_COSINE)
        memories = short_memories(connection, agent_id, {node for pair in pairs for node in pair})
        alike = [pair for pair in pairs if memories.keys() >= set(pair)]
        return cls(young, groups(memories, alike), memories)

    def first(self, most: int) -> Self:
        """Return it with at most so many groups."""
        left = {node for group in self.groups[most:] for node in group}
        compared = [node for node in self.compared if node not in left]
        return replace(self, compared=compared, groups=self.groups[:most], left_out=bool(left))

    def merge(
        self, connection: Connection, agent_id: str, job_id: UUID, pass_number: int
    ) -> list[Merge]:
        """Merge the groups of which all are still as they were; the lane must be locked.

        A memory without a link would be forgotten at once: what is linked among itself alone stays
        as it is.
        """
        nodes = [node for group in self.groups for node in group]
        now = short_memories(connection, agent_id, nodes)
        links = links_at(connection, agent_id, nodes) if now else []
        held = self._held(links)
        going = [
            group
            for group in self.groups
            if group in held and all(now.get(node) == self.memories[node] for node in group)
        ]
        merges = self._planned(connection, agent_id, going)
        write_merges(connection, agent_id, merges, links, pass_number, str(job_id))
        return merges

    def _held(self, links: Sequence[Link]) -> set[tuple[int, ...]]:
        """Return the groups of which a link leads to something else."""
        group_of = {node: group for group in self.groups for node in group}
        return {
            group_of[link.source]
            for link in links
            if link.source in group_of and link.target not in group_of[link.source]
        }

    def _planned(
        self, connection: Connection, agent_id: str, going: Sequence[tuple[int, ...]]
    ) -> list[Merge]:
        if not going:
            return []
        made_of = passages_of(connection, agent_id, [node for group in going for node in group])
        new_ids = new_node_ids(connection, agent_id, len(going))
        merges = []
        for group, new in zip(going, new_ids, strict=True):
            whole, teller = merged([self.memories[node] for node in group], new)
            passages = tuple(passage for node in group for passage in made_of[node])
            merges.append(Merge(whole, teller, group, passages))
        return merges


# Groups that one job merges, so that the lane is not locked for long; the rest go to the next.
MOST_MERGED = 100
_ALL = 2**31


def utc_now() -> datetime:
    """Return the time, aware UTC."""
    return datetime.now(UTC)


class Consolidation:
    """Merges what was said twice in a session and day, then judges those whose term is over.

    Needs no model: the merged memory has the text, and so the vector, of the one that says most.
    """

    kind = JobKind.CONSOLIDATE
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
        return self._find(job.agent_id, job.id, self._clock(), MOST_MERGED)

    def again(self, agent_id: str, job_id: UUID, details: Mapping[str, Any]) -> Effect:
        """Do so as an earlier job did, for a network that is rebuilt (M24).

        It takes as many groups and settles what that job did, as ``details`` tell: when a session
        ended, and what was read by then, is known no more.
        """
        now = datetime.fromisoformat(details["at"])
        settled = [Settled.read(each) for each in details["settled"]]
        # Older logs do not tell: there was no limit.
        return self._find(agent_id, job_id, now, details.get("groups", _ALL), settled)

    def _find(
        self,
        agent_id: str,
        job_id: UUID,
        now: datetime,
        most: int,
        again: Sequence[Settled] | None = None,
    ) -> Effect:
        with self._database.agent_snapshot(agent_id) as connection:
            parameters = parameters_of(connection, agent_id, self._defaults)
            found = Alike((), (), {})
            if parameters.simplemem_enabled:
                found = Alike.find(connection, agent_id).first(most)
        return _Effect(agent_id, job_id, parameters, found, now, again)


@dataclass(frozen=True, slots=True)
class _Effect:
    agent_id: str
    job_id: UUID
    parameters: MemoryParameters
    found: Alike
    now: datetime
    again: Sequence[Settled] | None

    def __call__(self, connection: Connection) -> Mapping[str, Any]:
        _, pass_number = position(connection, self.agent_id)
        mark_compared(connection, self.agent_id, self.found.compared)
        merges = self.found.merge(connection, self.agent_id, self.job_id, pass_number)
        settled = self._settle(connection, pass_number)
        if merges or settled or self.found.compared:
            self._log(connection, settled)
        if self.again is None:
            left_out = self.found.left_out
            note_short_terms(connection, self.agent_id, self.parameters, left_out=left_out)
        return {
            "compared": len(self.found.compared),
            "merged": sum(len(each.group) for each in merges),
            "nodes": [each.whole.id for each in merges],
            "settled": len(settled),
            "promoted": sum(each.reason is not None for each in settled),
        }

    def _log(self, connection: Connection, settled: Sequence[Settled]) -> None:
        details = {
            "at": self.now.isoformat(),
            "settled": [each.written() for each in settled],
            "groups": len(self.found.groups),
        }
        event = ReplayEvent.CONSOLIDATED
        log_event(connection, self.agent_id, event, self.job_id, details=details)

    def _settle(self, connection: Connection, pass_number: int) -> list[Settled]:
        """End the short terms that are over; return which, and what spoke for each."""
        term = Term(
            self.now,
            silence=self.parameters.session_silence,
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
