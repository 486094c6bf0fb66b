"""The pass of compression over one network, in batches of scans (M12 to M18)."""

import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from random import Random

import numpy as np

from memci.domain.job import backoff_s
from memci.domain.memory import compression_scan
from memci.domain.memory.changed_facts import without_ended
from memci.domain.memory.node import is_generic
from memci.domain.memory.parameters import MemoryParameters
from memci.errors import SmallModelAnswerError, SmallModelError, SmallModelUnavailableError
from memci.jobs.consolidate import utc_now
from memci.jobs.index import check_embedder, terms_of
from memci.queue.lease import Lease
from memci.queue.usage_accounting import Accounts
from memci.smallmodel.registry import SmallModels
from memci.smallmodel.vector_space import Vectors
from memci.storage.agents import parameters_of
from memci.storage.network import beliefs, passes
from memci.storage.network.links import decay_links, focus_nodes
from memci.storage.search.index import Embedded, index_nodes
from memci.storage.session import Connection, Database

# So many calls in a row, on different nodes, without an answer: the model as a whole is down.
MODEL_DOWN = 3
# Memories shortened in one batch: what is left of them is embedded in one call, and the lane looks
# at its mailbox when they are written.
_SHORTENED_AT_ONCE = 32


@dataclass(frozen=True, slots=True)
class _Shortening:
    """A node to be shortened."""

    node: compression_scan.ScannedNode
    target: int  # characters
    attempts: int  # calls of the compressor for the node so far, in earlier passes too


@dataclass
class BatchScan:
    """The scan of one batch of nodes.

    ``unavailable`` counts the calls in a row, over batches, that got no answer.
    """

    lease: Lease
    cursor: compression_scan.PassCursor
    models: SmallModels
    parameters: MemoryParameters
    clock: Callable[[], datetime]
    random: Random
    outcome: compression_scan.Outcome = field(default_factory=compression_scan.Outcome)
    embedded: Embedded = field(default_factory=lambda: Embedded([], _NO_VECTORS, ""))
    terms: dict[int, Counter[str]] = field(default_factory=dict)
    complete: bool = True  # every node of the batch was scanned

    def __post_init__(self) -> None:
        self.unavailable = self.cursor.unavailable
        self.mute = self.cursor.mute
        self.retry_at: datetime | None = None

    def run(self, batch: passes.Batch, time_is_up: Callable[[], bool]) -> None:
        """Scan the nodes in order until the end, the time limit, or a failure of the model."""
        at_once = self.models.compressor.at_once
        requests: dict[int, _Shortening] = {}
        verdicts = compression_scan.scan(batch.nodes, batch.supports, batch.focus, self.parameters)
        for count, (node, verdict) in enumerate(verdicts):
            shortens = isinstance(verdict, compression_scan.Compress)
            full = len(requests) + len(self.outcome.compressed) >= _SHORTENED_AT_ONCE
            if self.retry_at or (count and shortens and (full or time_is_up())):
                self.complete = False
                break
            match verdict:
                case compression_scan.Compress(target):
                    requests[node.id] = _Shortening(node, target, batch.attempts[node.id])
                case compression_scan.Protected():
                    self.outcome.protected.append(node.id)
                case compression_scan.Forgotten(reason):
                    self.outcome.forgotten[node.id] = reason
                case compression_scan.Unchanged():
                    self.outcome.kept.append(node.id)
            if len(requests) >= at_once:
                self._compress(requests)
                requests = {}
        self._compress(requests)
        self._index(batch.attempts)

    def write(self, connection: Connection, focus: Collection[int]) -> None:
        """Write the outcome, which was decided with this ``focus``."""
        agent_id, number, outcome = self.lease.agent_id, self.cursor.number, self.outcome
        broken = decay_links(connection, agent_id, outcome.fading, focus, self.parameters)
        passes.write_outcome(connection, agent_id, number, outcome)
        index_nodes(connection, agent_id, self.embedded, self.terms)
        counts = passes.PassCounts(
            scanned=outcome.scanned,
            compressed=len(outcome.compressed),
            forgotten=len(outcome.forgotten),
            broken=broken,
            given_up=len(outcome.given_up),
        )
        passes.log_pass(connection, agent_id, number, counts)

    def _compress(self, requests: Mapping[int, _Shortening]) -> None:
        """Shorten these nodes; give up those that were tried too often."""
        most = self.parameters.max_retries
        tried = {id_: each for id_, each in requests.items() if each.attempts < most}
        for id_ in (each for each in requests if each not in tried):
            self._give_up(id_)
        if not tried or not self._embedder_answers():
            return
        # Counted before the calls and kept even if this process dies in one.
        with self.lease.effect(durable=False) as connection:
            texts = passes.count_attempts(connection, self.lease.agent_id, list(tried))
            ended = beliefs.ended_of(connection, self.lease.agent_id, list(tried))
        for id_, each in tried.items():
            if id_ in texts:  # else erased since the batch was read
                self._shorten(each, texts[id_], ended.get(id_, ()))

    def _shorten(
        self, request: _Shortening, text: compression_scan.NodeText, ended: Sequence[str]
    ) -> None:
        node, attempts = request.node, request.attempts + 1
        # What holds no more fades first: shortened, it could not be told from what holds.
        answer = without_ended(text.content, ended) or text.content
        try:
            if len(answer) > request.target:
                answer = self.models.compressor.compress(answer, request.target)
            self.unavailable = 0
            shrunk = compression_scan.check_compressed(
                answer, target=request.target, length=len(text.content)
            )
        except SmallModelUnavailableError as error:
            self.unavailable += 1
            self._fail(node.id, attempts, error.retry_after_s or 0.0)
        except SmallModelError:
            self.unavailable = 0
            self._fail(node.id, attempts)
        else:
            if any(map(str.isalnum, shrunk)):
                self.outcome.compressed.append(_compressed(node, text, shrunk))
            else:  # "…": nothing shorter would be true
                self.outcome.kept.append(node.id)
                self.outcome.shortest.append(node.id)

    def _fail(self, node: int, attempts: int, asked_s: float = 0.0) -> None:
        """Let the node wait, or give up on it; stop when the model as a whole is down."""
        if self.unavailable >= MODEL_DOWN:
            self.retry_at = self._after(self.unavailable - MODEL_DOWN + 1, asked_s)
        if attempts >= self.parameters.max_retries:
            self._give_up(node)
        else:
            self.outcome.waiting[node] = self._after(attempts, asked_s)

    def _stop(self, error: SmallModelUnavailableError) -> None:
        """End the pass early, since shortened memories cannot be embedded.

        They are shortened again when the embedder answers.
        """
        self.outcome.compressed.clear()
        self.complete = False
        self.mute = True
        self.unavailable = max(self.unavailable + 1, MODEL_DOWN)
        failures = self.unavailable - MODEL_DOWN + 1
        self.retry_at = self._after(failures, error.retry_after_s or 0.0)

    def _embedder_answers(self) -> bool:
        """Probe an embedder that was down, before calls of the compressor are paid for."""
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
        """Embed the shortened texts in one call, and count their terms."""
        contents = {each.id: each.text.content for each in self.outcome.compressed}
        if not contents:
            return
        try:
            vectors = self._embedded(contents)
        except SmallModelUnavailableError as error:
            self._stop(error)
            return
        self.outcome.compressed = [each for each in self.outcome.compressed if each.id in vectors]
        for node in contents.keys() - vectors.keys():
            self._fail(node, attempts[node] + 1)
        if vectors:
            rows, model = np.array([*vectors.values()]), self.models.embedder.model
            self.embedded = Embedded(list(vectors), rows, model)
        self.terms = {node: terms_of(self.models.lexicon, contents[node]) for node in vectors}

    def _embedded(self, contents: Mapping[int, str]) -> dict[int, Vectors]:
        """Return the vectors of texts, without those of texts that the embedder refuses."""
        embed, texts = self.models.embedder.embed, list(contents.values())
        try:
            return dict(zip(contents, embed(texts), strict=True))
        except SmallModelUnavailableError:
            raise
        except SmallModelError:
            found: dict[int, Vectors] = {}
            for node, text in contents.items():
                with suppress(SmallModelAnswerError):
                    found[node] = embed([text])[0]
            return found


_PROBE = "Is anybody there?"
_NO_VECTORS: Vectors = np.zeros((0, 1), dtype=np.float32)


def _compressed(
    node: compression_scan.ScannedNode, old: compression_scan.NodeText, content: str
) -> compression_scan.Compressed:
    keywords = compression_scan.shrunk_keywords(old.keywords, content)
    phrase = compression_scan.shrunk_phrase(old.phrase, keywords, content, old.language)
    text = compression_scan.NodeText(content, phrase, keywords, old.language)
    generic = is_generic(len(content), node.original_length)
    return compression_scan.Compressed(node.id, text, before=len(old.content), generic=generic)


# Nodes in one transaction. Each batch reads the network once, so small ones cost more; a large
# one holds the lane's lock longer.
BATCH = 1000


@dataclass
class NetworkCompression:
    """Scans networks, batch by batch, each batch committed whole and with the cursor."""

    database: Database
    models: SmallModels
    defaults: MemoryParameters  # of agents that set none
    snapshot_bytes: int = compression_scan.SNAPSHOT_BYTES  # limit of an agent's snapshots
    clock: Callable[[], datetime] = utc_now
    random: Random = field(default_factory=Random)

    def __post_init__(self) -> None:
        self._accounts = Accounts(self.database, self.defaults, clock=self.clock)

    def slice_ms(self, agent_id: str) -> int:
        """Return the agent's ``time_slice`` (M17)."""
        with self.database.agent_snapshot(agent_id) as connection:
            return parameters_of(connection, agent_id, self.defaults).time_slice

    def step(self, lease: Lease, *, budget_ms: int) -> bool:
        """Scan nodes for about ``budget_ms``, at least one; return True if more can be done now."""
        deadline = time.monotonic() + budget_ms / 1000
        cursor = self._cursor(lease)
        while cursor is not None and not cursor.waits(self.clock()):
            cursor = self._scan_batch(lease, cursor, deadline)
            if time.monotonic() >= deadline:
                break
        return cursor is not None and not cursor.waits(self.clock())

    def _cursor(self, lease: Lease) -> compression_scan.PassCursor | None:
        """Return the cursor of the pass under way, or of a new one if one is requested."""
        with self.database.agent_snapshot(lease.agent_id) as connection:
            check_embedder(connection, self.database, self.models.embedder)
            state = passes.compression_state(connection, lease.agent_id)
        if state.cursor is not None and state.cursor.fence == lease.fence:
            return state.cursor
        with lease.effect() as connection:
            state = passes.compression_state(connection, lease.agent_id)
            cursor = _next_cursor(connection, state, lease)
            if cursor is not None:
                old = state.cursor
                if old is not None and old.number < cursor.number:  # that pass never ends
                    size = self.snapshot_bytes
                    passes.take_snapshot(connection, lease.agent_id, old.number, size)
                passes.move_cursor(connection, lease.agent_id, cursor)
            return cursor

    def _scan_batch(
        self, lease: Lease, cursor: compression_scan.PassCursor, deadline: float
    ) -> compression_scan.PassCursor | None:
        """Scan the next nodes of the pass and commit; return the cursor, None at its end."""
        with self.database.agent_snapshot(lease.agent_id) as connection:
            parameters = parameters_of(connection, lease.agent_id, self.defaults)
            now = self.clock()
            batch = passes.next_batch(connection, lease.agent_id, cursor.number, now, BATCH)
        batch_scan = BatchScan(lease, cursor, self.models, parameters, self.clock, self.random)
        with self._accounts.of_pass(lease.agent_id, cursor.number):
            batch_scan.run(batch, time_is_up=lambda: time.monotonic() >= deadline)
        with lease.effect() as connection:
            if passes.compression_state(connection, lease.agent_id).cursor != cursor:
                return None  # cancelled meanwhile
            focus = set(focus_nodes(connection, lease.agent_id))
            if focus != batch.focus or passes.is_edited(connection, lease.agent_id, batch):
                return cursor  # the decisions are outdated: scan again
            return self._write(connection, batch_scan, batch)

    def _write(
        self, connection: Connection, batch_scan: BatchScan, batch: passes.Batch
    ) -> compression_scan.PassCursor | None:
        agent_id, cursor = batch_scan.lease.agent_id, batch_scan.cursor
        batch_scan.write(connection, batch.focus)
        retry_at = batch_scan.retry_at
        if batch_scan.complete and len(batch.nodes) < BATCH:
            left = passes.left_of_pass(connection, agent_id, cursor.number, self.clock())
            if not left.nodes:
                passes.end_pass(connection, agent_id, cursor)
                passes.take_snapshot(connection, agent_id, cursor.number, self.snapshot_bytes)
                return None
            if left.waiting == left.nodes:
                retry_at = retry_at or left.retry_at
        moved = replace(
            cursor,
            unavailable=batch_scan.unavailable,
            mute=batch_scan.mute,
            retry_at=retry_at,
        )
        if moved != cursor:
            passes.move_cursor(connection, agent_id, moved)
        return moved


def _next_cursor(
    connection: Connection, state: passes.CompressionState, lease: Lease
) -> compression_scan.PassCursor | None:
    """At the beginning of a time slice, continue the pass, begin one, or return None (M18).

    A request that came during a pass begins the next one here. That scans the nodes first that the
    old pass did not reach.
    """
    if state.cursor is not None and state.requested <= state.cursor.request:
        return replace(state.cursor, fence=lease.fence)
    if state.requested <= state.done:
        return None
    number = passes.begin_pass(connection, lease.agent_id)
    begun = compression_scan.PassCursor(number, request=state.requested, fence=lease.fence)
    if state.cursor is not None and state.cursor.unavailable >= MODEL_DOWN:
        # A new pass does not bring the model back.
        old = state.cursor
        return replace(begun, unavailable=old.unavailable, mute=old.mute, retry_at=old.retry_at)
    return begun
