"""``memci.link.drop`` and ``memci.vector.reembed``: removes dangling links, renews vectors.

A job does one bite and queues the next in its own effect, so other jobs of the agent come between
them, and a worker that dies loses one bite. Reads go on: what has no vector of the new model yet
is found by its words.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from memci.domain.job import Job, JobKind
from memci.domain.memory.parameters import MemoryParameters
from memci.queue.mailbox import NewJob, insert_job
from memci.queue.runner import Effect
from memci.smallmodel.ports import Embedder, Vectors
from memci.storage.agents import parameters_of
from memci.storage.network.links import drop_dangling
from memci.storage.reembedding import Place, StaleTexts, replace_vectors, stale_texts
from memci.storage.session import Connection, Database
from memci.storage.vectors import VectorModel, check_model


class LinkDropping:
    """Removes all links to the nodes that the payload names as ``targets``: ids.

    They stay where the agent keeps dangling links again by now.
    """

    kind = JobKind.DROP_LINKS
    triggers_compression = False

    def __init__(self, defaults: MemoryParameters) -> None:
        """Take the parameters of agents that set none."""
        self._defaults = defaults

    def prepare(self, job: Job) -> Effect:
        """Return the effect: there is nothing to think about."""
        return _Effect(job.agent_id, job.payload["targets"], self._defaults)


@dataclass(frozen=True, slots=True)
class _Effect:
    agent_id: str
    targets: list[int]
    defaults: MemoryParameters

    def __call__(self, connection: Connection) -> Mapping[str, Any]:
        parameters = parameters_of(connection, self.agent_id, self.defaults)
        if not parameters.drops_on_visit:
            return {"dropped": 0}
        return {"dropped": drop_dangling(connection, self.agent_id, self.targets)}


# Texts in one job: some seconds of MiniLM on one core.
BITE = 256


class Reembedding:
    """Replaces vectors that another model made, of messages, memories, chunks and items in turn."""

    kind = JobKind.REEMBED
    triggers_compression = False

    def __init__(self, database: Database, embedder: Embedder, *, bite: int = BITE) -> None:
        """Take the embedder whose vectors are to be, and how many texts one job embeds."""
        self._database = database
        self._embedder = embedder
        self._bite = bite

    def prepare(self, job: Job) -> Effect:
        """Read the next texts and embed them."""
        model = VectorModel(self._embedder.model, self._embedder.dimension)
        begin = Place(**{each.name: job.payload.get(each.name, 0) for each in fields(Place)})
        with self._database.agent_snapshot(job.agent_id) as connection:
            check_model(connection, model)
            stale = stale_texts(connection, job.agent_id, model, begin, self._bite)
        vectors = self._embedder.embed(stale.texts)
        complete = len(stale.texts) < self._bite
        return _NewVectors(
            job.agent_id, stale, vectors, model, None if complete else stale.end(begin)
        )


@dataclass(frozen=True, slots=True)
class _NewVectors:
    agent_id: str
    stale: StaleTexts
    vectors: Vectors
    model: VectorModel
    next_place: Place | None

    def __call__(self, connection: Connection) -> Mapping[str, Any]:
        replaced = replace_vectors(connection, self.agent_id, self.stale, self.vectors, self.model)
        if self.next_place is not None:
            payload = asdict(self.next_place)
            following = NewJob(self.agent_id, JobKind.REEMBED, payload=payload)
            insert_job(connection, following)
        return {"reembedded": replaced}
