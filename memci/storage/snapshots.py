"""Snapshots: the network in ids and numbers, as it is or as a pass left it."""

from __future__ import annotations

from sqlalchemy import Connection

from memci.domain.memory.sparse import kept_snapshots

# Arrays in the order of ids. Importance is the sum of a node's own links whose target lives (M11).
# What no REAL can hold would be an error, not a 0: such strengths are where links never break.
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
# What a column weighs where it is stored, compressed; reads none of the arrays themselves.
_BYTES = " + ".join(f"pg_column_size({column})" for column in COLUMNS.split(", "))
_WEIGHT = f"""
SELECT coalesce(sum({_BYTES}), 0) FROM pass_snapshot WHERE agent_id = %s
"""  # noqa: S608 - columns of this module
_WEIGHTS = f"""
SELECT number, {_BYTES} FROM pass_snapshot WHERE agent_id = %s
"""  # noqa: S608 - columns of this module
_DROP = "DELETE FROM pass_snapshot WHERE agent_id = %s AND number <> ALL(%s)"
# What is let go of beyond need, so that it is not done after every pass.
_ROOM = 0.75


def take_snapshot(connection: Connection, agent_id: str, number: int, budget: int) -> None:
    """Keep the network as this pass leaves it; all that are kept weigh ``budget`` bytes at most.

    The newest is kept whatever it weighs; with a budget of 0 none is taken.
    """
    if not budget:
        return
    connection.exec_driver_sql(_TAKE, {"agent": agent_id, "number": number})
    if snapshots_weight(connection, agent_id) > budget:
        rows = connection.exec_driver_sql(_WEIGHTS, (agent_id,))
        kept = kept_snapshots({row[0]: row[1] for row in rows}, int(budget * _ROOM))
        connection.exec_driver_sql(_DROP, (agent_id, kept))


def snapshots_weight(connection: Connection, agent_id: str) -> int:
    """Return the bytes that the snapshots of an agent take."""
    return int(connection.exec_driver_sql(_WEIGHT, (agent_id,)).scalar_one())
