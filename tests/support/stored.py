"""Inserts rows of one agent by SQL, so that reads find them without jobs."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4
from zlib import crc32

import numpy as np

from memci.language.times.calendar import offset_of
from memci.message import readable_text
from memci.reading.deferred_writes import ReadActivity
from memci.reading.reader import ReadingDefaults, ReadingModels, Tokenizers
from memci.smallmodel.offline.index_terms import OfflineLexicon
from memci.smallmodel.offline.summarizer import OfflineSummarizer
from memci.smallmodel.offline.token_counter import OfflineTokenCounter
from memci.smallmodel.vector_space import Vectors, VectorSpace
from memci.storage.search.index import Embedded, index_messages
from memci.storage.search.vectors import to_text
from memci.storage.session import Database

BEGIN = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
DIMENSION = 512


class WordVectors:
    """Sums a fixed vector for each term, so similarity grows with shared words."""

    model = "words"
    dimension = DIMENSION
    space = VectorSpace()

    def __init__(self) -> None:
        self.requests: list[str] = []
        self._lexicon = OfflineLexicon()

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.requests += texts
        rows = [self._embed(text) for text in texts]
        return np.array(rows, dtype=np.float32).reshape(len(rows), DIMENSION)

    embed_questions = embed

    def _embed(self, text: str) -> Vectors:
        total = np.zeros(DIMENSION, dtype=np.float32)
        for term in self._lexicon.terms(text):
            seed = np.random.default_rng(crc32(term.encode()))
            total += seed.standard_normal(DIMENSION).astype(np.float32)
        length = float(np.linalg.norm(total))
        unit: Vectors = total / length if length else total
        return unit


@dataclass
class Reader:
    """The database, models and settings for the reads of a test."""

    database: Database
    embedder: WordVectors = field(default_factory=WordVectors)
    defaults: ReadingDefaults = field(default_factory=ReadingDefaults)

    def __post_init__(self) -> None:
        self.models = ReadingModels(
            self.embedder, OfflineLexicon(), Tokenizers(OfflineTokenCounter), OfflineSummarizer()
        )
        self.activity = ReadActivity(self.database, period_s=0.05)

    @property
    def parts(self) -> tuple[Database, ReadingModels, ReadingDefaults, ReadActivity]:
        return self.database, self.models, self.defaults, self.activity


class Stored:
    """Writes rows of one agent."""

    def __init__(self, reader: Reader, agent_id: str) -> None:
        self.agent_id = agent_id
        self.reader = reader
        self._seq = 0
        self._node_id = 0
        with reader.database.lane_transaction() as connection:
            connection.exec_driver_sql("INSERT INTO lane (agent_id) VALUES (%s)", (agent_id,))

    def say(
        self,
        content: str | None,
        role: str = "user",
        *,
        session: str | None = "s1",
        user: str | None = None,
        name: str | None = None,
        said_at: datetime | None = None,
        calls: Sequence[dict[str, Any]] = (),
        answers: str | None = None,
        indexed: bool = True,
        state: str = "made",
        reason: str | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> int:
        """Store a message under the id ``m<seq>``; return its seq."""
        self._seq += 1
        self._write(
            "INSERT INTO message (agent_id, seq, id, role, content, name, tool_calls,"
            " tool_call_id, session_id, user_id, said_at, remember, memory_state, indexed,"
            " memory_reason, metadata, said_offset)"
            " VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, 'now', %s, %s, %s, %s, %s)",
            self._seq, f"m{self._seq}", role, content, name,
            json.dumps(list(calls)) if calls else None, answers, session, user,
            said_at or BEGIN + timedelta(minutes=self._seq), state, False, reason,
            json.dumps(metadata) if metadata else None, said_at and offset_of(said_at),
        )  # fmt: skip
        self._write(
            "UPDATE lane SET message_seq = %s WHERE agent_id = %s", self._seq, after=self.agent_id
        )
        if indexed:
            self._index_message(readable_text(role, content, calls))
        return self._seq

    def remember(
        self,
        content: str,
        seqs: Iterable[int] = (),
        *,
        language: str = "en",
        type_: str = "episodic",
        session: str | None = "s1",
        user: str | None = None,
        said_at: datetime | None = BEGIN,
    ) -> int:
        """Store a memory node; return its id."""
        node_id = self._node("memory", content, list(seqs), language, type_, session, user, said_at)
        self._index_node(node_id, content)
        details = json.dumps({"job": str(uuid4()), "messages": list(seqs)})
        self._write(
            "INSERT INTO trail (agent_id, node_id, event, pass_number, details)"
            " VALUES (%s, %s, 'created', 0, %s)",
            node_id, details,
        )  # fmt: skip
        return node_id

    def entity(self, name: str, *, focus: bool = True) -> int:
        """Store an entity node, as the newest focus point; return its id."""
        node_id = self._node("entity", name, [], "en", "semantic", None, None, None)
        if focus:
            self._write(
                "INSERT INTO focus (agent_id, node_id, mentioned) VALUES (%s, %s, %s)",
                node_id, node_id,
            )  # fmt: skip
        return node_id

    def link(
        self, source: int, target: int, relation: str = "about", strength: float = 1.0,
        hint: str = "",
    ) -> None:  # fmt: skip
        self._write(
            "INSERT INTO link (agent_id, source, target, relation, strength, hint)"
            " VALUES (%s, %s, %s, %s, %s, %s)",
            source, target, relation, strength, hint,
        )  # fmt: skip

    def forget(self, node_id: int) -> None:
        """Delete a node and its own links, and record its tier, as forgetting does (M14)."""
        self._write(
            "INSERT INTO trail (agent_id, node_id, event, pass_number, details)"
            " SELECT agent_id, id, 'forgotten', 1, jsonb_build_object('tier', tier) FROM node"
            " WHERE agent_id = %s AND id = %s",
            node_id,
        )
        for statement in (
            "DELETE FROM node WHERE agent_id = %s AND id = %s",
            "DELETE FROM node_vector WHERE agent_id = %s AND node_id = %s",
            "DELETE FROM node_term WHERE agent_id = %s AND node_id = %s",
            "DELETE FROM link WHERE agent_id = %s AND source = %s",
        ):
            self._write(statement, node_id)

    def delete_message(self, seq: int) -> None:
        self._write("DELETE FROM message WHERE agent_id = %s AND seq = %s", seq)

    def queue(self, first_seq: int, last_seq: int, kind: str = "memci.memory.create") -> UUID:
        """Put a queued job into the mailbox."""
        job_id = uuid4()
        self._write(
            "INSERT INTO job (agent_id, id, kind, payload, source, first_seq, last_seq)"
            " VALUES (%s, %s, %s, '{}', 'http', %s, %s)",
            job_id, kind, first_seq, last_seq,
        )  # fmt: skip
        return job_id

    def finish(self, job_id: UUID) -> None:
        self._write("UPDATE job SET state = 'done' WHERE agent_id = %s AND id = %s", job_id)

    def execute(self, statement: str, *values: object) -> None:
        """Run a statement whose first parameter is the agent."""
        self._write(statement, *values)

    def _node(
        self, kind: str, content: str, seqs: list[int], language: str, type_: str,
        session: str | None, user: str | None, said_at: datetime | None,
    ) -> int:  # fmt: skip
        self._node_id += 1
        self._write(
            "INSERT INTO node (agent_id, id, slot, kind, type, content, original_length, phrase,"
            " keywords, language, entity_key, message_seqs, session_id, user_id, said_at,"
            " said_offset)"
            " VALUES (%s, %s, %s, %s, %s, %s, %s, %s, '{}', %s, %s, %s, %s, %s, %s, %s)",
            self._node_id, self._node_id, kind, type_, content, len(content), content[:20],
            language, content.casefold() if kind == "entity" else None, seqs, session, user,
            said_at, said_at and offset_of(said_at),
        )  # fmt: skip
        return self._node_id

    def _index_message(self, content: str) -> None:
        """Index the last message as jobs do; without text, only its position."""
        seqs = [self._seq] if content else []
        embedded = Embedded(seqs, self.reader.embedder.embed([content] * len(seqs)), "words")
        terms = {seq: Counter(self.reader.models.lexicon.terms(content)) for seq in seqs}
        with self.reader.database.agent_transaction(self.agent_id, durable=False) as connection:
            index_messages(connection, self.agent_id, [self._seq], embedded, terms)

    def _index_node(self, node_id: int, content: str) -> None:
        vector = to_text(self.reader.embedder.embed([content]))[0]
        self._write(
            "INSERT INTO node_vector (agent_id, node_id, embedding, model)"
            " VALUES (%s, %s, %s::halfvec, 'words')",
            node_id, vector,
        )  # fmt: skip
        terms = self.reader.models.lexicon.terms(content)
        distinct = sorted(set(terms))
        self._write(
            "INSERT INTO node_term (agent_id, term, node_id, tf, length)"
            " SELECT %s, term, %s, tf, %s FROM unnest(%s::text[], %s::int[]) AS new(term, tf)",
            node_id, len(terms), distinct, [terms.count(term) for term in distinct],
        )  # fmt: skip

    def _write(self, statement: str, *values: object, after: str | None = None) -> None:
        """Run a statement with the agent as its first parameter, or as its last."""
        bound = (*values, after) if after else (self.agent_id, *values)
        with self.reader.database.agent_transaction(self.agent_id, durable=False) as connection:
            connection.exec_driver_sql(statement, bound)
