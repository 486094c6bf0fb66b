"""An agent with ten thousand messages and memories, inserted by SQL, for reads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice
from random import Random

import numpy as np
import psycopg

from benchmarks.sentences import conversation
from memci.smallmodel.offline.e5_embedder import DIMENSION, MODEL
from memci.smallmodel.offline.index_terms import OfflineLexicon
from memci.smallmodel.vector_space import Vectors
from memci.storage.search.vectors import to_text

AGENT = "reader"
_FOCUS = 5
_LINKS_OF_FOCUS = 200
_LINKS_EACH = 4
_WORDS = 6_000
_SYLLABLES = ("ka", "lo", "mer", "tin", "sa", "vor", "di", "pel", "ru", "gan", "oth", "ely")
_START = datetime(2025, 1, 1, tzinfo=UTC)

_MESSAGE = "agent_id, seq, id, role, content, session_id, said_at, remember, memory_state, indexed"
_NODE = (
    "agent_id, id, slot, kind, type, content, original_length, phrase, keywords, language,"
    " entity_key, message_seqs, said_at"
)


@dataclass(frozen=True, slots=True)
class Library:
    """The inserted texts, and questions about them."""

    texts: Sequence[str]
    vectors: Vectors

    @property
    def size(self) -> int:
        """The number of messages, and of memories."""
        return len(self.texts)

    def questions(self, count: int) -> Iterator[tuple[str, Vectors]]:
        """Ask about one message after the other, with some of its words."""
        random = Random(5)
        for _ in range(count):
            place = random.randrange(self.size)
            words = self.texts[place].split()
            near = self.vectors[place] + _unit(np.random.default_rng(place), 1)[0] * 0.5
            start = random.randrange(max(1, len(words) - 8))
            question = " ".join(words[start : start + 8])
            yield question, (near / np.linalg.norm(near)).astype(np.float32)


def fill(connection: psycopg.Connection, size: int) -> Library:
    """Write messages, memories, focus points, links, vectors and postings of one agent."""
    library = Library(list(islice(_texts(), size)), _unit(np.random.default_rng(1), size))
    lexicon = OfflineLexicon()
    terms = [Counter(lexicon.terms(text)) for text in library.texts]
    lengths = [each.total() for each in terms]
    at = [_START + timedelta(minutes=9 * n) for n in range(size)]
    numbers = range(1, size + 1)
    _copy(
        connection,
        f"message ({_MESSAGE})",
        (
            (AGENT, n, f"m{n}", "assistant" if n % 2 == 0 else "user", library.texts[n - 1],
             f"s{n // 50}", at[n - 1], "now", "made", True)
            for n in numbers
        ),
    )  # fmt: skip
    _copy(connection, f"node ({_NODE})", _nodes(library.texts, at))
    vectors = to_text(library.vectors)
    postings = [
        (term, n, count, lengths[n - 1]) for n in numbers for term, count in terms[n - 1].items()
    ]
    for table, key in (("message", "seq"), ("node", "node_id")):
        rows = ((AGENT, n, vectors[n - 1], MODEL) for n in numbers)
        _copy(connection, f"{table}_vector (agent_id, {key}, embedding, model)", rows)
    message_terms = ((AGENT, *each, each[1]) for each in postings)
    _copy(connection, "message_term (agent_id, term, seq, tf, length, position)", message_terms)
    node_terms = ((AGENT, *each) for each in postings)
    _copy(connection, "node_term (agent_id, term, node_id, tf, length)", node_terms)
    _copy(connection, "link (agent_id, source, target, relation, strength, hint)", _links(size))
    focus = ((AGENT, size + n, n) for n in range(1, _FOCUS + 1))
    _copy(connection, "focus (agent_id, node_id, mentioned)", focus)
    connection.execute(
        "INSERT INTO lane (agent_id, message_seq, last_node_id, indexed_messages, indexed_terms)"
        " VALUES (%s, %s, %s, %s, %s)",
        (AGENT, size, size + _FOCUS, size, sum(lengths)),
    )
    connection.execute("VACUUM ANALYZE")
    return library


def _texts() -> Iterator[str]:
    """Yield texts with many rare words, like those of real conversations."""
    random = Random(3)
    words = ["".join(random.choices(_SYLLABLES, k=3)) for _ in range(_WORDS)]
    weights = [1 / (rank + 10) for rank in range(_WORDS)]
    for message in conversation(seed=11):
        tail = " ".join(random.choices(words, weights, k=8))
        yield f"{message.content} {tail}."


def _nodes(texts: Sequence[str], at: Sequence[datetime]) -> Iterator[tuple[object, ...]]:
    for n, text in enumerate(texts, 1):
        yield (AGENT, n, n, "memory", "episodic", text, len(text), text[:40], text.split()[:5],
               "en", None, [n], at[n - 1])  # fmt: skip
    for n in range(len(texts) + 1, len(texts) + _FOCUS + 1):
        name = f"focus {n}"
        yield (AGENT, n, n, "entity", "semantic", name, len(name), name, [name], "en", name, [1],
               at[0])  # fmt: skip


def _links(size: int) -> Iterator[tuple[object, ...]]:
    random = Random(9)
    sources = [n for n in range(1, size + 1) for _ in range(_LINKS_EACH)]
    sources += [n for n in range(size + 1, size + _FOCUS + 1) for _ in range(_LINKS_OF_FOCUS)]
    pairs = dict.fromkeys((source, random.randint(1, size)) for source in sources)
    for source, target in pairs:
        yield AGENT, source, target, "related", 0.8, "something that was said"


def _unit(random: np.random.Generator, rows: int) -> Vectors:
    vectors = random.standard_normal((rows, DIMENSION), dtype=np.float32)
    unit: Vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit


def _copy(connection: psycopg.Connection, target: str, rows: Iterator[tuple[object, ...]]) -> None:
    with (
        connection.cursor() as cursor,
        cursor.copy(f"COPY {target} FROM STDIN".encode()) as copy,
    ):
        for row in rows:
            copy.write_row(row)
