"""``memci.memory.rebuild``: replays the events of a network into a new edition (M24).

One entry of the replay log, or a part of a pass, is one job, which queues the next one in its own
effect: the agent's other jobs run in between, and a worker that dies loses one step.

The handlers of the events run again, on a database that shows them the rebuilt network.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
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
from memci.jobs.index import VectorGuard
from memci.jobs.network_growth import note_short_terms
from memci.jobs.restore_memory import MemoryRestoring
from memci.language.names import Entity
from memci.queue.job_requests import request_rebuild_step
from memci.queue.lease import Lease, current_lease
from memci.queue.runner import Effect
from memci.smallmodel.registry import SmallModels
from memci.storage.agents import parameters_of
from memci.storage.network import network_editions, passes
from memci.storage.search.reembedding import StaleTexts, replace_vectors, stale_nodes
from memci.storage.search.vectors import VectorModel
from memci.storage.session import Connection, Database, use_edition

# Writes an entry, or a part of it, into the rebuilt network; returns the state of the edition.
Act: TypeAlias = Callable[[Connection], Edition]

# A pass is cut into steps of about this length where a model is asked: jobs run in between.
_STEP_S = 1.0
# A time after all next tries of nodes: the job that replays the pass waits instead.
_FAR_FUTURE = datetime.max.replace(tzinfo=UTC)


class Replay:
    """Replays each kind of event."""

    def __init__(
        self,
        database: Database,
        models: SmallModels,
        defaults: MemoryParameters,
        *,
        clock: Callable[[], datetime] = utc_now,
    ) -> None:
        """Take the parameters of agents that set none; all agents' are today's."""
        self._database = database.on_edition()
        self._models = models
        self._defaults = defaults
        self._clock = clock
        self._guard = VectorGuard(self._database, models.embedder)
        self._creation = MemoryCreation(self._database, models, defaults)
        self._restoring = MemoryRestoring(self._database, models, defaults)
        self._consolidation = Consolidation(self._database, defaults, models.embedder)
        self._events: dict[ReplayEvent, Callable[[str, Edition, ReplayEntry], Act]] = {
            ReplayEvent.CREATED: self._create,
            ReplayEvent.SCANNED: self._scan,
            ReplayEvent.MENTIONED: self._mention,
            ReplayEvent.RESTORED: self._restore,
            ReplayEvent.CONSOLIDATED: self._consolidate,
        }

    def prepare(self, agent_id: str, edition: Edition, entry: ReplayEntry) -> Act:
        """Read and think as the handler of the event does; raises as it does."""
        return self._events[entry.event](agent_id, edition, entry)

    def reembed(self, agent_id: str, edition: Edition) -> Act | None:
        """Replace vectors that another embedder made; return None if there are none.

        The job that replaces those of the current network also replaces those of messages.
        """
        embedder = self._models.embedder
        model = VectorModel(embedder.model, embedder.dimension)
        with self._database.agent_snapshot(agent_id) as connection:
            self._guard.check(connection)
            stale = StaleTexts({}, stale_nodes(connection, agent_id, model, 0, REEMBEDDED), {})
        if not stale.nodes:
            return None
        vectors = embedder.embed(stale.texts)

        def act(connection: Connection) -> Edition:
            replace_vectors(connection, agent_id, stale, vectors, model)
            return edition

        return act

    def note_short_terms(self, connection: Connection, agent_id: str) -> None:
        """Note when the next short term ends, in a network that has become the current one."""
        parameters = parameters_of(connection, agent_id, self._defaults)
        note_short_terms(connection, agent_id, parameters)

    def _create(self, agent_id: str, edition: Edition, entry: ReplayEntry) -> Act:
        seqs = edition.seqs_of(entry)
        effect = self._creation.replay(agent_id, _job_of(entry), seqs, entry.details)
        return lambda connection: _settled(effect(connection), edition, entry)

    def _restore(self, agent_id: str, edition: Edition, entry: ReplayEntry) -> Act:
        if len(edition.seqs_of(entry)) < len(entry.seqs):
            return lambda _: edition.after(entry)
        effect = self._restoring.replay(agent_id, _job_of(entry), entry.details)
        return lambda connection: _settled(effect(connection), edition, entry)

    def _consolidate(self, agent_id: str, edition: Edition, entry: ReplayEntry) -> Act:
        effect = self._consolidation.replay(agent_id, _job_of(entry), entry.details)
        return lambda connection: _settled(effect(connection), edition, entry)

    def _mention(self, agent_id: str, edition: Edition, entry: ReplayEntry) -> Act:
        entity = Entity.named(entry.details["entity"])

        def act(connection: Connection) -> Edition:
            parameters = parameters_of(connection, agent_id, self._defaults)
            passes.mention_entity(connection, agent_id, entity, parameters, _job_of(entry))
            return edition.after(entry)

        return act

    def _scan(self, agent_id: str, edition: Edition, entry: ReplayEntry) -> Act:
        done = edition.scanned if edition.place == entry.place else 0
        wanted = BATCH if entry.ended else min(BATCH, entry.scanned - done)
        with self._database.agent_snapshot(agent_id) as connection:
            self._guard.check(connection)
            parameters = parameters_of(connection, agent_id, self._defaults)
            batch = passes.next_batch(connection, agent_id, entry.pass_number, _FAR_FUTURE, wanted)
            lease = current_lease(connection, self._database, agent_id)
        cursor = PassCursor(entry.pass_number, request=0, fence=lease.fence)
        scan = BatchScan(lease, cursor, self._models, parameters, self._clock, Random())
        deadline = time.monotonic() + _STEP_S
        scan.run(batch, time_is_up=lambda: time.monotonic() >= deadline)
        if batch.nodes and not scan.outcome.scanned:
            raise SmallModelUnavailableError(retry_after_s=_wait_s(scan, self._clock()))
        return _PassPart(lease, edition, entry, batch, scan)


@dataclass(frozen=True, slots=True)
class _PassPart:
    """Writes a batch of scans of a pass that is replayed."""

    lease: Lease
    edition: Edition
    entry: ReplayEntry
    batch: passes.Batch
    scan: BatchScan

    def __call__(self, connection: Connection) -> Edition:
        agent_id, number = self.lease.agent_id, self.entry.pass_number
        _, last_pass = passes.position(connection, agent_id)
        if last_pass < number:
            # The row is deleted when this network becomes the current one.
            passes.open_pass(connection, agent_id, number, message_seq=0)
        if self.batch.nodes:
            self.scan.write(connection, self.batch.focus)
        scanned = self.scan.outcome.scanned
        settled = not passes.left_of_pass(connection, agent_id, number, _FAR_FUTURE).nodes
        if settled and self.entry.ended:
            passes.close_pass(connection, agent_id, number)
        return self.edition.after(self.entry, scanned=scanned, settled=settled)


def _settled(_: object, edition: Edition, entry: ReplayEntry) -> Edition:
    return edition.after(entry)


def _job_of(entry: ReplayEntry) -> UUID:
    if entry.job_id is None:
        raise ValueError(f"the replay log has no job at place {entry.place}")
    return entry.job_id


def _wait_s(scan: BatchScan, now: datetime) -> float:
    """Return how long to wait until the first node may be tried again."""
    waits = [*scan.outcome.waiting.values(), *([scan.retry_at] if scan.retry_at else [])]
    return max(0.0, (min(waits) - now).total_seconds()) if waits else 0.0


class NetworkRebuild:
    """Takes an edition one step further; a job of one that is dropped does nothing."""

    kind = JobKind.REBUILD
    triggers_compression = False

    def __init__(self, database: Database, replay: Replay) -> None:
        """Replay events by ``replay``."""
        self._database = database
        self._replay = replay

    def prepare(self, job: Job) -> Effect:
        """Find the next event, and think about it."""
        agent_id = job.agent_id
        with self._database.agent_snapshot(agent_id) as connection:
            edition = network_editions.open_edition(connection, agent_id)
            if edition is None or edition.number != job.payload["edition"]:
                return lambda _: {"replayed": 0}
            entry = network_editions.next_entry(connection, agent_id, edition)
            stale = network_editions.has_stale_vectors(connection, agent_id)
        if stale:
            # First, since memories are compared by vectors of one embedder.
            act = self._replay.reembed(agent_id, edition)
        else:
            act = None if entry is None else self._replay.prepare(agent_id, edition, entry)
        return _Step(agent_id, edition, act, self._replay)


@dataclass(frozen=True, slots=True)
class _Step:
    """Writes a step; ``act`` is None if there was nothing left to replay."""

    agent_id: str
    edition: Edition
    act: Act | None
    replay: Replay

    def __call__(self, connection: Connection) -> Mapping[str, Any]:
        now = network_editions.open_edition(connection, self.agent_id)
        if now is None or replace(now, state=self.edition.state) != self.edition:
            return {"replayed": 0}  # dropped meanwhile
        if self.act is not None:
            with use_edition(connection):
                done = self.act(connection)
            network_editions.save_edition(connection, self.agent_id, replace(done, state=now.state))
            request_rebuild_step(connection, self.agent_id, now.number)
            return {"replayed": int(done != self.edition)}
        return self._finish(connection, now)

    def _finish(self, connection: Connection, edition: Edition) -> Mapping[str, Any]:
        """Become ready, or switch, unless there are new events since the log was read."""
        agent_id = self.agent_id
        if network_editions.next_entry(
            connection, agent_id, edition
        ) or network_editions.has_stale_vectors(connection, agent_id):
            request_rebuild_step(connection, self.agent_id, edition.number)
            return {"replayed": 0}
        state = EditionState.READY
        if edition.state is EditionState.SWITCHING:
            network_editions.switch_networks(connection, self.agent_id)
            self.replay.note_short_terms(connection, self.agent_id)
            state = EditionState.SWITCHED
        network_editions.save_edition(connection, self.agent_id, replace(edition, state=state))
        return {"replayed": 0, "state": state}
