"""A pass over a large network without model calls, against the same changes as bare SQL."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TypeAlias

from benchmarks.celery_messages import CeleryMessages
from benchmarks.compare import Size, alternate
from benchmarks.report import Bar, Finding
from benchmarks.stage import Stage
from memci.broker.names import COMPRESS_QUEUE, LANE_COMPRESS_TASK
from memci.testing import wait_until

LINKS_EACH = 4
Values: TypeAlias = dict[str, object]  # parameters of the statements below
_AGENT = "ada"

# Every node is important enough to keep its text (4 × 0.5 ≥ 1), so no model is called.
_FILL = """
INSERT INTO lane (agent_id, last_node_id) VALUES (%(agent)s, %(nodes)s);
INSERT INTO node (agent_id, id, slot, kind, type, content, original_length, phrase, keywords,
                  language, message_seqs)
SELECT %(agent)s, n, n, 'memory', 'episodic', repeat('Something that was said. ', 8), 200,
       'something', '{something,said}', 'en', ARRAY[n] FROM generate_series(1, %(nodes)s) AS n;
"""
_FILL_LINKS = """
TRUNCATE link;
INSERT INTO link (agent_id, source, target, relation, strength, hint)
SELECT %(agent)s, n, (n + step * 997) %% %(nodes)s + 1, 'related', 0.5, 'something'
FROM generate_series(1, %(nodes)s) AS n, generate_series(1, %(each)s) AS step;
"""
_REQUEST = "UPDATE lane SET compress_req = compress_req + 1, compress_at = now()"
_DONE = "SELECT compress_done = compress_req, pass_number FROM lane"
_SCANNED = "SELECT scanned FROM pass_log ORDER BY number DESC LIMIT 1"
_BARE = (
    "DELETE FROM link WHERE agent_id = %(agent)s AND strength * 0.97 < 0.01",
    "UPDATE link SET strength = strength * 0.97 WHERE agent_id = %(agent)s",
    """DELETE FROM node WHERE agent_id = %(agent)s AND NOT EXISTS (
           SELECT FROM link WHERE link.agent_id = node.agent_id AND link.source = node.id)""",
    """UPDATE node SET scan_count = scan_count + 1, last_pass = lane.pass_number
       FROM lane WHERE lane.agent_id = node.agent_id AND node.agent_id = %(agent)s""",
)


def measure(stage: Stage, *, size: Size) -> Iterator[Finding]:
    """Measure a pass by a real compress worker, from its token to the end of the pass."""
    runs, nodes = size.pick(1, 3, 7), size.pick(100, 10_000, 10_000)
    values = {"agent": _AGENT, "nodes": nodes, "each": LINKS_EACH}
    with stage.owner() as connection:
        for statement in _FILL.split(";")[:-1]:
            connection.execute(statement.encode(), values)
    worker = stage.start_worker("benchmarks.worker_app", COMPRESS_QUEUE, "-P", "threads", "-c", "4")
    tokens = CeleryMessages(stage.broker_url, LANE_COMPRESS_TASK)
    _one_pass(stage, tokens, values)
    compared = alternate(
        lambda: _one_pass(stage, tokens, values),
        lambda: _bare(stage, values),
        runs,
        "scan, seconds",
    )
    stage.stop([worker])
    yield compared.finding(
        f"scan: a pass over {nodes:,} nodes and {nodes * LINKS_EACH:,} links",
        "s",
        "bare SQL, one transaction",
        Bar(0.75, at_most=True, of="ours"),
        "fenced batches, by a worker, Celery hop included",
    )


def _one_pass(stage: Stage, tokens: CeleryMessages, values: Values) -> float:
    _prepare(stage, values)
    tokens.prepare([_AGENT])
    with stage.owner() as connection:
        connection.execute(_REQUEST)
        began = time.perf_counter()
        tokens.release(COMPRESS_QUEUE)

        def is_done() -> bool:
            row = connection.execute(_DONE).fetchone()
            return row is not None and bool(row[0])

        wait_until(is_done, "the pass is over", timeout_s=60.0)
        took = time.perf_counter() - began
        scanned = connection.execute(_SCANNED).fetchone()
        assert scanned == (values["nodes"],), scanned
    return took


def _bare(stage: Stage, values: Values) -> float:
    _prepare(stage, values)
    with stage.owner() as connection:
        began = time.perf_counter()
        with connection.transaction():
            for statement in _BARE:
                connection.execute(statement.encode(), values)
        return time.perf_counter() - began


def _prepare(stage: Stage, values: Values) -> None:
    """Restore the network, and clean up as autovacuum does."""
    with stage.owner() as connection:
        for statement in _FILL_LINKS.split(";")[:-1]:
            connection.execute(statement.encode(), values)
        connection.execute("VACUUM ANALYZE node, link, lane")
        connection.execute("CHECKPOINT")
