"""Passes and their log, scans of nodes, snapshots, mentions (M10, M12, M17, M18)."""

from collections.abc import Collection
from dataclasses import asdict, dataclass
from datetime import datetime
from random import Random
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb
from sqlalchemy import Connection

from memci.domain.memory import compression_scan
from memci.domain.memory.creation import NetworkState, plan_mention
from memci.domain.memory.network_edition import ReplayEvent
from memci.domain.memory.node import NodeEvent, NodeKind
from memci.domain.memory.parameters import MemoryParameters
from memci.language.detection import Language, language_of
from memci.language.names import Entity
from memci.storage.network import links
from memci.storage.network.network_editions import log_event, log_scanned
from memci.storage.network.node_history import append_history
from memci.storage.network.nodes import SlotNeed, add_nodes, entity_nodes, forget_nodes, take_slots

_READ = """
SELECT compress_req, compress_done, compress_cursor, pass_number FROM lane WHERE agent_id = %s
"""
_POSITION = """
SELECT last_node_id,
       coalesce((SELECT max(p.number) FROM pass_log p WHERE p.agent_id = lane.agent_id), 0)
           AS pass_number
FROM lane WHERE agent_id = %s
"""
_BEGIN = """
UPDATE lane SET pass_number = pass_number + 1 WHERE agent_id = %s
RETURNING pass_number, message_seq
"""
_LOG = """
UPDATE pass_log SET scanned = scanned + %(scanned)s, compressed = compressed + %(compressed)s,
    forgotten = forgotten + %(forgotten)s, broken = broken + %(broken)s,
    given_up = given_up + %(given_up)s
WHERE agent_id = %(agent)s AND number = %(number)s
"""
_LEFT = """
SELECT count(*), count(*) FILTER (WHERE retry_at > %(now)s), min(retry_at)
FROM node WHERE agent_id = %(agent)s AND last_pass < %(pass)s
"""


@dataclass(frozen=True, slots=True)
class CompressionState:
    """The lane's state of compression, which is due while requested > done."""

    requested: int
    done: int
    cursor: compression_scan.PassCursor | None
    pass_number: int


@dataclass(frozen=True, slots=True)
class PassCounts:
    """Counts of what happened in a part of a pass."""

    scanned: int
    compressed: int
    forgotten: int
    broken: int
    given_up: int


@dataclass(frozen=True, slots=True)
class UnscannedNodes:
    """Unscanned nodes of a pass; ``waiting`` ones are retried by a model at ``retry_at``."""

    nodes: int
    waiting: int
    retry_at: datetime | None


def compression_state(connection: Connection, agent_id: str) -> CompressionState:
    """Read the state of compression; the lane must exist."""
    row = connection.exec_driver_sql(_READ, (agent_id,)).one()
    cursor = row.compress_cursor and _cursor(row.compress_cursor)
    return CompressionState(row.compress_req, row.compress_done, cursor, row.pass_number)


def position(connection: Connection, agent_id: str) -> tuple[int, int]:
    """Return the last node id, and the number of the network's last pass.

    Ids are the lane's in every edition; passes are the edition's own. The lane should be locked.
    """
    row = connection.exec_driver_sql(_POSITION, (agent_id,)).one()
    return row.last_node_id, row.pass_number


def begin_pass(connection: Connection, agent_id: str) -> int:
    """Take the next pass number and log the position of the pass in the messages."""
    number, message_seq = connection.exec_driver_sql(_BEGIN, (agent_id,)).one()
    open_pass(connection, agent_id, number, message_seq)
    return int(number)


def open_pass(connection: Connection, agent_id: str, number: int, message_seq: int) -> None:
    """Log that a pass begins at this position in the raw messages (M18)."""
    connection.exec_driver_sql(
        "INSERT INTO pass_log (agent_id, number, message_seq) VALUES (%s, %s, %s)",
        (agent_id, number, message_seq),
    )
    log_scanned(connection, agent_id, number, 0)


def move_cursor(connection: Connection, agent_id: str, cursor: compression_scan.PassCursor) -> None:
    """Store the position of the pass."""
    body = {
        "pass": cursor.number,
        "req": cursor.request,
        "fence": cursor.fence,
        "unavailable": cursor.unavailable,
        "mute": cursor.mute,
        "retry_at": cursor.retry_at and cursor.retry_at.isoformat(),
    }
    connection.exec_driver_sql(
        "UPDATE lane SET compress_cursor = %s WHERE agent_id = %s", (Jsonb(body), agent_id)
    )


def log_pass(connection: Connection, agent_id: str, number: int, counts: PassCounts) -> None:
    """Add to the pass's counts."""
    values = {"agent": agent_id, "number": number, **asdict(counts)}
    connection.exec_driver_sql(_LOG, values)
    log_scanned(connection, agent_id, number, counts.scanned)


def left_of_pass(
    connection: Connection, agent_id: str, number: int, now: datetime
) -> UnscannedNodes:
    """Count the nodes that a pass has still to scan."""
    values = {"agent": agent_id, "pass": number, "now": now}
    return UnscannedNodes(*connection.exec_driver_sql(_LEFT, values).one())


def close_pass(connection: Connection, agent_id: str, number: int) -> None:
    """Log that a pass has scanned all its nodes."""
    connection.exec_driver_sql(
        "UPDATE pass_log SET finished_at = now() WHERE agent_id = %s AND number = %s",
        (agent_id, number),
    )
    log_scanned(connection, agent_id, number, 0, ended=True)


def end_pass(connection: Connection, agent_id: str, cursor: compression_scan.PassCursor) -> None:
    """Mark a pass as finished, and the request for it as done."""
    close_pass(connection, agent_id, cursor.number)
    connection.exec_driver_sql(
        "UPDATE lane SET compress_cursor = NULL, compress_done = greatest(compress_done, %s)"
        " WHERE agent_id = %s",
        (cursor.request, agent_id),
    )


def _cursor(body: dict[str, Any]) -> compression_scan.PassCursor:
    retry_at = body.get("retry_at")
    return compression_scan.PassCursor(
        number=body["pass"],
        request=body["req"],
        fence=body.get("fence", 0),
        unavailable=body.get("unavailable", 0),
        mute=body.get("mute", False),
        retry_at=datetime.fromisoformat(retry_at) if retry_at else None,
    )


# A node that waits for its model is skipped (M13). The inner query keeps Postgres from measuring
# the contents of all nodes before it takes the first ones.
_NEXT = """
SELECT id, kind, char_length(content) AS length, original_length, pinned, attempts
FROM (
    SELECT id, kind, content, original_length, pinned, attempts, scan_count FROM node
    WHERE agent_id = %(agent)s AND last_pass < %(pass)s
    AND NOT coalesce(retry_at > %(now)s, false)
    ORDER BY scan_count, id LIMIT %(limit)s
) AS next
ORDER BY scan_count, id
"""
_PINNED = "SELECT id, pinned FROM node WHERE agent_id = %s AND id = ANY(%s)"
_COUNT_ATTEMPTS = """
UPDATE node SET attempts = attempts + 1, retry_at = NULL
WHERE agent_id = %(agent)s AND id = ANY(%(nodes)s)
RETURNING id, content, phrase, keywords, language
"""
# The count of a compression ends with it (M13).
_SCANNED = """
UPDATE node SET scan_count = scan_count + 1, last_pass = %s, retry_at = NULL,
    attempts = CASE WHEN id = ANY(%s) THEN 0 ELSE attempts END
WHERE agent_id = %s AND id = ANY(%s)
"""
_SHRINK = """
UPDATE node SET content = new.content, phrase = new.phrase, keywords = new.keywords
FROM jsonb_to_recordset(%s) AS new(id bigint, content text, phrase text, keywords text[])
WHERE node.agent_id = %s AND node.id = new.id
RETURNING node.id
"""
# What points at a memory hints at what is left of it (M15).
_HINT = """
UPDATE link SET hint = new.phrase
FROM jsonb_to_recordset(%s) AS new(id bigint, phrase text)
WHERE link.agent_id = %s AND link.target = new.id AND link.hint <> new.phrase
"""
_WAIT = """
UPDATE node SET retry_at = new.retry_at
FROM unnest(%s::bigint[], %s::timestamptz[]) AS new(id, retry_at)
WHERE node.agent_id = %s AND node.id = new.id
"""


@dataclass(frozen=True, slots=True)
class Batch:
    """The next nodes of a pass, in scan order, with everything their scans depend on.

    ``attempts`` are the small-model calls counted since a scan last finished with the node.
    """

    nodes: list[compression_scan.ScannedNode]
    attempts: dict[int, int]
    supports: compression_scan.Supports
    focus: frozenset[int]


def next_batch(
    connection: Connection, agent_id: str, pass_number: int, now: datetime, limit: int
) -> Batch:
    """Read the next nodes that the pass has not scanned (M18)."""
    values = {"agent": agent_id, "pass": pass_number, "now": now, "limit": limit}
    rows = connection.exec_driver_sql(_NEXT, values).all()
    nodes = [compression_scan.ScannedNode(row[0], NodeKind(row[1]), *row[2:5]) for row in rows]
    return Batch(
        nodes=nodes,
        attempts={row[0]: row.attempts for row in rows},
        supports=links.supports_of(connection, agent_id, [node.id for node in nodes]),
        focus=frozenset(links.focus_nodes(connection, agent_id)),
    )


def is_edited(connection: Connection, agent_id: str, batch: Batch) -> bool:
    """Return True if a node of the batch was pinned or unpinned since it was read."""
    read = {node.id: node.pinned for node in batch.nodes}
    rows = connection.exec_driver_sql(_PINNED, (agent_id, list(read))).all()
    return any(read[row.id] != row.pinned for row in rows)


def count_attempts(
    connection: Connection, agent_id: str, nodes: Collection[int]
) -> dict[int, compression_scan.NodeText]:
    """Count small-model calls before they are made; return the texts to compress (M13).

    The count goes on in later passes, until a scan finishes with the node. Nodes that are gone are
    left out.
    """
    values = {"agent": agent_id, "nodes": list(nodes)}
    return {
        row[0]: compression_scan.NodeText(row[1], row[2], tuple(row[3]), Language(row[4]))
        for row in connection.exec_driver_sql(_COUNT_ATTEMPTS, values)
    }


def write_outcome(
    connection: Connection,
    agent_id: str,
    pass_number: int,
    outcome: compression_scan.Outcome,
) -> None:
    """Write the results of a batch of scans to its nodes; ``decay_links`` writes the links."""
    forget_nodes(connection, agent_id, outcome.forgotten, pass_number)
    _write_compressed(connection, agent_id, pass_number, outcome.compressed)
    scanned = [*outcome.protected, *outcome.fading]
    ended = [*outcome.given_up, *outcome.shortest, *(each.id for each in outcome.compressed)]
    connection.exec_driver_sql(_SCANNED, (pass_number, ended, agent_id, scanned))
    if outcome.waiting:
        waits = (list(outcome.waiting), list(outcome.waiting.values()))
        connection.exec_driver_sql(_WAIT, (*waits, agent_id))


def _write_compressed(
    connection: Connection,
    agent_id: str,
    pass_number: int,
    compressed: list[compression_scan.Compressed],
) -> None:
    if not compressed:
        return
    rows = [{"id": each.id, **asdict(each.text)} for each in compressed]
    for statement in (_SHRINK, _HINT):
        connection.exec_driver_sql(statement, (Jsonb(rows), agent_id))
    for language in Language:
        faint = [each.id for each in compressed if each.generic and each.text.language == language]
        links.make_generic(connection, agent_id, faint, language)
    details = {each.id: {"from": each.before, "to": len(each.text.content)} for each in compressed}
    append_history(connection, agent_id, NodeEvent.COMPRESSED, pass_number, details)


# Arrays in the order of ids. Importance is the sum of a node's own links whose target lives (M11).
# A strength too small for REAL would be an error, not a 0; such strengths exist where links never
# break.
NETWORK = """
    n.node_ids, n.lengths, n.original_lengths, n.importances, n.entities,
    ARRAY(SELECT f.node_id FROM focus f WHERE f.agent_id = %(agent)s ORDER BY f.mentioned DESC)
        AS focus,
    l.sources, l.targets, l.strengths
  FROM (
    SELECT coalesce(array_agg(id), '{}') AS node_ids,
           coalesce(array_agg(length), '{}') AS lengths,
           coalesce(array_agg(original_length), '{}') AS original_lengths,
           coalesce(array_agg(importance), '{}') AS importances,
           coalesce(array_agg(id) FILTER (WHERE kind = 'entity'), '{}') AS entities
      FROM (SELECT o.id, o.kind, char_length(o.content) AS length, o.original_length,
                   CASE WHEN own.importance > 1e-30 THEN own.importance ELSE 0 END::real
                       AS importance
              FROM node o LEFT JOIN (
                   SELECT k.source, sum(k.strength) AS importance
                     FROM link k JOIN node t ON t.agent_id = k.agent_id AND t.id = k.target
                    WHERE k.agent_id = %(agent)s GROUP BY k.source) own ON own.source = o.id
             WHERE o.agent_id = %(agent)s ORDER BY o.id) ordered) n,
  (
    SELECT coalesce(array_agg(source), '{}') AS sources,
           coalesce(array_agg(target), '{}') AS targets,
           coalesce(array_agg(strength), '{}') AS strengths
      FROM (SELECT k.source, k.target,
                   CASE WHEN k.strength > 1e-30 THEN k.strength ELSE 0 END::real AS strength
              FROM link k
             WHERE k.agent_id = %(agent)s ORDER BY k.source, k.target) ordered) l
"""
COLUMNS = (
    "node_ids, lengths, original_lengths, importances, entities, focus, sources, targets, strengths"
)
_TAKE = f"""
INSERT INTO pass_snapshot (agent_id, number, {COLUMNS})
SELECT %(agent)s, %(number)s, {NETWORK}
"""
# The stored, compressed size of a column; reads none of the arrays themselves.
_BYTES = " + ".join(f"pg_column_size({column})" for column in COLUMNS.split(", "))
_WEIGHTS = f"""
SELECT number, {_BYTES} FROM pass_snapshot WHERE agent_id = %s
"""  # noqa: S608 - columns of this module
_DROP = "DELETE FROM pass_snapshot WHERE agent_id = %s AND number <> ALL(%s)"
# The share of the budget that remains after deletions, so that not every pass deletes.
_ROOM = 0.75


def take_snapshot(connection: Connection, agent_id: str, number: int, budget: int) -> None:
    """Store the network after this pass; all stored snapshots have at most ``budget`` bytes.

    The newest is stored regardless of its size; with a budget of 0 none is taken.
    """
    if not budget:
        return
    connection.exec_driver_sql(_TAKE, {"agent": agent_id, "number": number})
    weights = snapshot_weights(connection, agent_id)
    if sum(weights.values()) > budget:
        kept = compression_scan.kept_snapshots(weights, int(budget * _ROOM))
        connection.exec_driver_sql(_DROP, (agent_id, kept))


def snapshot_weights(connection: Connection, agent_id: str) -> dict[int, int]:
    """Return the bytes of each snapshot of an agent, by the number of its pass."""
    rows = connection.exec_driver_sql(_WEIGHTS, (agent_id,))
    return {row[0]: row[1] for row in rows}


def mention_entity(
    connection: Connection,
    agent_id: str,
    entity: Entity,
    parameters: MemoryParameters,
    mention_id: UUID,
) -> bool:
    """Make an entity the newest focus point, with a new node if needed; the lane must be locked.

    ``mention_id`` seeds the draw of the evicted node (M19). If none can be evicted, an entity
    without a node stays out of the focus, and the result is False.
    """
    last_node_id, pass_number = position(connection, agent_id)
    focus = links.focus_of(connection, agent_id)
    keys = {entity.key, *(each.key for each in focus)}
    entities = entity_nodes(connection, agent_id, keys)
    wanted = int(entity.key not in entities and parameters.focus_limit > 0)
    need = SlotNeed(wanted, parameters.node_capacity)
    slots = take_slots(connection, agent_id, need, pass_number, Random(mention_id.int)).slots
    ground = NetworkState(focus, entities, {}, {}, last_node_id, room=len(slots))
    creation = plan_mention(entity, ground, language_of(entity.name), parameters)
    links.lock_links(connection, agent_id, creation.entered)
    add_nodes(connection, agent_id, creation.nodes, slots, pass_number)
    links.replace_focus(connection, agent_id, creation.focus)
    origin = {"mention": str(mention_id), "messages": [], "kind": "entity"}
    trail = {node.id: origin for node in creation.nodes}
    append_history(connection, agent_id, NodeEvent.CREATED, pass_number, trail)
    details = {"entity": entity.name}
    log_event(connection, agent_id, ReplayEvent.MENTIONED, mention_id, details=details)
    mentioned = creation.nodes[0].id if creation.nodes else entities.get(entity.key)
    return mentioned in creation.focus
