"""A pass that shortens every memory, with and without embedding the shortened texts."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice

import psycopg

from benchmarks.bare_encoding import BareEncoding
from benchmarks.celery_messages import CeleryMessages
from benchmarks.compare import Comparison, Size, alternate
from benchmarks.report import Bar, Finding
from benchmarks.sentences import conversation
from benchmarks.stage import Stage
from memci.broker.names import COMPRESS_QUEUE, LANE_COMPRESS_TASK
from memci.language.detection import language_of
from memci.smallmodel.offline.compressor import OfflineCompressor
from memci.testing import wait_until

_AGENT = "ada"
_MESSAGES_EACH = 3
_TABLES = (
    "lane", "node", "node_vector", "node_term", "link", "trail", "pass_log", "pass_snapshot",
    "replay_log",
)  # fmt: skip
# Each memory has one link of strength 0.5, so its target is half of its original length.
_FILL = """
INSERT INTO node (agent_id, id, slot, kind, type, content, original_length, phrase, keywords,
                  language, message_seqs)
SELECT %(agent)s, n, n, 'memory', 'episodic', text, char_length(text), left(text, 40), '{}',
       language, ARRAY[n]
FROM unnest(%(texts)s::text[], %(languages)s::text[]) WITH ORDINALITY AS new(text, language, n)
"""
_FILL_LINKS = """
INSERT INTO link (agent_id, source, target, relation, strength, hint)
SELECT %(agent)s, n, n %% %(nodes)s + 1, 'related', 0.5, '' FROM generate_series(1, %(nodes)s) AS n
"""
_REQUEST = """
INSERT INTO lane (agent_id, last_node_id, compress_req, compress_at)
VALUES (%(agent)s, %(nodes)s, 1, now())
"""
_DONE = "SELECT compress_done = compress_req FROM lane WHERE agent_id = %(agent)s"
_COMPRESSED = "SELECT compressed FROM pass_log WHERE agent_id = %(agent)s"
# For a pass that must outlast the measurement beside it.
_MORE_THAN_ENOUGH = 10_000


def measure(stage: Stage, *, size: Size) -> Iterator[Finding]:
    """Measure whole passes by a real compress worker, from the token to the end of the pass."""
    runs, nodes = size.pick((1, 20), (2, 300), (5, 600))
    # Each run has other texts, since vectors are cached.
    batches = [memories(nodes, seed) for seed in range(runs)]
    halves = [
        [OfflineCompressor().compress(text, len(text) // 2) for text in run] for run in batches
    ]
    bare = BareEncoding()
    bare.rate(halves[0][:32])
    encoded = iter(halves)
    for app, baseline, against, name, bar in (
        ("benchmarks.worker_app", lambda: _compress(batches[0]), "the compressor alone",
         "compression without embedding", Bar(300.0, of="ours")),
        ("workers", lambda: bare.rate(next(encoded)), "bare batched MiniLM encoding of the same",
         "compression with embedding", Bar(0.6)),
    ):  # fmt: skip
        yield _compared(stage, (app, name, batches), baseline).finding(
            name, "memories/s", against, bar, f"{nodes} memories cut to a half, one worker"
        )


def memories(count: int, seed: int) -> list[str]:
    """Return different texts of some hundred characters."""
    contents = (message.content or "" for message in conversation(1_000 + seed))
    return [" ".join(islice(contents, _MESSAGES_EACH)) for _ in range(count)]


def _compared(
    stage: Stage, case: tuple[str, str, list[list[str]]], baseline: Callable[[], float]
) -> Comparison:
    app, name, batches = case
    with stage.owner() as connection:
        connection.execute("DELETE FROM vector_model")  # the two apps have different vectors
    worker = stage.start_worker(app, COMPRESS_QUEUE, "-P", "threads", "-c", "4")
    tokens = CeleryMessages(stage.broker_url, LANE_COMPRESS_TASK)
    one_pass(stage, tokens, memories(64, -1))
    texts = iter(batches)
    compared = alternate(lambda: one_pass(stage, tokens, next(texts)), baseline, len(batches), name)
    stage.stop([worker])
    return compared


def one_pass(stage: Stage, tokens: CeleryMessages, texts: Sequence[str]) -> float:
    """Run a pass over these texts; return memories per second."""
    prepare(stage, texts)
    tokens.prepare([_AGENT])
    with stage.owner() as connection:
        connection.execute(_REQUEST, {"agent": _AGENT, "nodes": len(texts)})
        began = time.perf_counter()
        tokens.release(COMPRESS_QUEUE)

        def is_done() -> bool:
            row = connection.execute(_DONE, {"agent": _AGENT}).fetchone()
            return row is not None and bool(row[0])

        wait_until(is_done, "the pass is over", timeout_s=120.0)
        took = time.perf_counter() - began
        assert _compressed(connection) == len(texts)
    return len(texts) / took


@contextmanager
def running_pass(stage: Stage) -> Iterator[None]:
    """Let a compress worker shorten memories meanwhile, more than it can finish."""
    prepare(stage, memories(_MORE_THAN_ENOUGH, -2))
    worker = stage.start_worker(
        "workers", COMPRESS_QUEUE, "-P", "threads", "-c", "4", name="compress"
    )
    tokens = CeleryMessages(stage.broker_url, LANE_COMPRESS_TASK)
    tokens.prepare([_AGENT])
    with stage.owner() as connection:
        connection.execute(_REQUEST, {"agent": _AGENT, "nodes": _MORE_THAN_ENOUGH})
        tokens.release(COMPRESS_QUEUE)
        wait_until(lambda: _compressed(connection) > 0, "the pass is under way", timeout_s=60.0)
        yield
        assert _compressed(connection) < _MORE_THAN_ENOUGH, "the pass was over too soon"
    stage.stop([worker])


def _compressed(connection: psycopg.Connection) -> int:
    row = connection.execute(_COMPRESSED, {"agent": _AGENT}).fetchone()
    return int(row[0]) if row else 0


def prepare(stage: Stage, texts: Sequence[str]) -> None:
    """Fill the network again."""
    values = {
        "agent": _AGENT,
        "nodes": len(texts),
        "texts": list(texts),
        "languages": [language_of(text) for text in texts],
    }
    with stage.owner() as connection:
        for table in _TABLES:
            connection.execute(f"DELETE FROM {table} WHERE agent_id = %(agent)s".encode(), values)
        connection.execute(_FILL, values)
        connection.execute(_FILL_LINKS, values)
        connection.execute("VACUUM ANALYZE node, link")


def _compress(texts: Sequence[str]) -> float:
    compressor = OfflineCompressor()
    began = time.perf_counter()
    for text in texts:
        compressor.compress(text, len(text) // 2)
    return len(texts) / (time.perf_counter() - began)
