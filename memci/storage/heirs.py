"""What became of nodes that are gone, as their trails tell: who stands for them now (M24, R5).

A memory that was restored lives on as the one that was made anew, a merged one as the one that
stands for it and others; those may be forgotten, restored and merged in turn. Ids ascend.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from memci.domain.memory.fate import Fate
from memci.domain.memory.scan import Forgetting
from memci.storage.trail import TrailEvent

# To be put behind "WITH RECURSIVE line AS (SELECT of, id ... UNION", up to the end of the line.
FOLLOWED = """
SELECT line.of, step.heir FROM line CROSS JOIN LATERAL (
    SELECT coalesce(t.details->>'into', t.details->>'as')::bigint AS heir FROM trail t
     WHERE t.agent_id = %(agent)s AND t.node_id = line.id
       AND (t.event = 'merged' OR t.event = 'restored' AND t.details ? 'as') OFFSET 0) step
"""
_HEIRS = f"""
WITH RECURSIVE line AS (
    SELECT each.id AS of, each.id FROM unnest(%(nodes)s::bigint[]) AS each(id)
     UNION {FOLLOWED})
SELECT line.of, max(line.id) AS last, max(n.id) AS living
  FROM line LEFT JOIN node n ON n.agent_id = %(agent)s AND n.id = line.id
 GROUP BY line.of
"""  # noqa: S608 - a constant of this module
_LAST = """
SELECT DISTINCT ON (t.node_id) t.node_id, t.event, t.details FROM trail t
 WHERE t.agent_id = %s AND t.node_id = ANY(%s) AND t.event = ANY(%s)
 ORDER BY t.node_id, t.id DESC
"""
_MERGED = f"""
WITH RECURSIVE line AS (
    SELECT %(node)s::bigint AS of, %(node)s::bigint AS id UNION {FOLLOWED})
SELECT EXISTS (SELECT FROM line JOIN trail t ON t.agent_id = %(agent)s AND t.node_id = line.id
                WHERE t.event = 'merged')
"""  # noqa: S608 - as above
# What a node that is gone is gone by, and what is no more than a note on one.
FATAL: tuple[TrailEvent, ...] = (
    TrailEvent.FORGOTTEN,
    TrailEvent.RESTORED,
    TrailEvent.MERGED,
    TrailEvent.ERASED,
)


@dataclass(frozen=True, slots=True)
class Heir:
    """The last node in line that stands for one that is gone: itself if none does.

    ``living``: the one that lives, of all in line.
    """

    last: int
    living: int | None


def heirs_of(connection: Connection, agent_id: str, nodes: Collection[int]) -> dict[int, Heir]:
    """Return who stands for each of these nodes."""
    if not nodes:
        return {}
    values = {"agent": agent_id, "nodes": list(nodes)}
    rows = connection.exec_driver_sql(_HEIRS, values)
    return {row.of: Heir(row.last, row.living) for row in rows}


def was_merged(connection: Connection, agent_id: str, node_id: int) -> bool:
    """Tell whether a node, or what it was restored as, was merged into another."""
    values = {"agent": agent_id, "node": node_id}
    return bool(connection.exec_driver_sql(_MERGED, values).scalar())


def fates_of(connection: Connection, agent_id: str, gone: Sequence[int]) -> dict[int, Fate]:
    """Return what became of nodes that are gone; where no trail tells, they are forgotten."""
    rows = connection.exec_driver_sql(_LAST, (agent_id, list(gone), list(FATAL)))
    known = {row.node_id: fate_by(row.event, row.details) for row in rows}
    return {node: known.get(node, Fate.FORGOTTEN) for node in gone}


def fate_by(event: str, details: Mapping[str, object]) -> Fate:
    """Return what became of a node that is gone, by the last fatal event of its trail."""
    if event == TrailEvent.FORGOTTEN and details.get("reason") == Forgetting.SWITCHED:
        return Fate.SWITCHED
    return Fate(event)
