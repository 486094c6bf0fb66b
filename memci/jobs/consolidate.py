"""``memci.memory.consolidate``: alike memories are merged, short terms come to an end (R5)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from memci.domain.lane.job import Job
from memci.domain.memory.parameters import MemoryParameters
from memci.domain.memory.replay import ReplayEvent
from memci.domain.memory.tier import Promotion, Settled, promotion
from memci.jobs.alike import Alike
from memci.jobs.short_terms import note_short_terms
from memci.queue.consolidation import CONSOLIDATE_KIND
from memci.queue.handler import Effect
from memci.storage.parameters import parameters_of
from memci.storage.passes import position
from memci.storage.replay_log import log_event
from memci.storage.session import Connection, Database
from memci.storage.short_memories import (
    Term,
    due_memories,
    made_of,
    mark_compared,
    settle,
)

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
