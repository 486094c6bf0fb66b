"""Terms and vectors of messages, computed once for search and segmentation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from memci.message import Message
from memci.smallmodel.ports import Embedder, Lexicon, Vectors
from memci.storage.search_index import Embedded, Terms, index_messages
from memci.storage.session import Connection, Database
from memci.storage.vectors import VectorModel, as_stored, check_model, claim_model, held_model


def unit_rows(vectors: Vectors) -> Vectors:
    """Scale each row to length one; zero rows stay zero."""
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    scaled: Vectors = vectors / np.maximum(norms, np.finfo(np.float32).tiny)
    return scaled


def terms_of(lexicon: Lexicon, text: str) -> Terms:
    """Return the terms of a text, counted."""
    return Terms(Counter(lexicon.terms(text)))


@dataclass(frozen=True, slots=True)
class MessageTexts:
    """Vectors of messages, row by row (zero: no text), and the terms of those not yet indexed."""

    messages: Sequence[Message]
    vectors: Vectors
    terms: Mapping[int, Terms]
    model: str

    @classmethod
    def read(
        cls,
        messages: Sequence[Message],
        known: Embedded,
        embedder: Embedder,
        lexicon: Lexicon,
        *,
        later: Callable[[Message], bool] = lambda _: False,
    ) -> MessageTexts:
        """Embed the messages that are not among the ``known``, and count their terms.

        The vectors of those to be embedded ``later`` stay zero until ``pooled``.
        """
        vectors = np.zeros((len(messages), embedder.dimension), dtype=np.float32)
        rows = {message.seq: row for row, message in enumerate(messages)}
        for seq, vector in zip(known.keys, known.vectors, strict=True):
            vectors[rows[seq]] = vector
        known_seqs = set(known.keys)
        unknown = {m.seq: m.searched for m in messages if m.seq not in known_seqs}
        texts = {
            m.seq: unknown[m.seq]
            for m in messages
            if m.seq in unknown and m.text.strip() and not later(m)
        }
        vectors[[rows[seq] for seq in texts]] = as_stored(embedder.embed(list(texts.values())))
        terms = {seq: terms_of(lexicon, text) for seq, text in unknown.items()}
        return cls(messages, vectors, terms, embedder.model)

    def pooled(self, parts: Iterable[tuple[int, str, Vectors]]) -> MessageTexts:
        """Give messages without a vector the mean of the vectors of their parts, by length.

        ``parts`` are (seq, text, vector of shape (d,)).
        """
        rows = {message.seq: row for row, message in enumerate(self.messages)}
        sums = np.zeros_like(self.vectors)
        for seq, text, vector in parts:
            sums[rows[seq]] += len(text) * vector
        embedded = np.linalg.norm(self.vectors, axis=1, keepdims=True) > 0
        return replace(self, vectors=np.where(embedded, self.vectors, unit_rows(sums)))

    def completed(self, embedder: Embedder) -> MessageTexts:
        """Embed the messages with text that have no vector yet."""
        vectors = self.vectors.copy()
        bare = set(np.flatnonzero(np.all(vectors == 0, axis=1)).tolist())
        rows = [row for row, m in enumerate(self.messages) if row in bare and m.text.strip()]
        vectors[rows] = embedder.embed([self.messages[row].searched for row in rows])
        return replace(self, vectors=vectors)

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
            Embedded([s for _, s in embedded], self.vectors[[r for r, _ in embedded]], self.model),
            {m.seq: self.terms[m.seq] for _, m in found if m.seq in self.terms},
        )
        return len(found)


class VectorGuard:
    """Compares the embedder of this process with the one in use, which may change at any time.

    Checking when a job is prepared is enough: a lane runs one job at a time, so the job ends before
    its agent's vectors are replaced.
    """

    def __init__(self, database: Database, embedder: Embedder) -> None:
        """Take the embedder that this process writes with."""
        self._database = database
        self._embedder = embedder

    def check(self, connection: Connection) -> None:
        """Raise ``WrongEmbedderError`` for another embedder in use; claim it if there is none."""
        if held_model(connection) is None:
            self.claim()
        else:
            check_model(connection, self._model)

    def claim(self) -> None:
        """Put the embedder into use; ``WrongEmbedderError`` if another one is in use."""
        with self._database.lane_transaction() as connection:
            claim_model(connection, self._model)

    @property
    def _model(self) -> VectorModel:
        return VectorModel(self._embedder.model, self._embedder.dimension)
