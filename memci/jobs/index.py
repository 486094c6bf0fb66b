"""Indexing: ``memci.message.index``, ``.item.index``, ``.document.index``, ``.vector.reembed``.

Texts become searchable by their terms and vectors. A job does one batch and queues the next in its
own effect: other jobs of the agent run in between, and a worker that dies loses one batch. Reads go
on: a text without a vector of the model in use is found by its words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np

from memci.domain.documents import searched_text
from memci.domain.job import Job, JobKind
from memci.domain.search.passages import passages_of
from memci.errors import UnreadableDocumentError
from memci.extraction.blocks import ExtractionLimits
from memci.extraction.isolated import extract
from memci.jobs.track import is_to_track
from memci.language.redaction import Redacted, kinds_of
from memci.message import Message, Remember
from memci.queue import mailbox
from memci.queue.job_requests import request_naming
from memci.queue.runner import Effect
from memci.smallmodel.ports import Embedder, Lexicon, TokenEncoder
from memci.smallmodel.registry import SmallModels
from memci.smallmodel.vector_space import Vectors, VectorSpace
from memci.storage import documents, pending_messages
from memci.storage.agents import redaction_of
from memci.storage.frameworks import items
from memci.storage.search import reembedding
from memci.storage.search.index import (
    Embedded,
    EmbeddedPassages,
    index_messages,
    message_vectors,
)
from memci.storage.search.vectors import (
    VectorModel,
    as_stored,
    check_model,
    claim_model,
    held_model,
)
from memci.storage.session import Connection, Database


def terms_of(lexicon: Lexicon, text: str) -> Counter[str]:
    """Return the terms of a text, counted."""
    return Counter(lexicon.terms(text))


def encode(embedder: Embedder, texts: Sequence[str]) -> tuple[Vectors, list[bytes]]:
    """Return the vectors of texts, and the bits of their tokens if the embedder gives any (E8)."""
    if isinstance(embedder, TokenEncoder):
        return embedder.encode(texts)
    return embedder.embed(texts), []


def embed_passages(embedder: Embedder, texts: Mapping[int, str]) -> EmbeddedPassages:
    """Embed the passages of the searched texts of messages, by seq (E6)."""
    places = [(seq, passage) for seq, text in texts.items() for passage in passages_of(text)]
    # Encoded, not only embedded: so their sentences need not be read again.
    vectors, _ = encode(embedder, [texts[seq][slice(*passage)] for seq, passage in places])
    return EmbeddedPassages(places, vectors)


@dataclass(frozen=True, slots=True)
class MessageTexts:
    """Vectors of messages, row by row (zero: no text), and the terms of those not yet indexed."""

    messages: Sequence[Message]
    vectors: Vectors
    tokens: Mapping[int, bytes]  # bits of the tokens of those that were embedded now, by seq (E8)
    passages: EmbeddedPassages
    terms: Mapping[int, Counter[str]]
    model: str
    space: VectorSpace

    @classmethod
    def read(
        cls,
        messages: Sequence[Message],
        known: Embedded,
        embedder: Embedder,
        lexicon: Lexicon,
    ) -> MessageTexts:
        """Embed the messages that are not among the ``known``, and count their terms."""
        vectors = np.zeros((len(messages), embedder.dimension), dtype=np.float32)
        rows = {message.seq: row for row, message in enumerate(messages)}
        for seq, vector in zip(known.keys, known.vectors, strict=True):
            vectors[rows[seq]] = vector
        known_seqs = set(known.keys)
        unknown = {m.seq: m.searched for m in messages if m.seq not in known_seqs}
        texts = {m.seq: unknown[m.seq] for m in messages if m.seq in unknown and m.text.strip()}
        made, bits = encode(embedder, list(texts.values()))
        vectors[[rows[seq] for seq in texts]] = as_stored(made)
        terms = {seq: terms_of(lexicon, text) for seq, text in unknown.items()}
        tokens = dict(zip(texts, bits, strict=False))
        passages = embed_passages(embedder, texts)
        return cls(messages, vectors, tokens, passages, terms, embedder.model, embedder.space)

    def rows_of(self, messages: Sequence[Message]) -> Vectors:
        """Return the vectors of some of the messages, in their order."""
        rows = {message.seq: row for row, message in enumerate(self.messages)}
        selected: Vectors = self.vectors[[rows[message.seq] for message in messages]]
        return selected

    def write(self, connection: Connection, agent_id: str, unindexed: Collection[int]) -> int:
        """Index those of the messages that are stored and not indexed yet; return how many."""
        found = [(row, m) for row, m in enumerate(self.messages) if m.seq in unindexed]
        embedded = [(row, m.seq) for row, m in found if m.seq in self.terms and m.text.strip()]
        index_messages(
            connection,
            agent_id,
            [m.seq for _, m in found],
            Embedded(
                [seq for _, seq in embedded],
                self.vectors[[row for row, _ in embedded]],
                self.model,
                [self.tokens.get(seq, b"") for _, seq in embedded],
                self.passages.of({seq for _, seq in embedded}),
            ),
            {m.seq: self.terms[m.seq] for _, m in found if m.seq in self.terms},
        )
        return len(found)


def claim_embedder(database: Database, embedder: Embedder) -> None:
    """Put an embedder into use; ``WrongEmbedderError`` if another one is in use."""
    with database.lane_transaction() as connection:
        claim_model(connection, VectorModel(embedder.model, embedder.dimension))


def check_embedder(connection: Connection, database: Database, embedder: Embedder) -> None:
    """Raise ``WrongEmbedderError`` for another embedder in use; claim it if there is none.

    It may change at any time. Checking when a job is prepared is enough: a lane runs one job at a
    time, so the job ends before its agent's vectors are replaced.
    """
    if held_model(connection) is None:
        claim_embedder(database, embedder)
    else:
        check_model(connection, VectorModel(embedder.model, embedder.dimension))


_TOKENS_PER_MESSAGE = 4  # what a chat model spends on the role (R14)
# Texts in one job: seconds of the built-in embedder on one core, or minutes if all are very long.
BATCH = 256
DOCUMENT_BATCH = 128


@dataclass(frozen=True, slots=True)
class MessageIndexing:
    """Indexes messages that no creation indexes, and hands over what outgrows the window.

    They came with ``never`` or ``auto``, or their creation is dead, cancelled or discarded.
    """

    kind = JobKind.INDEX_MESSAGES
    triggers_compression = False

    database: Database
    models: SmallModels
    # With more tokens in the window, all ``auto`` messages but the latest are handed over (R19).
    window_tokens: float
    recent_interactions: int = 8

    def prepare(self, job: Job) -> Effect:
        """Read and embed the messages, and find those that have outgrown the window."""
        agent_id, models = job.agent_id, self.models
        seqs = (job.first_seq or 0, job.last_seq or 0)
        with self.database.agent_snapshot(agent_id) as connection:
            check_embedder(connection, self.database, self.models.embedder)
            messages = pending_messages.unindexed_messages(connection, agent_id, seqs)
            model = models.embedder.model
            known = message_vectors(connection, agent_id, [m.seq for m in messages], model)
            window = pending_messages.window_messages(connection, agent_id)
            recent = pending_messages.recent_from(connection, agent_id, self.recent_interactions)
        texts = MessageTexts.read(
            messages, Embedded(*known, model), models.embedder, models.lexicon
        )
        outgrown = []
        if recent is not None:
            count = models.tokens.count
            if sum(count(m.text) + _TOKENS_PER_MESSAGE for m in window) > self.window_tokens:
                outgrown = [message.seq for message in window if message.seq < recent]
        tracks = is_to_track(messages, models.sentences)

        def effect(connection: Connection) -> Mapping[str, Any]:
            seqs = [message.seq for message in texts.messages]
            locked = pending_messages.lock_messages(connection, agent_id, seqs)
            indexed = texts.write(connection, agent_id, locked.unindexed)
            if seqs:
                request_naming(connection, agent_id, seqs[0], seqs[-1])
            if tracks:
                mailbox.submit_once(connection, agent_id, JobKind.TRACK_MESSAGES)
            return {"indexed": indexed, "handed_over": _hand_over(connection, agent_id, outgrown)}

        return effect


def _hand_over(connection: Connection, agent_id: str, outgrown: list[int]) -> int:
    handed = pending_messages.hand_over(connection, agent_id, outgrown) if outgrown else []
    if handed:
        # All ``auto`` messages in the range were handed over now or before, so none goes twice.
        first, last, payload = handed[0], handed[-1], {"remember": Remember.AUTO.value}
        job = mailbox.NewJob(
            agent_id, JobKind.CREATE, first_seq=first, last_seq=last, payload=payload
        )
        mailbox.insert_job(connection, job)
    return len(handed)


@dataclass(frozen=True, slots=True)
class ItemIndexing:
    """Indexes items that were written, or whose vectors another embedder made."""

    kind = JobKind.INDEX_ITEMS
    triggers_compression = False

    database: Database
    models: SmallModels

    def prepare(self, job: Job) -> Effect:
        """Read texts, cut them into terms and embed them."""
        agent_id, embedder = job.agent_id, self.models.embedder
        with self.database.agent_snapshot(agent_id) as connection:
            check_embedder(connection, self.database, self.models.embedder)
            found = items.unindexed_items(connection, agent_id, embedder.model, BATCH)
        texts = [each.text for each in found]
        terms = [terms_of(self.models.lexicon, text) for text in texts]
        vectors = embedder.embed(texts)

        def effect(connection: Connection) -> Mapping[str, Any]:
            indexed = items.index_items(connection, agent_id, found, terms, vectors, embedder.model)
            if len(found) == BATCH:
                mailbox.submit_once(connection, agent_id, JobKind.INDEX_ITEMS)
            return {"indexed": indexed}

        return effect


@dataclass(frozen=True, slots=True)
class DocumentIndexing:
    """Reads a new file of a document, or indexes its next chunks (R9).

    An unreadable file does not make the job dead; the reason is stored with the document.
    """

    kind = JobKind.INDEX_DOCUMENT
    triggers_compression = False

    database: Database
    models: SmallModels
    limits: ExtractionLimits  # of one file
    redact: str = ""  # of owners that do not say it
    batch: int = DOCUMENT_BATCH  # chunks in one job

    def prepare(self, job: Job) -> Effect:
        """Read the file in a separate process, unless a job has done so; embed chunks."""
        owner, document_id = job.agent_id, int(job.payload["document"])
        with self.database.agent_snapshot(owner) as connection:
            check_embedder(connection, self.database, self.models.embedder)
            file = documents.waiting_file(connection, owner, document_id)
            kinds = kinds_of(redaction_of(connection, owner, self.redact))
            if file is None:
                waiting = documents.waiting_chunks(connection, owner, document_id, self.batch)
        if file is None:
            index = self._index(job, document_id, list(waiting.values()))
            return lambda connection: index(connection, list(waiting))
        return self._read_file(job, document_id, file, kinds)

    def _read_file(
        self,
        job: Job,
        document_id: int,
        file: documents.WaitingFile,
        kinds: frozenset[Redacted],
    ) -> Effect:
        owner, outdated = job.agent_id, {"document": document_id, "outdated": True}
        try:
            chunks = extract(file.name, file.body, self.limits, kinds)
        except UnreadableDocumentError as error:
            reason = str(error)

            def refuse(connection: Connection) -> Mapping[str, Any]:
                if not documents.is_waiting(connection, owner, document_id, file.digest):
                    return outdated
                documents.refuse(connection, owner, document_id, reason)
                return {"document": document_id, "refused": True}

            return refuse
        first = chunks[: self.batch]
        texts = [searched_text(file.name, each.shown_path, each.text) for each in first]
        index = self._index(job, document_id, texts)

        def write(connection: Connection) -> Mapping[str, Any]:
            # The document was replaced, which has its own job, or removed meanwhile.
            if not documents.is_waiting(connection, owner, document_id, file.digest):
                return outdated
            ids = documents.replace_chunks(connection, owner, document_id, chunks)
            return index(connection, ids[: len(texts)])

        return write

    def _index(
        self, job: Job, document_id: int, texts: Sequence[str]
    ) -> Callable[[Connection, Sequence[int]], Mapping[str, Any]]:
        """Embed chunks; return a function that indexes them by id and queues the next batch."""
        terms = [terms_of(self.models.lexicon, each) for each in texts]
        vectors, model = self.models.embedder.embed(texts), self.models.embedder.model

        def index(connection: Connection, ids: Sequence[int]) -> Mapping[str, Any]:
            embedded, by_id = Embedded(ids, vectors, model), dict(zip(ids, terms, strict=True))
            left = documents.index_chunks(connection, job.agent_id, document_id, embedded, by_id)
            if left and ids:
                payload = {"document": document_id}
                following = mailbox.NewJob(job.agent_id, JobKind.INDEX_DOCUMENT, payload=payload)
                mailbox.insert_job(connection, following)
                documents.name_job(connection, job.agent_id, document_id, following.id)
            return {"document": document_id, "indexed": len(ids), "left": left or 0}

        return index


@dataclass(frozen=True, slots=True)
class Reembedding:
    """Replaces vectors that another model made, of messages, memories and chunks in turn."""

    kind = JobKind.REEMBED
    triggers_compression = False

    database: Database
    embedder: Embedder  # of the new vectors
    batch: int = BATCH  # texts in one job

    def prepare(self, job: Job) -> Effect:
        """Read the next texts and embed them."""
        agent_id, payload = job.agent_id, job.payload
        model = VectorModel(self.embedder.model, self.embedder.dimension)
        begin = reembedding.Place(
            **{each.name: payload.get(each.name, 0) for each in fields(reembedding.Place)}
        )
        with self.database.agent_snapshot(agent_id) as connection:
            check_model(connection, model)
            stale = reembedding.stale_texts(connection, agent_id, model, begin, self.batch)
        texts, count = stale.texts, len(stale.messages)
        of_messages, tokens = encode(self.embedder, texts[:count])
        vectors = np.vstack([of_messages, self.embedder.embed(texts[count:])])
        passages = embed_passages(self.embedder, stale.messages)

        def effect(connection: Connection) -> Mapping[str, Any]:
            replaced = reembedding.replace_vectors(
                connection, agent_id, stale, vectors, model, tokens, passages
            )
            if len(stale.texts) == self.batch:
                following = asdict(stale.end(begin))
                job = mailbox.NewJob(agent_id, JobKind.REEMBED, payload=following)
                mailbox.insert_job(connection, job)
            return {"reembedded": replaced}

        return effect
