"""Scanning a batch of nodes: deciding, and compressing with no transaction open (M12, M13)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random

import numpy as np

from memci.domain.lane.retry import backoff_s
from memci.domain.memory.cursor import PassCursor
from memci.domain.memory.outcome import Compressed, NodeText, Outcome
from memci.domain.memory.parameters import MemoryParameters
from memci.domain.memory.relation import is_generic
from memci.domain.memory.scan import (
    Compress,
    Forgotten,
    Kept,
    Protected,
    ScannedNode,
    scan,
)
from memci.domain.memory.shrink import check_compressed, shrunk_keywords, shrunk_phrase
from memci.errors import SmallModelError, SmallModelUnavailableError
from memci.jobs.texts import terms_of
from memci.queue.lease import Lease
from memci.smallmodel.ports import Vectors
from memci.smallmodel.registry import SmallModels
from memci.storage.index import Embedded, Terms, index_nodes
from memci.storage.links import decay_links
from memci.storage.passes import PassCounts, log_pass
from memci.storage.scans import Batch, count_attempts, write_outcome
from memci.storage.session import Connection

# So many calls in a row, on different nodes, without an answer: the model as a whole is down.
MODEL_DOWN = 3
# Memories shortened in one batch: what is left of them is embedded in one call, and the lane looks
# at its mailbox when they are written.
_SHORTENED_AT_ONCE = 32


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A node to be shortened to ``target`` characters, after so many calls in this pass."""

    node: ScannedNode
    target: int
    attempts: int


@dataclass
class BatchScan:
    """One batch on its way through the scan; ``outcome`` holds those nodes that got through.

    ``unavailable`` counts, over batches, the calls in a row that got no answer; ``complete`` tells
    whether every node of the batch was looked at.
    """

    lease: Lease
    cursor: PassCursor
    models: SmallModels
    parameters: MemoryParameters
    clock: Callable[[], datetime]
    random: Random
    outcome: Outcome = field(default_factory=Outcome)
    embedded: Embedded = field(default_factory=lambda: Embedded([], _NO_VECTORS, ""))
    terms: dict[int, Terms] = field(default_factory=dict)
    complete: bool = True

    def __post_init__(self) -> None:
        self.unavailable = self.cursor.unavailable
        self.mute = self.cursor.mute
        self.retry_at: datetime | None = None

    def run(self, batch: Batch, time_is_up: Callable[[], bool]) -> None:
        """Scan the nodes in order until all are through, the time is up or the model is down."""
        at_once = self.models.compressor.at_once
        wanted: dict[int, _Wanted] = {}
        verdicts = scan(batch.nodes, batch.supports, batch.focus, self.parameters)
        for count, (node, verdict) in enumerate(verdicts):
            shortens = isinstance(verdict, Compress)
            full = len(wanted) + len(self.outcome.compressed) >= _SHORTENED_AT_ONCE
            if self.retry_at or (count and shortens and (full or time_is_up())):
                self.complete = False
                break
            if isinstance(verdict, Compress):
                wanted[node.id] = _Wanted(node, verdict.target, batch.attempts[node.id])
            else:
                self._settle(node, verdict)
            if len(wanted) >= at_once:
                self._compress(wanted)
                wanted = {}
        self._compress(wanted)
        self._index(batch.attempts)

    def write(self, connection: Connection, focus: Collection[int]) -> None:
        """Write what became of the nodes, which was decided on this ``focus``."""
        agent_id, number, outcome = self.lease.agent_id, self.cursor.number, self.outcome
        broken = decay_links(connection, agent_id, outcome.fading, focus, self.parameters)
        write_outcome(connection, agent_id, number, outcome)
        index_nodes(connection, agent_id, self.embedded, self.terms)
        counts = PassCounts(
            scanned=outcome.scanned,
            compressed=len(outcome.compressed),
            forgotten=len(outcome.forgotten),
            broken=broken,
            given_up=len(outcome.given_up),
        )
        log_pass(connection, agent_id, number, counts)

    def _settle(self, node: ScannedNode, verdict: Protected | Forgotten | Kept) -> None:
        match verdict:
            case Protected():
                self.outcome.protected.append(node.id)
            case Forgotten(reason):
                self.outcome.forgotten[node.id] = reason
            case Kept():
                self.outcome.kept.append(node.id)

    def _compress(self, wanted: Mapping[int, _Wanted]) -> None:
        """Have nodes shortened, as many as the compressor takes at once."""
        tried = {id_: each for id_, each in wanted.items() if not self._is_spent(each)}
        if not tried or not self._embedder_answers():
            return
        # Counted before the calls and kept even if this process dies in one.
        with self.lease.effect(durable=False) as connection:
            texts = count_attempts(connection, self.lease.agent_id, list(tried), self.cursor.number)
        for id_, each in tried.items():
            if id_ in texts:  # else erased since the batch was read
                self._shorten(each, texts[id_])

    def _is_spent(self, wanted: _Wanted) -> bool:
        spent = wanted.attempts >= self.parameters.max_retries
        if spent:
            self._give_up(wanted.node.id)
        return spent

    def _shorten(self, wanted: _Wanted, text: NodeText) -> None:
        node, attempts = wanted.node, wanted.attempts + 1
        try:
            answer = self.models.compressor.compress(text.content, wanted.target)
            self.unavailable = 0
            shrunk = check_compressed(answer, target=wanted.target, length=len(text.content))
        except SmallModelUnavailableError as error:
            self.unavailable += 1
            self._fail(node.id, attempts, error.retry_after_s or 0.0)
        except SmallModelError:
            self.unavailable = 0
            self._fail(node.id, attempts)
        else:
            self.outcome.compressed.append(_compressed(node, text, shrunk))

    def _fail(self, node: int, attempts: int, asked_s: float = 0.0) -> None:
        """Let the node wait, or give up on it; stop when the model as a whole is down."""
        if self.unavailable >= MODEL_DOWN:
            self.retry_at = self._after(self.unavailable - MODEL_DOWN + 1, asked_s)
        if attempts >= self.parameters.max_retries:
            self._give_up(node)
        else:
            self.outcome.waiting[node] = self._after(attempts, asked_s)

    def _stop(self, error: SmallModelUnavailableError) -> None:
        """End the pass early, since what is left of memories cannot be embedded.

        What was shortened is not lost: it is shortened again when the embedder answers.
        """
        self.outcome.compressed.clear()
        self.complete = False
        self.mute = True
        self.unavailable = max(self.unavailable + 1, MODEL_DOWN)
        failures = self.unavailable - MODEL_DOWN + 1
        self.retry_at = self._after(failures, error.retry_after_s or 0.0)

    def _embedder_answers(self) -> bool:
        """Ask an embedder that was down something before the compressor is paid for."""
        if self.mute:
            try:
                self.models.embedder.embed([_PROBE])
            except SmallModelUnavailableError as error:
                self._stop(error)
                return False
            self.mute = False
        return True

    def _give_up(self, node: int) -> None:
        self.outcome.kept.append(node)
        self.outcome.given_up.append(node)

    def _after(self, failures: int, asked_s: float) -> datetime:
        wait_s = max(backoff_s(failures, self.random.random()), asked_s)
        return self.clock() + timedelta(seconds=wait_s)

    def _index(self, attempts: Mapping[int, int]) -> None:
        """Embed what was compressed, in one call, and count its terms anew."""
        contents = {each.id: each.text.content for each in self.outcome.compressed}
        if not contents:
            return
        try:
            vectors = self.models.embedder.embed(list(contents.values()))
        except SmallModelUnavailableError as error:
            self._stop(error)
            return
        except SmallModelError:
            self.outcome.compressed.clear()
            for node in contents:
                self._fail(node, attempts[node] + 1)
            return
        self.embedded = Embedded(list(contents), vectors, self.models.embedder.model)
        self.terms = {node: terms_of(self.models.lexicon, text) for node, text in contents.items()}


_PROBE = "Is anybody there?"
_NO_VECTORS: Vectors = np.zeros((0, 1), dtype=np.float32)


def _compressed(node: ScannedNode, old: NodeText, content: str) -> Compressed:
    text = NodeText(
        content=content,
        phrase=shrunk_phrase(old.phrase, content),
        keywords=shrunk_keywords(old.keywords, content),
        language=old.language,
    )
    generic = is_generic(len(content), node.original_length)
    return Compressed(node.id, text, before=len(old.content), generic=generic)
