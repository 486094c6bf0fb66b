"""``memci.memory.consolidate`` merges memories and ends short terms (R5); ``memci.link.drop``."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Self
from uuid import UUID

from memci.domain.job import Job, JobKind
from memci.domain.memory import consolidation
from memci.domain.memory.network_edition import ReplayEvent
from memci.domain.memory.node import EndedTerm, Promotion, promotion
from memci.domain.memory.parameters import MemoryParameters
from memci.jobs.network_growth import MAX_COMPARED, note_short_terms
from memci.queue.runner import Effect
from memci.smallmodel.ports import Embedder
from memci.storage.agents import parameters_of
from memci.storage.network import short_term_memories as short_term
from memci.storage.network.links import drop_dangling
from memci.storage.network.network_editions import log_event
from memci.storage.network.node_history import passages_of
from memci.storage.network.passes import position
from memci.storage.session import Connection, Database

Group = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class SimilarGroups:
    """Groups of memories that tell the same, by id."""

    compared: Sequence[int]  # memories that were compared with all others
    groups: Sequence[Group]
    memories: Mapping[int, consolidation.ShortMemory]
    left_out: bool = False  # there are more groups, whose memories are to be compared again

    @classmethod
    def find(cls, connection: Connection, agent_id: str, embedder: Embedder) -> Self:
        """Compare the memories that have not been compared yet; write nothing."""
        young = short_term.young_memories(connection, agent_id, MAX_COMPARED)
        pairs = short_term.alike_pairs(
            connection, agent_id, young, embedder.space.cosine(consolidation.SIMILAR)
        )
        ids = {node for pair in pairs for node in pair}
        memories = short_term.short_memories(connection, agent_id, ids)
        similar = [pair for pair in pairs if memories.keys() >= set(pair)]
        return cls(young, consolidation.groups(memories, similar), memories)

    def first(self, count: int) -> Self:
        """Return the first ``count`` groups, without the memories of the others."""
        left = {node for group in self.groups[count:] for node in group}
        compared = [node for node in self.compared if node not in left]
        return replace(self, compared=compared, groups=self.groups[:count], left_out=bool(left))

    def merge(
        self, connection: Connection, agent_id: str, job_id: UUID, pass_number: int
    ) -> list[consolidation.Merge]:
        """Merge the groups whose memories are all unchanged; the lane must be locked.

        A group that is linked only among itself stays as it is: a memory without a link would be
        forgotten at once.
        """
        nodes = [node for group in self.groups for node in group]
        now = short_term.short_memories(connection, agent_id, nodes)
        links = short_term.links_at(connection, agent_id, nodes) if now else []
        group_of = {node: group for group in self.groups for node in group}
        linked = {
            group_of[link.source]
            for link in links
            if link.source in group_of and link.target not in group_of[link.source]
        }
        unchanged = [
            group
            for group in self.groups
            if group in linked and all(now.get(node) == self.memories[node] for node in group)
        ]
        merges = self._plan_merges(connection, agent_id, unchanged)
        short_term.write_merges(connection, agent_id, merges, links, pass_number, str(job_id))
        return merges

    def _plan_merges(
        self, connection: Connection, agent_id: str, groups: Sequence[Group]
    ) -> list[consolidation.Merge]:
        if not groups:
            return []
        passages_by_id = passages_of(connection, agent_id, [n for group in groups for n in group])
        new_ids = short_term.new_node_ids(connection, agent_id, len(groups))
        merges = []
        for group, new in zip(groups, new_ids, strict=True):
            memories = [self.memories[node] for node in group]
            passages = tuple(passage for node in group for passage in passages_by_id[node])
            merges.append(
                consolidation.Merge(*consolidation.merged(memories, new), group, passages)
            )
        return merges


# Groups that one job merges, so that the lane is not locked for long; the next job merges more.
MAX_MERGED = 100


def utc_now() -> datetime:
    """Return the time, aware UTC."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Consolidation:
    """Merges memories of a session and day that tell the same, then ends short terms that are over.

    Needs no model: the merged memory has the text and vector of one of them.
    """

    kind = JobKind.CONSOLIDATE
    triggers_compression = False

    database: Database
    defaults: MemoryParameters  # of agents that set none
    embedder: Embedder  # which made the vectors
    clock: Callable[[], datetime] = utc_now

    def prepare(self, job: Job) -> Effect:
        """Find memories that tell the same; the effect merges those that are unchanged."""
        return self._find(job.agent_id, job.id, self.clock(), MAX_MERGED)

    def replay(self, agent_id: str, job_id: UUID, details: Mapping[str, Any]) -> Effect:
        """Repeat an earlier job by its logged ``details``, for a network that is rebuilt (M24)."""
        now = datetime.fromisoformat(details["at"])
        ended = [EndedTerm.read(each) for each in details["settled"]]
        return self._find(agent_id, job_id, now, details["groups"], ended)

    def _find(
        self,
        agent_id: str,
        job_id: UUID,
        now: datetime,
        max_groups: int,
        replayed: Sequence[EndedTerm] | None = None,
    ) -> Effect:
        with self.database.agent_snapshot(agent_id) as connection:
            parameters = parameters_of(connection, agent_id, self.defaults)
            found = SimilarGroups((), (), {})
            if parameters.simplemem_enabled:
                found = SimilarGroups.find(connection, agent_id, self.embedder).first(max_groups)
        return _Effect(agent_id, job_id, parameters, found, now, replayed)


@dataclass(frozen=True, slots=True)
class _Effect:
    agent_id: str
    job_id: UUID
    parameters: MemoryParameters
    found: SimilarGroups
    now: datetime
    replayed: Sequence[EndedTerm] | None

    def __call__(self, connection: Connection) -> Mapping[str, Any]:
        agent_id, found = self.agent_id, self.found
        _, pass_number = position(connection, agent_id)
        short_term.mark_compared(connection, agent_id, found.compared)
        merges = found.merge(connection, agent_id, self.job_id, pass_number)
        ended = self._end_terms(connection, pass_number)
        if merges or ended or found.compared:
            details = {
                "at": self.now.isoformat(),
                "settled": [each.written() for each in ended],
                "groups": len(found.groups),
            }
            event = ReplayEvent.CONSOLIDATED
            log_event(connection, agent_id, event, self.job_id, details=details)
        if self.replayed is None:
            note_short_terms(connection, agent_id, self.parameters, left_out=found.left_out)
        return {
            "compared": len(found.compared),
            "merged": sum(len(each.group) for each in merges),
            "nodes": [each.node.id for each in merges],
            "settled": len(ended),
            "promoted": sum(each.reason is not None for each in ended),
        }

    def _end_terms(self, connection: Connection, pass_number: int) -> list[EndedTerm]:
        """End the short terms that are over; return which, and why their memory is promoted."""
        term = short_term.Term(
            self.now,
            silence=self.parameters.session_silence,
            over=not self.parameters.tiered_memory_enabled,
        )
        reasons: dict[int, Promotion | None]
        if self.replayed is None:
            due = short_term.due_memories(connection, self.agent_id, term)
            reasons = {each.node_id: promotion(each, self.parameters) for each in due}
        else:
            made = short_term.made_of(connection, self.agent_id) if self.replayed else {}
            logged = {each.source: each.reason for each in self.replayed}
            reasons = {node: logged[source] for node, source in made.items() if source in logged}
        sources = short_term.made_of(connection, self.agent_id, list(reasons))
        short_term.settle(connection, self.agent_id, reasons, term, pass_number)
        return [EndedTerm(source, reasons[node]) for node, source in sources.items()]


@dataclass(frozen=True, slots=True)
class LinkDropping:
    """Removes all links to the forgotten nodes that the payload names as ``targets`` (M15)."""

    kind = JobKind.DROP_LINKS
    triggers_compression = False

    defaults: MemoryParameters  # of agents that set none

    def prepare(self, job: Job) -> Effect:
        """Return the effect; it does nothing if the agent keeps dangling links by now."""

        def effect(connection: Connection) -> Mapping[str, Any]:
            if not parameters_of(connection, job.agent_id, self.defaults).drops_on_visit:
                return {"dropped": 0}
            return {"dropped": drop_dangling(connection, job.agent_id, job.payload["targets"])}

        return effect
