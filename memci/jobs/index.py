"""``memci.message.index`` and ``memci.item.index``: messages and items become searchable."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memci.domain.job import Job, JobKind
from memci.jobs.message_texts import MessageTexts, VectorGuard
from memci.jobs.track import is_to_track
from memci.message import Message, Remember
from memci.queue import mailbox
from memci.queue.job_requests import request_naming
from memci.queue.runner import Effect
from memci.smallmodel.ports import TokenCounter, Vectors
from memci.smallmodel.registry import SmallModels
from memci.storage.items import Unindexed, index_items, unindexed_items
from memci.storage.memory_state import (
    hand_over,
    lock_messages,
    recent_from,
    unindexed_messages,
    window_messages,
)
from memci.storage.search_index import Embedded, message_vectors
from memci.storage.session import Connection, Database

JobKind.INDEX_MESSAGES = "memci.message.index"

_TOKENS_A_MESSAGE = 4  # what a chat model spends on the role (R14)


@dataclass(frozen=True, slots=True)
class WindowLimits:
    """When ``auto`` messages are handed over: above so many tokens, save the latest (R19)."""

    tokens: float
    recent_interactions: int = 8


class MessageIndexing:
    """Indexes messages that no creation indexes, and hands over what outgrows the window.

    They came with ``never`` or ``auto``, or their creation is dead, cancelled or discarded.
    """

    kind = JobKind.INDEX_MESSAGES
    triggers_compression = False

    def __init__(self, database: Database, models: SmallModels, limits: WindowLimits) -> None:
        """Hand over messages above these limits."""
        self._database = database
        self._models = models
        self._limits = limits
        self._guard = VectorGuard(database, models.embedder)

    def prepare(self, job: Job) -> Effect:
        """Read and embed the messages, and see what has outgrown the window."""
        agent_id, model = job.agent_id, self._models.embedder.model
        seqs = (job.first_seq or 0, job.last_seq or 0)
        with self._database.agent_snapshot(agent_id) as connection:
            self._guard.check(connection)
            messages = unindexed_messages(connection, agent_id, seqs)
            known = message_vectors(connection, agent_id, [m.seq for m in messages], model)
            window = window_messages(connection, agent_id)
            recent = recent_from(connection, agent_id, self._limits.recent_interactions)
        texts = MessageTexts.read(
            messages, Embedded(*known, model), self._models.embedder, self._models.lexicon
        )
        outgrown = []
        if _tokens(self._models.tokens, window) > self._limits.tokens and recent is not None:
            outgrown = [message.seq for message in window if message.seq < recent]
        return _Effect(agent_id, texts, outgrown, is_to_track(messages))


@dataclass(frozen=True, slots=True)
class _Effect:
    agent_id: str
    texts: MessageTexts
    outgrown: list[int]
    tells: bool

    def __call__(self, connection: Connection) -> Mapping[str, Any]:
        seqs = [message.seq for message in self.texts.messages]
        locked = lock_messages(connection, self.agent_id, seqs)
        indexed = self.texts.write(connection, self.agent_id, locked.unindexed)
        if seqs:
            request_naming(connection, self.agent_id, seqs[0], seqs[-1])
        if self.tells:
            mailbox.submit_once(connection, self.agent_id, JobKind.TRACK_MESSAGES)
        handed = hand_over(connection, self.agent_id, self.outgrown) if self.outgrown else []
        if handed:
            # All of this kind in the range were handed over now or before: none goes twice.
            payload = {"remember": Remember.AUTO.value}
            first, last = handed[0], handed[-1]
            job = mailbox.NewJob(
                self.agent_id, JobKind.CREATE, first_seq=first, last_seq=last, payload=payload
            )
            mailbox.insert_job(connection, job)
        return {"indexed": indexed, "handed_over": len(handed)}


def _tokens(counter: TokenCounter, messages: Sequence[Message]) -> int:
    return sum(counter.count(message.text) + _TOKENS_A_MESSAGE for message in messages)


# Texts in one job: some seconds of MiniLM on one core.
BITE = 256


class ItemIndexing:
    """Indexes items that were written, or whose vectors another embedder made."""

    kind = JobKind.INDEX_ITEMS
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
        return _ItemEffect(job.agent_id, items, terms, vectors, embedder.model, more)


@dataclass(frozen=True, slots=True)
class _ItemEffect:
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
            mailbox.submit_once(connection, self.agent_id, JobKind.INDEX_ITEMS)
        return {"indexed": indexed}
