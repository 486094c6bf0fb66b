"""``memci.memory.rebuild``: replays the events of a network into a new edition (M24).

One entry of the replay log, or a part of a pass, is one job, which queues the next one in its own
effect: the agent's other jobs run in between, and a worker that dies loses one step.

The handlers of the events run again, on a database that shows them the rebuilt network.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from random import Random
from typing import Any, TypeAlias
from uuid import UUID

from memci.domain.job import Job, JobKind
from memci.domain.memory.compression_scan import PassCursor
from memci.domain.memory.network_edition import Edition, EditionState, ReplayEntry, ReplayEvent
from memci.domain.memory.parameters import MemoryParameters
from memci.errors import SmallModelUnavailableError
from memci.jobs.compression_pass import BATCH, BatchScan
from memci.jobs.consolidate import Consolidation, utc_now
from memci.jobs.create import MemoryCreation
from memci.jobs.index import BATCH as REEMBEDDED
from memci.jobs.index import check_embedder
from memci.jobs.network_growth import note_short_terms
from memci.jobs.restore_memory import MemoryRestoring
from memci.language.names import Entity
from memci.queue.job_requests import request_rebuild_step
from memci.queue.lease import current_lease
from memci.queue.runner import Effect
from memci.smallmodel.registry import SmallModels
from memci.storage.agents import parameters_of
from memci.storage.network import edits, network_editions, passes
from memci.storage.search.reembedding import StaleTexts, replace_vectors, stale_nodes
from memci.storage.search.vectors import VectorModel
from memci.storage.session import Connection, Database, use_edition

# Writes an entry, or a part of it, into the rebuilt network; returns the state of the edition.
Act: TypeAlias = Callable[[Connection], Edition]

# A pass is cut into steps of about this length where a model is asked: jobs run in between.
_STEP_S = 1.0
# A time after all next tries of nodes: the job that replays the pass waits instead.
_FAR_FUTURE = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class NetworkRebuild:
    """Takes an edition one step further; a job of one that is dropped does nothing."""

    kind = JobKind.REBUILD
    triggers_compression = False
    database: Database
    models: SmallModels
    defaults: MemoryParameters  # of agents that set none; all agents' are today's
    clock: Callable[[], datetime] = utc_now

    def prepare(self, job: Job) -> Effect:
        """Find the next event, and think about it."""
        agent_id = job.agent_id
        with self.database.agent_snapshot(agent_id) as connection:
            edition = network_editions.open_edition(connection, agent_id)
            if edition is None or edition.number != job.payload["edition"]:
                return lambda _: {"replayed": 0}
            entry = network_editions.next_entry(connection, agent_id, edition)
            stale = network_editions.has_stale_vectors(connection, agent_id)
        if stale:
            # First, since memories are compared by vectors of one embedder.
            act = self._reembed(agent_id, edition)
        else:
            act = None if entry is None else self._replay(agent_id, edition, entry)
        return partial(self._write, agent_id=agent_id, edition=edition, act=act)

    def _reembed(self, agent_id: str, edition: Edition) -> Act | None:
        """Replace vectors that another embedder made; return None if there are none.

        The job that replaces those of the current network also replaces those of messages.
        """
        database, embedder = self.database.on_edition(), self.models.embedder
        model = VectorModel(embedder.model, embedder.dimension)
        with database.agent_snapshot(agent_id) as connection:
            check_embedder(connection, database, embedder)
            stale = StaleTexts({}, stale_nodes(connection, agent_id, model, 0, REEMBEDDED), {})
        if not stale.nodes:
            return None
        vectors = embedder.embed(stale.texts)

        def act(connection: Connection) -> Edition:
            replace_vectors(connection, agent_id, stale, vectors, model)
            return edition

        return act

    def _replay(self, agent_id: str, edition: Edition, entry: ReplayEntry) -> Act:
        """Read and think as the handler of the event does; raises as it does."""
        if entry.event is ReplayEvent.SCANNED:
            return self._scan(agent_id, edition, entry)
        effect = self._effect(agent_id, edition, entry)

        def act(connection: Connection) -> Edition:
            if effect is not None:
                effect(connection)
            return edition.after(entry)

        return act

    def _effect(
        self, agent_id: str, edition: Edition, entry: ReplayEntry
    ) -> Callable[[Connection], object] | None:
        """Return what writes the event; None for a memory of which messages are missing."""
        if entry.job_id is None:
            raise ValueError(f"the replay log has no job at place {entry.place}")
        database, models, defaults = self.database.on_edition(), self.models, self.defaults
        job_id, seqs, details = entry.job_id, edition.seqs_of(entry), entry.details
        if entry.event is ReplayEvent.MENTIONED:
            return partial(self._mention, agent_id=agent_id, name=details["entity"], job_id=job_id)
        if entry.event is ReplayEvent.CONSOLIDATED:
            consolidation = Consolidation(database, defaults, models.embedder)
            return consolidation.replay(agent_id, job_id, details)
        if entry.event is ReplayEvent.CREATED:
            creation = MemoryCreation(database, models, defaults)
            return creation.replay(agent_id, job_id, seqs, details)
        if len(seqs) < len(entry.seqs):
            return None
        if entry.event is not ReplayEvent.RESTORED:
            return partial(edits.replay, agent_id=agent_id, entry=entry)
        return MemoryRestoring(database, models, defaults).replay(agent_id, job_id, details)

    def _mention(self, connection: Connection, *, agent_id: str, name: str, job_id: UUID) -> None:
        parameters = parameters_of(connection, agent_id, self.defaults)
        passes.mention_entity(connection, agent_id, Entity.named(name), parameters, job_id)

    def _scan(self, agent_id: str, edition: Edition, entry: ReplayEntry) -> Act:
        """Scan a batch of nodes of a pass that is replayed."""
        database, number = self.database.on_edition(), entry.pass_number
        done = edition.scanned if edition.place == entry.place else 0
        wanted = BATCH if entry.ended else min(BATCH, entry.scanned - done)
        with database.agent_snapshot(agent_id) as connection:
            check_embedder(connection, database, self.models.embedder)
            parameters = parameters_of(connection, agent_id, self.defaults)
            batch = passes.next_batch(connection, agent_id, number, _FAR_FUTURE, wanted)
            lease = current_lease(connection, database, agent_id)
        cursor = PassCursor(number, request=0, fence=lease.fence)
        scan = BatchScan(lease, cursor, self.models, parameters, self.clock, Random())
        deadline = time.monotonic() + _STEP_S
        scan.run(batch, time_is_up=lambda: time.monotonic() >= deadline)
        if batch.nodes and not scan.outcome.scanned:
            raise SmallModelUnavailableError(retry_after_s=_wait_s(scan, self.clock()))

        def act(connection: Connection) -> Edition:
            _, last_pass = passes.position(connection, agent_id)
            if last_pass < number:
                # The row is deleted when this network becomes the current one.
                passes.open_pass(connection, agent_id, number, message_seq=0)
            if batch.nodes:
                scan.write(connection, batch.focus)
            settled = not passes.left_of_pass(connection, agent_id, number, _FAR_FUTURE).nodes
            if settled and entry.ended:
                passes.close_pass(connection, agent_id, number)
            return edition.after(entry, scanned=scan.outcome.scanned, settled=settled)

        return act

    def _write(
        self, connection: Connection, *, agent_id: str, edition: Edition, act: Act | None
    ) -> Mapping[str, Any]:
        """Write a step; ``act`` is None if there was nothing left to replay."""
        now = network_editions.open_edition(connection, agent_id)
        if now is None or replace(now, state=edition.state) != edition:
            return {"replayed": 0}  # dropped meanwhile
        if act is None:
            return self._finish(connection, agent_id, now)
        with use_edition(connection):
            done = act(connection)
        network_editions.save_edition(connection, agent_id, replace(done, state=now.state))
        request_rebuild_step(connection, agent_id, now.number)
        return {"replayed": int(done != edition)}

    def _finish(self, connection: Connection, agent_id: str, edition: Edition) -> Mapping[str, Any]:
        """Become ready, or switch, unless there are new events since the log was read."""
        if network_editions.next_entry(
            connection, agent_id, edition
        ) or network_editions.has_stale_vectors(connection, agent_id):
            request_rebuild_step(connection, agent_id, edition.number)
            return {"replayed": 0}
        state = EditionState.READY
        with use_edition(connection):
            edits.remove_withheld(connection, agent_id)
        if edition.state is EditionState.SWITCHING:
            network_editions.switch_networks(connection, agent_id)
            parameters = parameters_of(connection, agent_id, self.defaults)
            note_short_terms(connection, agent_id, parameters)
            state = EditionState.SWITCHED
        network_editions.save_edition(connection, agent_id, replace(edition, state=state))
        return {"replayed": 0, "state": state}


def _wait_s(scan: BatchScan, now: datetime) -> float:
    """Return how long to wait until the first node may be tried again."""
    waits = [*scan.outcome.waiting.values(), *([scan.retry_at] if scan.retry_at else [])]
    return max(0.0, (min(waits) - now).total_seconds()) if waits else 0.0
