"""Rebuilds the network of an ``AgentUnderTest`` step by step, as its lane does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Protocol
from uuid import UUID

from memci.commands import edit_memories, network_changes, rebuild
from memci.domain.job import Job, JobKind
from memci.domain.memory.network_edition import Comparison, compare
from memci.jobs.consolidate import Consolidation
from memci.jobs.rebuild import NetworkRebuild
from memci.jobs.restore_memory import MemoryRestoring
from memci.queue.intake import Intake
from memci.queue.lease import Lease
from memci.queue.runner import Effect
from memci.schemas.memories import AddRequest, DeleteAnswer, EditAnswer, NewMemory, NumberedEdit
from memci.schemas.network_editions import EditionAnswer
from memci.storage.reading.network_history import compared_network
from memci.storage.session import use_edition
from tests.support.network import AgentUnderTest


class NoWakeups:
    """Publishes no wakeups: the test runs the queued jobs."""

    def wake_lane(self, agent_id: str) -> None:
        del agent_id

    def wake_compress(self, agent_id: str) -> None:
        del agent_id


class _Prepares(Protocol):
    def prepare(self, job: Job) -> Effect: ...


class Rebuilding:
    """Commands of a user, and the work of the lane after them."""

    def __init__(self, ada: AgentUnderTest) -> None:
        self.ada = ada
        self._wakeups: Any = NoWakeups()

    # Commands of a user.

    def begin(self, up_to_seq: int | None = None) -> EditionAnswer:
        return rebuild.begin(
            self.ada.database, self._wakeups, self.ada.agent_id, up_to_seq=up_to_seq
        )

    def switch(self) -> EditionAnswer:
        return rebuild.switch(self.ada.database, self._wakeups, self.ada.agent_id)

    def drop(self) -> EditionAnswer:
        return rebuild.drop(self.ada.database, self._wakeups, self.ada.agent_id)

    def show(self) -> EditionAnswer:
        return rebuild.show(self.ada.database, self.ada.agent_id)

    def restore(self, node_id: int) -> UUID:
        return network_changes.restore_memory(
            self.ada.database, self._wakeups, self.ada.agent_id, node_id
        ).job_id

    def mention(self, name: str) -> list[str]:
        """Return the focus, the latest mention first."""
        answer = network_changes.mention_in_focus(
            self.ada.database, self._wakeups, self.ada.agent_id, name, self.ada.parameters
        )
        return [point.name for point in answer.focus]

    def add(self, *texts: str) -> None:
        request = AddRequest(memories=tuple(NewMemory(text=text) for text in texts))
        intake = Intake(self.ada.database, self._wakeups)
        edit_memories.add(intake, self.ada.agent_id, request, None, redact="", paying=None)

    def edit(self, node_id: int, **change: Any) -> EditAnswer:
        changes = [NumberedEdit(node_id=node_id, **change)]
        return edit_memories.edit(
            self.ada.database, self._wakeups, self.ada.agent_id, changes, redact="", paying=None
        )

    def delete(self, *node_ids: int) -> DeleteAnswer:
        return edit_memories.delete(self.ada.database, self._wakeups, self.ada.agent_id, node_ids)

    # Work of the lane.

    def waiting(self) -> list[Job]:
        """The queued jobs of memory, without those of pages."""
        rows = self.ada.rows(
            "SELECT agent_id, id, ordinal, kind, payload, source, first_seq, last_seq, attempts,"
            " started, traceparent FROM job WHERE agent_id = %s AND state = 'queued'"
            " AND kind <> ALL(%s) ORDER BY ordinal",
            [JobKind.NAME_PAGES, JobKind.TRACK_MESSAGES],
        )
        return [Job(**row._mapping) for row in rows]

    def step(self) -> Mapping[str, Any]:
        """Run the first queued job; there must be one."""
        job = self.waiting()[0]
        with self.ada.lease_held() as lease:
            return self._run_on(lease, job)

    def run(self) -> int:
        """Run queued jobs and those that follow from them; return their number."""
        count = 0
        with self.ada.lease_held() as lease:
            while jobs := self.waiting():
                for job in jobs:
                    self._run_on(lease, job)
                count += len(jobs)
        return count

    def _run_on(self, lease: Lease, job: Job) -> Mapping[str, Any]:
        effect = self._handler(job.kind).prepare(job)
        with lease.effect() as connection:
            done = effect(connection)
            connection.exec_driver_sql("UPDATE job SET state = 'done' WHERE id = %s", (job.id,))
        return done

    def rebuilt(self, up_to_seq: int | None = None) -> Comparison:
        """Rebuild the whole network, and compare it with the current one."""
        self.begin(up_to_seq)
        self.run()
        return self.compared()

    def compared(self) -> Comparison:
        with self.ada.database.agent_snapshot(self.ada.agent_id) as connection:
            current = compared_network(connection, self.ada.agent_id)
            with use_edition(connection):
                return compare(current, compared_network(connection, self.ada.agent_id))

    def on_edition(self) -> AgentUnderTest:
        """The same agent with the rebuilt network."""
        return replace(self.ada, database=self.ada.database.on_edition(), known=True)

    def _handler(self, kind: str) -> _Prepares:
        ada = self.ada
        parts = (ada.database, ada.models, ada.parameters)
        handlers: dict[str, _Prepares] = {
            JobKind.CREATE: ada.creation(),
            MemoryRestoring.kind: MemoryRestoring(*parts),
            Consolidation.kind: Consolidation(
                ada.database, ada.parameters, ada.models.embedder, clock=ada.clock
            ),
            NetworkRebuild.kind: NetworkRebuild(*parts, clock=ada.clock),
        }
        return handlers[kind]


def is_same(found: Comparison) -> bool:
    """Tell whether two networks are the same, strengths and importances to 1e-9."""
    return (
        not found.only_current
        and not found.only_rebuilt
        and not found.changed
        and not found.links_only_current
        and not found.links_only_rebuilt
        and found.largest_strength_difference <= 1e-9
        and found.largest_importance_difference <= 1e-9
    )
