"""Reading nodes for a scan, and writing what a batch of scans did (M12)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from psycopg.types.json import Jsonb
from sqlalchemy import Connection

from memci.domain.language import Language
from memci.domain.memory.node import NodeKind
from memci.domain.memory.outcome import Compressed, NodeText, Outcome
from memci.domain.memory.scan import ScannedNode, Supports
from memci.storage.focus import focus_nodes
from memci.storage.links import make_generic, supports_of
from memci.storage.nodes import forget_nodes
from memci.storage.trail import TrailEvent, append_trail

# A node that waits for its model is passed over (M13). The inner query keeps Postgres from
# measuring the contents of all nodes before it takes the first ones.
_NEXT = """
SELECT id, kind, char_length(content) AS length, original_length,
       CASE WHEN attempts_pass = %(pass)s THEN attempts ELSE 0 END AS attempts
FROM (
    SELECT id, kind, content, original_length, attempts, attempts_pass, scan_count FROM node
    WHERE agent_id = %(agent)s AND last_pass < %(pass)s
    AND NOT (attempts_pass = %(pass)s AND coalesce(retry_at > %(now)s, false))
    ORDER BY scan_count, id LIMIT %(limit)s
) AS next
ORDER BY scan_count, id
"""
_COUNT_ATTEMPTS = """
UPDATE node SET attempts = CASE WHEN attempts_pass = %(pass)s THEN attempts + 1 ELSE 1 END,
                attempts_pass = %(pass)s, retry_at = NULL
WHERE agent_id = %(agent)s AND id = ANY(%(nodes)s)
RETURNING id, content, phrase, keywords, language
"""
_SCANNED = """
UPDATE node SET scan_count = scan_count + 1, last_pass = %s
WHERE agent_id = %s AND id = ANY(%s)
"""
_SHRINK = """
UPDATE node SET content = new.content, phrase = new.phrase, keywords = new.keywords
FROM jsonb_to_recordset(%s) AS new(id bigint, content text, phrase text, keywords text[])
WHERE node.agent_id = %s AND node.id = new.id
RETURNING node.id
"""
_WAIT = """
UPDATE node SET retry_at = new.retry_at
FROM unnest(%s::bigint[], %s::timestamptz[]) AS new(id, retry_at)
WHERE node.agent_id = %s AND node.id = new.id
"""


@dataclass(frozen=True, slots=True)
class Batch:
    """The next nodes of a pass, in scan order, with all that their scans depend on.

    ``attempts`` are the small-model calls already counted in this pass, by node.
    """

    nodes: list[ScannedNode]
    attempts: dict[int, int]
    supports: Supports
    focus: frozenset[int]


def next_batch(
    connection: Connection, agent_id: str, pass_number: int, now: datetime, limit: int
) -> Batch:
    """Read the next nodes that the pass has not scanned (M18)."""
    values = {"agent": agent_id, "pass": pass_number, "now": now, "limit": limit}
    rows = connection.exec_driver_sql(_NEXT, values).all()
    nodes = [ScannedNode(row[0], NodeKind(row[1]), row[2], row[3]) for row in rows]
    return Batch(
        nodes=nodes,
        attempts={row[0]: row[4] for row in rows},
        supports=supports_of(connection, agent_id, [node.id for node in nodes]),
        focus=focus_nodes(connection, agent_id),
    )


def count_attempts(
    connection: Connection, agent_id: str, nodes: Collection[int], pass_number: int
) -> dict[int, NodeText]:
    """Count small-model calls that are about to be made, and return what to compress (M13).

    Nodes that are gone are left out.
    """
    values = {"agent": agent_id, "pass": pass_number, "nodes": list(nodes)}
    return {
        row[0]: NodeText(row[1], row[2], tuple(row[3]), Language(row[4]))
        for row in connection.exec_driver_sql(_COUNT_ATTEMPTS, values)
    }


def write_outcome(
    connection: Connection,
    agent_id: str,
    pass_number: int,
    outcome: Outcome,
) -> None:
    """Write what a batch of scans did to its nodes; their links fade apart (``decay_links``)."""
    forget_nodes(connection, agent_id, outcome.forgotten, pass_number)
    _write_compressed(connection, agent_id, pass_number, outcome.compressed)
    scanned = [*outcome.protected, *outcome.fading]
    connection.exec_driver_sql(_SCANNED, (pass_number, agent_id, scanned))
    if outcome.waiting:
        waits = (list(outcome.waiting), list(outcome.waiting.values()))
        connection.exec_driver_sql(_WAIT, (*waits, agent_id))


def _write_compressed(
    connection: Connection, agent_id: str, pass_number: int, compressed: list[Compressed]
) -> None:
    if not compressed:
        return
    rows = [
        {
            "id": each.id,
            "content": each.text.content,
            "phrase": each.text.phrase,
            "keywords": each.text.keywords,
        }
        for each in compressed
    ]
    connection.exec_driver_sql(_SHRINK, (Jsonb(rows), agent_id))
    for language in Language:
        faint = [each.id for each in compressed if each.generic and each.text.language == language]
        make_generic(connection, agent_id, faint, language)
    details = {each.id: {"from": each.before, "to": len(each.text.content)} for each in compressed}
    append_trail(connection, agent_id, TrailEvent.COMPRESSED, pass_number, details)
