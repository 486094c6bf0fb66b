"""Shared parts of all reads of context workers: models, defaults, waiting for fresh memory."""

import functools
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Self

from memci.config.settings import Settings
from memci.domain.memory.parameters import MemoryParameters
from memci.domain.token_counts import DEFAULT_TOKENIZER, Count
from memci.language.loading import remembering
from memci.reading.deferred_writes import ReadActivity
from memci.schemas.reads import Fresh
from memci.smallmodel.ports import Embedder, Lexicon, QueryPlanner, Summarizer, TokenCounter
from memci.storage.reading.snapshot_state import progress
from memci.storage.session import Database

# The same messages are assembled repeatedly, and lines are counted before their block. Longer texts
# are counted in pieces.
_LONGEST_REMEMBERED = 2_000
_MOST_PIECES = 500  # of a text; more would displace all other entries


class Tokenizers:
    """Token counters by the name of their tokenizer, each made once; safe for threads."""

    def __init__(self, make: Callable[[str], TokenCounter]) -> None:
        """Take the factory of counters by tokenizer name, such as ``o200k_base``."""
        self._count = functools.lru_cache(maxsize=None)(lambda name: _remembering(make(name)))

    def count(self, tokenizer: str) -> Count:
        """Return the count function of a tokenizer."""
        return self._count(tokenizer)


def _remembering(counter: TokenCounter) -> Count:
    def count(text: str) -> int:
        return counted(text) if len(text) > _LONGEST_REMEMBERED else remembered(text)

    def counted(text: str) -> int:
        pieces = counter.pieces(text)
        if not 1 < len(pieces) <= _MOST_PIECES:
            return counter.count(text)
        return sum(map(count, pieces))

    remembered = remembering(counted)
    return count


@dataclass(frozen=True, slots=True)
class ReadingModels:
    """The small models of reads."""

    embedder: Embedder
    lexicon: Lexicon
    tokenizers: Tokenizers
    summarizer: Summarizer
    query_planner: QueryPlanner | None = None  # None: questions are searched unchanged


@dataclass(frozen=True, slots=True)
class ReadingDefaults:
    """Default values for requests."""

    tokenizer: str = DEFAULT_TOKENIZER
    memory: MemoryParameters = field(default_factory=MemoryParameters)

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """Take the defaults from the settings."""
        return cls(settings.tokenizer, settings.memory)


@dataclass(frozen=True)
class Reader:
    """The resources of a read; models are loaded by the first read."""

    database: Database
    models: ReadingModels
    defaults: ReadingDefaults
    activity: ReadActivity


# Searches and contexts of this process that are worked on at once, with their statements. One of
# them computes while the database works for the other; further ones would only compete for the lock
# of the interpreter. Waiting for memory or for a model is not part of it.
computing = threading.BoundedSemaphore(2)

_FIRST_PAUSE_S = 0.02
_LONGEST_PAUSE_S = 0.05


def wait_until_fresh(database: Database, agent_id: str, request: Fresh) -> None:
    """Wait until memory has reached ``min_seq``, for at most ``wait_ms`` (R18).

    No transaction is open while it waits.
    """
    if request.min_seq is None or not request.wait_ms:
        return
    deadline = time.monotonic() + request.wait_ms / 1000
    pause = _FIRST_PAUSE_S
    while True:
        with database.lane_transaction(durable=False) as connection:
            now = progress(connection, agent_id)
        left = deadline - time.monotonic()
        if now.seq >= request.min_seq or left <= 0:
            return
        time.sleep(min(pause, left))
        pause = min(pause * 1.5, _LONGEST_PAUSE_S)


class Stopwatch:
    """Measures consecutive steps; ``laps_ms`` are milliseconds by step."""

    def __init__(self) -> None:
        """Start the first step."""
        self._last = time.perf_counter()
        self.laps_ms: dict[str, float] = {}

    def lap(self, step: str) -> None:
        """End a step and begin the next one."""
        now = time.perf_counter()
        self.laps_ms[step] = round((now - self._last) * 1000, 3)
        self._last = now
