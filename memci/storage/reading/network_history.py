"""The network now or after a pass, and the comparison of two editions."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection
from sqlalchemy.engine import RowMapping

from memci.domain.memory.network_edition import ComparedNetwork, ComparedNode
from memci.domain.memory.node import importance
from memci.storage.network.passes import COLUMNS, NETWORK

QUANTILES = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)

_NOW = f"SELECT NULL::bigint AS number, NULL::timestamptz AS taken_at, {NETWORK}"
_AT = f"""
SELECT number, taken_at, {COLUMNS} FROM pass_snapshot
 WHERE agent_id = %s AND number <= %s ORDER BY number DESC LIMIT 1
"""  # noqa: S608 - constants
_LATEST = "SELECT max(number) FROM pass_log WHERE agent_id = %s"
_NUMBERS = "SELECT number FROM pass_snapshot WHERE agent_id = %s ORDER BY number"
_FADING = """
SELECT number, taken_at, node_ids, lengths, original_lengths, importances, entities,
       cardinality(strengths) AS links,
       (SELECT count(*) FROM unnest(targets) AS aim(id)
          LEFT JOIN unnest(node_ids) AS living(id) USING (id) WHERE living.id IS NULL) AS dangling,
       (SELECT percentile_cont(%s::float8[]) WITHIN GROUP (ORDER BY strength)
          FROM unnest(strengths) AS each(strength)) AS quantiles
  FROM pass_snapshot WHERE agent_id = %s AND number = %s
"""
_NODE = """
SELECT number, taken_at, lengths[place] AS length, importances[place] AS importance
  FROM pass_snapshot, array_position(node_ids, %s::bigint) AS place
 WHERE agent_id = %s AND place IS NOT NULL ORDER BY number
"""
_WORDS = """
SELECT l.source, l.target, l.relation, l.hint
  FROM unnest(%s::bigint[], %s::bigint[]) AS wanted(source, target)
  JOIN link l ON l.source = wanted.source AND l.target = wanted.target
 WHERE l.agent_id = %s
"""
# Only the trail has the events of removed nodes, also in an exported agent.
_SWITCHES = """
SELECT DISTINCT pass_number FROM trail
 WHERE agent_id = %s AND event = 'forgotten' AND details->>'reason' = 'switched'
 ORDER BY pass_number
"""
_PASSES = """
SELECT p.number, p.message_seq, p.started_at, p.finished_at, p.scanned, p.compressed,
       p.forgotten, p.broken, p.given_up,
       CASE WHEN p.finished_at IS NOT NULL THEN 'finished'
            WHEN p.number = (l.compress_cursor->>'pass')::bigint THEN 'under_way'
            ELSE 'cut_short' END AS state,
       EXISTS (SELECT FROM pass_snapshot s
                WHERE s.agent_id = p.agent_id AND s.number = p.number) AS snapshot
  FROM pass_log p JOIN lane l ON l.agent_id = p.agent_id
 WHERE p.agent_id = %s AND p.number < %s ORDER BY p.number DESC LIMIT %s
"""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A network: arrays of one kind are parallel, nodes ascend, links by source and target."""

    number: int | None  # of the pass; None: the current network
    taken_at: datetime | None
    node_ids: list[int]
    lengths: list[int]
    original_lengths: list[int]
    importances: list[float]
    entities: list[int]
    focus: list[int]
    sources: list[int]
    targets: list[int]
    strengths: list[float]


def network_now(connection: Connection, agent_id: str) -> Snapshot:
    """Return the current network."""
    return Snapshot(*connection.exec_driver_sql(_NOW, {"agent": agent_id}).one())


def network_at(connection: Connection, agent_id: str, number: int) -> Snapshot | None:
    """Return the latest snapshot of this pass or an earlier one, if one is stored."""
    row = connection.exec_driver_sql(_AT, (agent_id, number)).first()
    return Snapshot(*row) if row else None


def last_pass(connection: Connection, agent_id: str) -> int | None:
    """Return the number of the last pass, which may be running; None before the first."""
    last: int | None = connection.exec_driver_sql(_LATEST, (agent_id,)).scalar()
    return last


def snapshot_numbers(connection: Connection, agent_id: str) -> list[int]:
    """Return the passes with a stored snapshot, ascending."""
    return list(connection.exec_driver_sql(_NUMBERS, (agent_id,)).scalars())


def fading_rows(
    connection: Connection, agent_id: str, numbers: Sequence[int]
) -> Iterator[dict[str, Any]]:
    """Read snapshots one by one: their nodes, and quantiles of the strength of links."""
    for number in numbers:
        values = (list(QUANTILES), agent_id, number)
        yield dict(connection.exec_driver_sql(_FADING, values).mappings().one())


def node_rows(connection: Connection, agent_id: str, node_id: int) -> list[RowMapping]:
    """Return length and importance of one node in each stored snapshot, the oldest first."""
    return list(connection.exec_driver_sql(_NODE, (node_id, agent_id)).mappings())


def words_of_links(
    connection: Connection, agent_id: str, pairs: Sequence[tuple[int, int]]
) -> dict[tuple[int, int], tuple[str, str]]:
    """Return relation and hint of the links that still exist, by source and target."""
    sources, targets = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    rows = connection.exec_driver_sql(_WORDS, (sources, targets, agent_id))
    return {(source, target): (relation, hint) for source, target, relation, hint in rows}


def switches(connection: Connection, agent_id: str) -> list[int]:
    """Return the passes after which a rebuilt network replaced the current one (M24)."""
    return list(connection.exec_driver_sql(_SWITCHES, (agent_id,)).scalars())


def list_passes(
    connection: Connection, agent_id: str, *, before: int, limit: int
) -> list[RowMapping]:
    """Return passes below a number, the latest first."""
    return list(connection.exec_driver_sql(_PASSES, (agent_id, before, limit)).mappings())


_NODES = """
SELECT id, entity_key, message_seqs, original_length, char_length(content), md5(content)
FROM node WHERE agent_id = %s ORDER BY id
"""
_LINKS = """
SELECT l.source, l.target, l.strength FROM link l
JOIN node n ON n.agent_id = l.agent_id AND n.id = l.target
WHERE l.agent_id = %s
"""
_COUNT = "SELECT count(*) FROM link WHERE agent_id = %s"
_TEXTS = "SELECT id, left(content, %s) FROM node WHERE agent_id = %s AND id = ANY(%s)"


def compared_network(connection: Connection, agent_id: str) -> ComparedNetwork:
    """Return the network with the strengths of links between living nodes, without texts."""
    strengths = {
        (source, target): strength
        for source, target, strength in connection.exec_driver_sql(_LINKS, (agent_id,))
    }
    by_source: dict[int, list[float]] = {}
    for (source, _), strength in strengths.items():
        by_source.setdefault(source, []).append(strength)
    nodes = [
        ComparedNode(
            id_, key, tuple(seqs), original, length, digest, importance(by_source.get(id_, ()))
        )
        for id_, key, seqs, original, length, digest in connection.exec_driver_sql(
            _NODES, (agent_id,)
        )
    ]
    return ComparedNetwork(nodes, strengths)


def count_links(connection: Connection, agent_id: str) -> int:
    """Return the number of links, dangling ones included."""
    return int(connection.exec_driver_sql(_COUNT, (agent_id,)).scalar_one())


def beginnings(
    connection: Connection, agent_id: str, nodes: Sequence[int], *, most: int
) -> dict[int, str]:
    """Return the first ``most`` characters of nodes' texts, by id."""
    rows = connection.exec_driver_sql(_TEXTS, (most, agent_id, list(nodes)))
    return {row[0]: row[1] for row in rows}
