"""``memci.item.index``: items become searchable by an index; until then they are read whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from memci.domain.lane.job import Job
from memci.jobs.vectors import VectorGuard
from memci.queue.handler import Effect
from memci.queue.item_indexing import ITEM_INDEX, ask_indexing_again
from memci.smallmodel.ports import Vectors
from memci.smallmodel.registry import SmallModels
from memci.storage.item_index import Unindexed, index_items, unindexed_items
from memci.storage.session import Connection, Database

# Texts in one job: some seconds of MiniLM on one core.
BITE = 256


class ItemIndexing:
    """Indexes items that were written, or whose vectors another embedder made."""

    kind = ITEM_INDEX
    triggers_compression = False

    def __init__(self, database: Database, models: SmallModels, *, bite: int = BITE) -> None:
        """Take how many texts one job indexes."""
        self._database = database
        self._models = models
        self._bite = bite
        self._guard = VectorGuard(database, models.embedder)

    def prepare(self, job: Job) -> Effect:
        """Read texts, cut them into terms and embed them."""
        embedder = self._models.embedder
        with self._database.agent_snapshot(job.agent_id) as connection:
            self._guard.check(connection)
            items = unindexed_items(connection, job.agent_id, embedder.model, self._bite)
        texts = [each.text for each in items]
        terms = [Counter(self._models.lexicon.terms(text)) for text in texts]
        vectors = embedder.embed(texts)
        more = len(items) == self._bite
        return _Effect(job.agent_id, items, terms, vectors, embedder.model, more)


@dataclass(frozen=True, slots=True)
class _Effect:
    agent_id: str
    items: list[Unindexed]
    terms: list[Counter[str]]
    vectors: Vectors
    model: str
    more: bool

    def __call__(self, connection: Connection) -> Mapping[str, Any]:
        indexed = index_items(
            connection, self.agent_id, self.items, self.terms, self.vectors, self.model
        )
        if self.more:
            ask_indexing_again(connection, self.agent_id)
        return {"indexed": indexed}
