"""What nodes were made of, whether they live or not (M24, M27)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import Connection

from memci.domain.memory.node import NodeKind
from memci.domain.memory.passage import Passage, details_of, passages
from memci.storage.heirs import FOLLOWED

_ORIGIN = """
SELECT t.details->'messages', t.details, t.details->>'kind',
       EXISTS (SELECT FROM node n WHERE n.agent_id = t.agent_id AND n.id = t.node_id),
       (SELECT count(*) FROM message m WHERE m.agent_id = t.agent_id AND m.seq IN (
            SELECT taken::bigint FROM jsonb_array_elements_text(t.details->'messages') AS o(taken)))
  FROM trail t WHERE t.agent_id = %s AND t.node_id = %s AND t.event = 'created'
"""
# What was made before spans were kept has none, and is held for the whole of its messages. Merged
# ones are told by what stands for them now.
_TELLS = f"""
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
_FORGOTTEN_TELLING = """
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
    """What a node was made of. ``complete``: all those messages are still stored."""

    kind: NodeKind
    seqs: tuple[int, ...]
    passages: tuple[Passage, ...]
    lives: bool
    complete: bool

    @property
    def span(self) -> Sequence[int] | None:
        """Return what tells it from others of the same messages, if anything does."""
        return details_of(self.passages).get("span")


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


def memory_telling(
    connection: Connection, agent_id: str, seqs: Sequence[int], span: Sequence[int] | None
) -> int | None:
    """Return a living memory that was made of the same, or stands for one that was."""
    return connection.exec_driver_sql(_TELLS, _same(agent_id, seqs, span)).scalar()


def forgotten_telling(
    connection: Connection, agent_id: str, seqs: Sequence[int], span: Sequence[int] | None
) -> list[int]:
    """Return the memories that were made of the same, are forgotten and were not restored."""
    rows = connection.exec_driver_sql(_FORGOTTEN_TELLING, _same(agent_id, seqs, span))
    return list(rows.scalars())


def _same(agent_id: str, seqs: Sequence[int], span: Sequence[int] | None) -> dict[str, object]:
    return {"agent": agent_id, "seqs": list(seqs), "span": None if span is None else list(span)}


class Restored(NamedTuple):
    """The node as which a forgotten one was made anew, by which job, and whether it lives."""

    node_id: int
    job_id: UUID
    lives: bool


def last_restored(connection: Connection, agent_id: str, node_id: int) -> Restored | None:
    """Return as what a forgotten node was last made anew."""
    row = connection.exec_driver_sql(_RESTORED, (agent_id, node_id)).first()
    return None if row is None else Restored(*row)
