"""What nodes were made of, whether they live or not (M24, M27)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import Connection

from memci.domain.memory.node import NodeKind
from memci.domain.memory.passage import Passage, details_of, passages

_ORIGIN = """
SELECT t.details->'messages', t.details, t.details->>'kind',
       EXISTS (SELECT FROM node n WHERE n.agent_id = t.agent_id AND n.id = t.node_id),
       (SELECT count(*) FROM message m WHERE m.agent_id = t.agent_id AND m.seq IN (
            SELECT taken::bigint FROM jsonb_array_elements_text(t.details->'messages') AS o(taken)))
  FROM trail t WHERE t.agent_id = %s AND t.node_id = %s AND t.event = 'created'
"""
# What was made before spans were kept has none, and is held for the whole of its messages.
_TELLS = """
SELECT n.id FROM node n JOIN trail t ON t.agent_id = n.agent_id AND t.node_id = n.id
 WHERE n.agent_id = %(agent)s AND n.kind = 'memory' AND n.message_seqs = %(seqs)s::bigint[]
   AND t.event = 'created'
   AND t.details->'span' IS NOT DISTINCT FROM to_jsonb(%(span)s::bigint[])
 ORDER BY n.id DESC LIMIT 1
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
    """What a node was made of. ``complete``: all those messages are still stored."""

    kind: NodeKind
    seqs: tuple[int, ...]
    passages: tuple[Passage, ...]
    lives: bool
    complete: bool


def origin_of(connection: Connection, agent_id: str, node_id: int) -> Origin | None:
    """Return a node's origin; None: there never was such a node."""
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
    """Return what memories were made of, by node."""
    rows = connection.exec_driver_sql(_MADE_OF, (agent_id, list(nodes)))
    return {row.node_id: passages(row.details["messages"], row.details) for row in rows}


def memory_telling(connection: Connection, agent_id: str, origin: Origin) -> int | None:
    """Return a living memory that was made of the same."""
    span = details_of(origin.passages).get("span")
    values = {"agent": agent_id, "seqs": list(origin.seqs), "span": span}
    return connection.exec_driver_sql(_TELLS, values).scalar()


class Restored(NamedTuple):
    """The node as which a forgotten one was made anew, by which job, and whether it lives."""

    node_id: int
    job_id: UUID
    lives: bool


def last_restored(connection: Connection, agent_id: str, node_id: int) -> Restored | None:
    """Return as what a forgotten node was last made anew."""
    row = connection.exec_driver_sql(_RESTORED, (agent_id, node_id)).first()
    return None if row is None else Restored(*row)
