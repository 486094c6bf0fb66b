"""What search and segmenting need of messages: one embedding pass serves both."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from memci.domain.message import Message
from memci.smallmodel.ports import Embedder, Lexicon, Vectors
from memci.storage.index import Embedded, Terms, index_messages
from memci.storage.memory_state import mark_indexed
from memci.storage.session import Connection


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
    ) -> MessageTexts:
        """Embed the messages that are not among the ``known``, and count their terms."""
        vectors = np.zeros((len(messages), embedder.dimension), dtype=np.float32)
        rows = {message.seq: row for row, message in enumerate(messages)}
        for seq, vector in zip(known.keys, known.vectors, strict=True):
            vectors[rows[seq]] = vector
        known_seqs = set(known.keys)
        texts = {m.seq: m.text for m in messages if m.seq not in known_seqs and m.text.strip()}
        vectors[[rows[seq] for seq in texts]] = embedder.embed(list(texts.values()))
        terms = {m.seq: terms_of(lexicon, m.text) for m in messages if m.seq not in known_seqs}
        return cls(messages, vectors, terms, embedder.model)

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
            Embedded([s for _, s in embedded], self.vectors[[r for r, _ in embedded]], self.model),
            {m.seq: self.terms[m.seq] for _, m in found if m.seq in self.terms},
        )
        mark_indexed(connection, agent_id, [m.seq for _, m in found])
        return len(found)
