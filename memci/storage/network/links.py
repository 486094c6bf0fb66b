"""Links between nodes, and the focus list (M5)."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import astuple

from sqlalchemy import Connection, RowMapping

from memci.domain.memory import node
from memci.domain.memory.creation import Focus
from memci.domain.memory.parameters import MemoryParameters
from memci.language.detection import Language
from memci.language.names import Entity

# The importance of a node: the sum of its own links whose target lives (M11).
IMPORTANCE = """coalesce((
    SELECT sum(l.strength) FROM link l WHERE l.agent_id = {node}.agent_id AND l.source = {node}.id
       AND EXISTS (SELECT 1 FROM node t WHERE t.agent_id = l.agent_id AND t.id = l.target)
    ), 0::float8)"""
_ADD = """
INSERT INTO link (agent_id, source, target, relation, strength, hint)
SELECT %s, * FROM unnest(%s::bigint[], %s::bigint[], %s::text[], %s::float8[], %s::text[])
"""
# Two statements for both directions, so that each finds its rows by an index.
_ENDS = ("source", "target")
_LOCK = "UPDATE link SET strength = %s WHERE agent_id = %s AND {end} = ANY(%s)"
_SUPPORTS = """
SELECT link.source, link.target, link.strength FROM link
JOIN node ON node.agent_id = link.agent_id AND node.id = link.target
WHERE link.agent_id = %s AND link.source = ANY(%s)
"""
# Arrays of the column's own type are looked up by hash; psycopg sends small numbers as smallint.
# The same float arithmetic as the rule M12.3 in tests/support/pure_network.py; tests compare them.
_BREAK = """
DELETE FROM link WHERE agent_id = %(agent)s AND source = ANY(%(sources)s::bigint[])
AND target <> ALL(%(focus)s::bigint[])
AND greatest(strength, %(faintest)s::float8) * %(rate)s::float8 < %(threshold)s::float8
"""
_FADE = """
UPDATE link SET strength = strength * %(rate)s::float8
WHERE agent_id = %(agent)s AND source = ANY(%(sources)s::bigint[])
AND target <> ALL(%(focus)s::bigint[])
"""
_DROP = """
DELETE FROM link WHERE agent_id = %(agent)s AND target = ANY(%(targets)s)
AND NOT EXISTS (SELECT FROM node WHERE node.agent_id = %(agent)s AND node.id = link.target)
"""
_GENERIC = """
UPDATE link SET relation = %s WHERE agent_id = %s AND {end} = ANY(%s) AND relation <> %s
"""


def add_links(connection: Connection, agent_id: str, links: Sequence[node.Link]) -> None:
    """Write new links."""
    if links:
        columns = map(list, zip(*map(astuple, links), strict=True))
        connection.exec_driver_sql(_ADD, (agent_id, *columns))


def lock_links(connection: Connection, agent_id: str, nodes: Collection[int]) -> None:
    """Set all links, both ways, of nodes that enter the focus to full strength (M10)."""
    if nodes:
        for end in _ENDS:
            values = (node.LOCKED, agent_id, list(nodes))
            connection.exec_driver_sql(_LOCK.format(end=end), values)


def supports_of(
    connection: Connection, agent_id: str, nodes: Iterable[int]
) -> dict[int, dict[int, float]]:
    """Return the strengths of nodes' links to living nodes, by source and target (M11)."""
    supports: dict[int, dict[int, float]] = {}
    for source, target, strength in connection.exec_driver_sql(_SUPPORTS, (agent_id, list(nodes))):
        supports.setdefault(source, {})[target] = strength
    return supports


def decay_links(
    connection: Connection,
    agent_id: str,
    sources: Collection[int],
    focus: Collection[int],
    parameters: MemoryParameters,
) -> int:
    """Weaken the unlocked links of scanned nodes once; return how many broke (M12.3).

    ``sources`` are no focus points; their links to ``focus`` are locked (M10).
    """
    if not sources:
        return 0
    values = {
        "agent": agent_id,
        "sources": list(sources),
        "focus": list(focus),
        "rate": node.decay_factor(parameters),
        "faintest": node.MIN_STRENGTH,
        "threshold": node.break_threshold(parameters),
    }
    broken = connection.exec_driver_sql(_BREAK, values).rowcount
    connection.exec_driver_sql(_FADE, values)
    return broken


def drop_dangling(connection: Connection, agent_id: str, targets: Collection[int]) -> int:
    """Delete all links to nodes that are gone; return how many (M15)."""
    values = {"agent": agent_id, "targets": list(targets)}
    return connection.exec_driver_sql(_DROP, values).rowcount


def make_generic(
    connection: Connection, agent_id: str, nodes: Collection[int], language: Language
) -> None:
    """Replace every relation at these nodes by the generic name (M12.6)."""
    if nodes:
        name = node.relation_names(language).related
        for end in _ENDS:
            values = (name, agent_id, list(nodes), name)
            connection.exec_driver_sql(_GENERIC.format(end=end), values)


_READ = """
SELECT focus.node_id, node.content AS name, node.entity_key FROM focus
JOIN node ON node.agent_id = focus.agent_id AND node.id = focus.node_id
WHERE focus.agent_id = %s ORDER BY focus.mentioned DESC
"""
_WRITE = """
INSERT INTO focus (agent_id, node_id, mentioned)
SELECT %s, id, %s + place FROM unnest(%s::bigint[]) WITH ORDINALITY AS new(id, place)
"""
_MENTION = "UPDATE lane SET mentions = mentions + %s WHERE agent_id = %s RETURNING mentions - %s"


def list_focus(connection: Connection, agent_id: str) -> Sequence[RowMapping]:
    """Return the focus points, the latest mention first: node_id, name and entity_key."""
    return connection.exec_driver_sql(_READ, (agent_id,)).mappings().all()


def focus_of(connection: Connection, agent_id: str) -> Focus:
    """Return the focus points, least recently mentioned first."""
    points = reversed(list_focus(connection, agent_id))
    return tuple(Entity(each["entity_key"], each["name"]) for each in points)


def focus_nodes(connection: Connection, agent_id: str) -> list[int]:
    """Return the ids of the focus points, the latest mention first."""
    return [each["node_id"] for each in list_focus(connection, agent_id)]


def replace_focus(connection: Connection, agent_id: str, nodes: Sequence[int]) -> None:
    """Store the focus list, given least recently mentioned first. The lane must be locked."""
    connection.exec_driver_sql("DELETE FROM focus WHERE agent_id = %s", (agent_id,))
    if nodes:
        count = len(nodes)
        mentions = connection.exec_driver_sql(_MENTION, (count, agent_id, count)).scalar_one()
        connection.exec_driver_sql(_WRITE, (agent_id, mentions, list(nodes)))
