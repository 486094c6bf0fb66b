"""The history of each node, its successors and its origins (M24, M27, R5).

The successor of a restored memory is the one made again; the successor of a merged memory is the
one that replaced the group. Successors may be forgotten, restored and merged in turn. Ids ascend.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from psycopg.types.json import Jsonb
from sqlalchemy import Connection, RowMapping

from memci.domain.memory.compression_scan import Forgetting
from memci.domain.memory.node import NodeEvent, NodeKind, RemovalReason, VersionReason
from memci.domain.memory.passage import Passage, details_of, passages

_APPEND = """
INSERT INTO trail (agent_id, node_id, event, pass_number, details)
SELECT %s, id, %s, %s, details FROM unnest(%s::bigint[], %s::jsonb[]) AS new(id, details)
ORDER BY id
"""


def append_history(
    connection: Connection,
    agent_id: str,
    event: NodeEvent,
    pass_number: int,
    details: Mapping[int, Mapping[str, Any]],
) -> None:
    """Add an event to the history of nodes; ``details`` by node id, without text."""
    if details:
        connection.exec_driver_sql(
            _APPEND,
            (agent_id, event, pass_number, list(details), list(map(Jsonb, details.values()))),
        )


# Which memory replaces which.
_KEEP_VERSIONS = """
INSERT INTO node_version (agent_id, node_id, replaced_by, reason, content, phrase, keywords,
                          language, type, message_seqs, session_id, user_id, said_at, until,
                          said_offset)
SELECT n.agent_id, n.id, replaced.new, %(reason)s, n.content, n.phrase, n.keywords, n.language,
       n.type, n.message_seqs, n.session_id, n.user_id, n.said_at, %(until)s::timestamptz,
       n.said_offset
  FROM unnest(%(old)s::bigint[], %(new)s::bigint[]) AS replaced(old, new)
  JOIN node n ON n.agent_id = %(agent)s AND n.id = replaced.old
ON CONFLICT (agent_id, node_id, replaced_by) DO NOTHING
"""


def keep_versions(
    connection: Connection,
    agent_id: str,
    replaced: Mapping[int, int],
    reason: VersionReason,
    until: datetime | None = None,
) -> None:
    """Store the present texts of memories; ``replaced``: the memory that replaces each."""
    pairs = {"old": list(replaced), "new": list(replaced.values())}
    values = {**pairs, "agent": agent_id, "reason": reason, "until": until}
    connection.exec_driver_sql(_KEEP_VERSIONS, values)


# Follows "WITH RECURSIVE line AS (SELECT of, id ... UNION", up to the end of the line.
FOLLOWED = """
SELECT line.of, step.successor FROM line CROSS JOIN LATERAL (
    SELECT coalesce(t.details->>'into', t.details->>'as')::bigint AS successor FROM trail t
     WHERE t.agent_id = %(agent)s AND t.node_id = line.id
       AND (t.event = 'merged' OR t.event = 'restored' AND t.details ? 'as') OFFSET 0) step
"""
_SUCCESSORS = f"""
WITH RECURSIVE line AS (
    SELECT each.id AS of, each.id FROM unnest(%(nodes)s::bigint[]) AS each(id)
     UNION {FOLLOWED})
SELECT line.of, max(line.id) AS last, max(n.id) AS living,
       bool_or(EXISTS (SELECT FROM trail t WHERE t.agent_id = %(agent)s AND t.node_id = line.id
                          AND t.event = 'merged')) AS merged
  FROM line LEFT JOIN node n ON n.agent_id = %(agent)s AND n.id = line.id
 GROUP BY line.of
"""  # noqa: S608 - a constant of this module
_LAST = """
SELECT DISTINCT ON (t.node_id) t.node_id, t.event, t.pass_number, t.details, t.at FROM trail t
 WHERE t.agent_id = %s AND t.node_id = ANY(%s) AND t.event = ANY(%s)
 ORDER BY t.node_id, t.id DESC
"""
# The events that remove a node; all others are notes on it.
_FATAL = [
    NodeEvent.FORGOTTEN, NodeEvent.RESTORED, NodeEvent.MERGED, NodeEvent.ERASED,
    NodeEvent.CORRECTED, NodeEvent.DELETED,
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Successor:
    """The successors of a removed node."""

    last: int  # the node itself if there is none
    living: int | None  # the one that is alive
    merged: bool  # it or one of them was merged into another


def successors_of(
    connection: Connection, agent_id: str, nodes: Collection[int]
) -> dict[int, Successor]:
    """Return the successor of each of these nodes."""
    if not nodes:
        return {}
    values = {"agent": agent_id, "nodes": list(nodes)}
    rows = connection.exec_driver_sql(_SUCCESSORS, values)
    return {row.of: Successor(row.last, row.living, row.merged) for row in rows}


def removal_reasons(
    connection: Connection, agent_id: str, removed: Sequence[int]
) -> dict[int, RemovalReason]:
    """Return why nodes were removed; forgotten where no trail says otherwise."""
    events = last_events(connection, agent_id, removed)
    return {node: removal_reason(events.get(node)) for node in removed}


def last_events(
    connection: Connection, agent_id: str, removed: Collection[int]
) -> dict[int, RowMapping]:
    """Return the event that removed each of these nodes, as far as their trails have it."""
    rows = connection.exec_driver_sql(_LAST, (agent_id, list(removed), _FATAL)).mappings()
    return {row["node_id"]: row for row in rows}


def removal_reason(event: RowMapping | None) -> RemovalReason:
    """Return why a node was removed, by the event that removed it."""
    if event is None:
        return RemovalReason.FORGOTTEN
    reason = event["details"].get("reason")
    if event["event"] == NodeEvent.FORGOTTEN and reason == Forgetting.SWITCHED:
        return RemovalReason.SWITCHED
    return RemovalReason(event["event"])


_ORIGIN = """
SELECT t.details->'messages', t.details, t.details->>'kind',
       EXISTS (SELECT FROM node n WHERE n.agent_id = t.agent_id AND n.id = t.node_id),
       (SELECT count(*) FROM message m WHERE m.agent_id = t.agent_id AND m.seq IN (
            SELECT taken::bigint FROM jsonb_array_elements_text(t.details->'messages') AS o(taken)))
  FROM trail t WHERE t.agent_id = %s AND t.node_id = %s AND t.event = 'created'
"""
# A node without a span, as archives may have them, counts as made of its whole messages. Merged
# nodes are found by their successors.
_SAME_MESSAGES_LIVING = f"""
WITH RECURSIVE same AS (
    SELECT id FROM node WHERE agent_id = %(agent)s AND kind = 'memory'
       AND message_seqs = %(seqs)s::bigint[]
     UNION ALL
    SELECT node_id FROM node_version WHERE agent_id = %(agent)s AND reason = 'merged'
       AND message_seqs = %(seqs)s::bigint[]),
line AS (
    SELECT same.id AS of, same.id FROM same
      JOIN trail t ON t.agent_id = %(agent)s AND t.node_id = same.id AND t.event = 'created'
     WHERE t.details->'span' IS NOT DISTINCT FROM to_jsonb(%(span)s::bigint[])
     UNION {FOLLOWED})
SELECT max(n.id) FROM line JOIN node n ON n.agent_id = %(agent)s AND n.id = line.id
"""  # noqa: S608 - a constant of ours
_SAME_MESSAGES_FORGOTTEN = """
SELECT t.node_id FROM trail t
 WHERE t.agent_id = %(agent)s AND t.event = 'created'
   AND t.details->'messages' = to_jsonb(%(seqs)s::bigint[])
   AND t.details->'span' IS NOT DISTINCT FROM to_jsonb(%(span)s::bigint[])
   AND t.details->>'kind' IS DISTINCT FROM 'entity'
   AND 'forgotten' = (SELECT o.event FROM trail o
                       WHERE o.agent_id = t.agent_id AND o.node_id = t.node_id AND o.event <> 'used'
                       ORDER BY o.id DESC LIMIT 1)
 ORDER BY t.node_id
"""
_MADE_OF = """
SELECT node_id, details FROM trail WHERE agent_id = %s AND node_id = ANY(%s) AND event = 'created'
"""
_RESTORED = """
SELECT (t.details->>'as')::bigint, (t.details->>'job')::uuid,
       EXISTS (SELECT FROM node n
                WHERE n.agent_id = t.agent_id AND n.id = (t.details->>'as')::bigint)
  FROM trail t
 WHERE t.agent_id = %s AND t.node_id = %s AND t.event = 'restored' AND t.details ? 'as'
 ORDER BY t.id DESC LIMIT 1
"""


@dataclass(frozen=True, slots=True)
class Origin:
    """The messages of a node."""

    kind: NodeKind
    seqs: tuple[int, ...]
    passages: tuple[Passage, ...]
    lives: bool
    complete: bool  # all messages are still stored

    @property
    def span(self) -> Sequence[int] | None:
        """The span that distinguishes it from other nodes of the same messages, if any."""
        return details_of(self.passages).get("span")


def origin_of(connection: Connection, agent_id: str, node_id: int) -> Origin | None:
    """Return a node's origin; None if the node never existed."""
    row = connection.exec_driver_sql(_ORIGIN, (agent_id, node_id)).first()
    if row is None:
        return None
    seqs, details, kind, lives, stored = row
    return Origin(
        kind=NodeKind(kind or NodeKind.MEMORY),
        seqs=tuple(seqs),
        passages=passages(seqs, details),
        lives=lives,
        complete=bool(seqs) and stored == len(set(seqs)),
    )


def passages_of(
    connection: Connection, agent_id: str, nodes: Collection[int]
) -> dict[int, tuple[Passage, ...]]:
    """Return the passages that memories were made of, by node."""
    rows = connection.exec_driver_sql(_MADE_OF, (agent_id, list(nodes)))
    return {row.node_id: passages(row.details["messages"], row.details) for row in rows}


def memory_telling(
    connection: Connection, agent_id: str, seqs: Sequence[int], span: Sequence[int] | None
) -> int | None:
    """Return a living memory of the same messages and span, or its living successor."""
    return connection.exec_driver_sql(
        _SAME_MESSAGES_LIVING, _same_messages(agent_id, seqs, span)
    ).scalar()


def forgotten_telling(
    connection: Connection, agent_id: str, seqs: Sequence[int], span: Sequence[int] | None
) -> list[int]:
    """Return the forgotten, unrestored memories of the same messages and span."""
    rows = connection.exec_driver_sql(
        _SAME_MESSAGES_FORGOTTEN, _same_messages(agent_id, seqs, span)
    )
    return list(rows.scalars())


def _same_messages(
    agent_id: str, seqs: Sequence[int], span: Sequence[int] | None
) -> dict[str, object]:
    return {"agent": agent_id, "seqs": list(seqs), "span": None if span is None else list(span)}


class Restored(NamedTuple):
    """The node that restores a forgotten one, its job, and whether the node lives."""

    node_id: int
    job_id: UUID
    lives: bool


def last_restored(connection: Connection, agent_id: str, node_id: int) -> Restored | None:
    """Return the last restoration of a forgotten node."""
    row = connection.exec_driver_sql(_RESTORED, (agent_id, node_id)).first()
    return None if row is None else Restored(*row)
