"""What people change of single memories: pins, types and worth; corrected and deleted memories.

The text of a corrected or deleted memory stays in its messages, but reads do not show it, and no
memory is made of it again.
"""

from collections.abc import Collection, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple
from uuid import uuid4

from psycopg.types.json import Jsonb
from sqlalchemy import Connection

from memci.domain.memory.network_edition import ReplayEntry, ReplayEvent
from memci.domain.memory.node import NodeEvent, NodeKind, RemovalReason, VersionReason
from memci.domain.memory.passage import Passage, Place, Places, joined, overlap, passages, places_of
from memci.storage.messages import read_messages
from memci.storage.network.entities import entities_beside, naming_messages
from memci.storage.network.network_editions import log_event
from memci.storage.network.node_history import append_history, keep_versions, removal_reasons
from memci.storage.network.nodes import delete_nodes
from memci.storage.network.passes import position

_WITHHELD = """
SELECT seq, withheld FROM message
 WHERE agent_id = %(agent)s AND withheld IS NOT NULL
   AND (%(seqs)s::bigint[] IS NULL OR seq = ANY(%(seqs)s))
"""
_WITHHOLD = """
UPDATE message SET withheld = new.withheld
  FROM jsonb_to_recordset(%s) AS new(seq bigint, withheld integer[])
 WHERE message.agent_id = %s AND message.seq = new.seq
"""
_MADE_OF = """
SELECT t.node_id, t.details, n.id IS NOT NULL AS lives
  FROM trail t LEFT JOIN node n ON n.agent_id = t.agent_id AND n.id = t.node_id
 WHERE t.agent_id = %s AND t.event = 'created' AND t.details->>'kind' IS DISTINCT FROM 'entity'
   AND EXISTS (SELECT FROM jsonb_array_elements(t.details->'messages') AS origin(seq)
                WHERE seq::bigint = ANY(%s::bigint[]))
 ORDER BY t.node_id
"""
# Entities that some memory needs, since all its links to living nodes go to these.
_NEEDED = """
SELECT DISTINCT l.target FROM link l
  JOIN node m ON m.agent_id = l.agent_id AND m.id = l.source AND m.kind = 'memory'
   AND NOT m.id = ANY(%(nodes)s::bigint[])
 WHERE l.agent_id = %(agent)s AND l.target = ANY(%(entities)s::bigint[]) AND NOT EXISTS (
    SELECT FROM link o JOIN node t ON t.agent_id = o.agent_id AND t.id = o.target
     WHERE o.agent_id = l.agent_id AND o.source = l.source
       AND NOT o.target = ANY(%(entities)s::bigint[] || %(nodes)s::bigint[]))
 ORDER BY l.target
"""
# Keys must differ, also after some are gone; a rebuilt network gives the same ones.
_HIDE = (
    """
UPDATE node SET content = '…', phrase = '…', keywords = '{}',
                entity_key = '…' || message_seqs[1] || '.' || place + (
                    SELECT coalesce(max(split_part(h.entity_key, '.', 2)::bigint), 0) FROM node h
                     WHERE h.agent_id = %(agent)s AND starts_with(h.entity_key, '…'))
  FROM unnest(%(entities)s::bigint[]) WITH ORDINALITY AS hidden(id, place)
 WHERE node.agent_id = %(agent)s AND node.id = hidden.id AND NOT starts_with(entity_key, '…')
""",
    "UPDATE link SET hint = '…' WHERE agent_id = %(agent)s AND target = ANY(%(entities)s)",
)
# Links to entities that were made of these messages and are forgotten tell their names.
_UNLINK_FORGOTTEN = """
DELETE FROM link USING trail t
 WHERE link.agent_id = %(agent)s AND t.agent_id = %(agent)s AND t.node_id = link.target
   AND t.event = 'created' AND t.details->>'kind' = 'entity'
   AND EXISTS (SELECT FROM jsonb_array_elements(t.details->'messages') AS origin(seq)
                WHERE seq::bigint = ANY(%(seqs)s::bigint[]))
   AND NOT EXISTS (SELECT FROM node n WHERE n.agent_id = t.agent_id AND n.id = t.node_id)
"""
_UNFOCUS = "DELETE FROM focus WHERE agent_id = %s AND node_id = ANY(%s)"
_UNLINK = "DELETE FROM link WHERE agent_id = %s AND target = ANY(%s)"
_DROP_VERSIONS = """
DELETE FROM node_version WHERE agent_id = %(agent)s AND (node_id = ANY(%(nodes)s)
    OR replaced_by = ANY(%(nodes)s) AND reason <> 'superseded')
"""
_LINK_CORRECTED = """
UPDATE node_version SET replaced_by = new.id
  FROM unnest(%(seqs)s::bigint[], %(nodes)s::bigint[]) AS new(seq, id)
  JOIN trail ON trail.agent_id = %(agent)s AND trail.event = 'corrected'
   AND (trail.details->>'seq')::bigint = new.seq
 WHERE node_version.agent_id = %(agent)s AND node_version.reason = 'corrected'
   AND node_version.node_id = trail.node_id AND node_version.replaced_by = trail.node_id
"""
# A rebuild makes the memory again: the living one, else the latest.
_CORRECTED_AS = """
SELECT made.node_id, coalesce(m.memory_state IN ('none', 'pending'), false) AS waits
  FROM trail c LEFT JOIN message m ON m.agent_id = c.agent_id
                                  AND m.seq = (c.details->>'seq')::bigint
  LEFT JOIN LATERAL (
    SELECT t.node_id FROM trail t LEFT JOIN node n ON n.agent_id = t.agent_id AND n.id = t.node_id
     WHERE t.agent_id = c.agent_id AND t.event = 'created' AND t.node_id > c.node_id
       AND t.details->>'kind' IS DISTINCT FROM 'entity'
       AND t.details->'messages' @> (c.details->'seq')
     ORDER BY n.id, t.node_id DESC LIMIT 1) made ON true
 WHERE c.agent_id = %s AND c.node_id = %s AND c.event = 'corrected' ORDER BY c.id DESC LIMIT 1
"""
_SET = """
UPDATE node SET pinned = coalesce(%(pinned)s, pinned), type = coalesce(%(type)s, type),
                worth = coalesce(%(worth)s, worth)
 WHERE agent_id = %(agent)s AND id = ANY(%(nodes)s)
"""


def withheld_places(
    connection: Connection, agent_id: str, seqs: Collection[int] | None = None
) -> dict[int, list[Place]]:
    """Return which parts of these messages, or of all, reads do not show."""
    values = {"agent": agent_id, "seqs": None if seqs is None else list(seqs)}
    rows = connection.exec_driver_sql(_WITHHELD, values)
    return {row.seq: list(zip(row.withheld[::2], row.withheld[1::2], strict=True)) for row in rows}


def places_in_messages(
    connection: Connection, agent_id: str, made_of: Sequence[Passage]
) -> dict[int, list[Place]]:
    """Return where the texts of memories stand in their messages."""
    seqs = {seq for passage in made_of for seq in passage.seqs}
    messages = read_messages(connection, agent_id, seqs, whole=True)
    return places_of({message.seq: message.text for message in messages}, made_of)


def is_withheld(connection: Connection, agent_id: str, made_of: Sequence[Passage]) -> bool:
    """Return True if a part of these passages was in a deleted or corrected memory."""
    withheld = withheld_places(connection, agent_id, {seq for each in made_of for seq in each.seqs})
    return bool(withheld) and overlap(withheld, places_in_messages(connection, agent_id, made_of))


def withhold(connection: Connection, agent_id: str, places: Places) -> None:
    """Show these parts of messages to no read from now on."""
    known = withheld_places(connection, agent_id, places)
    rows = [
        {"seq": seq, "withheld": list(chain(*joined([*known.get(seq, ()), *some])))}
        for seq, some in places.items()
    ]
    connection.exec_driver_sql(_WITHHOLD, (Jsonb(rows), agent_id))


class Told(NamedTuple):
    """Memories that tell some parts of messages."""

    living: list[int]
    gone: list[int]


def memories_at(connection: Connection, agent_id: str, places: Places) -> Told:
    """Return the memories that tell or told any of these parts of messages, ascending."""
    told = Told([], [])
    for row in connection.exec_driver_sql(_MADE_OF, (agent_id, list(places))).all():
        made_of = passages(row.details["messages"], row.details)
        if overlap(places, places_in_messages(connection, agent_id, made_of)):
            (told.living if row.lives else told.gone).append(row.node_id)
    return told


def remove(
    connection: Connection,
    agent_id: str,
    nodes: Sequence[int],
    told: Told,
    event: NodeEvent,
    details: Mapping[str, Any],
    seqs: Collection[int],
) -> None:
    """Remove memories that were corrected or deleted, with all links; the lane must be locked.

    ``told``: those of the same parts of messages, to which no link stays. ``seqs``: the messages
    of these memories, and the one that corrects them. The text of a corrected memory stays in its
    history, where the memory with the new text is named once it is made. Entities that nothing
    names any more go, too.
    """
    _, pass_number = position(connection, agent_id)
    if event is NodeEvent.CORRECTED:
        keep_versions(connection, agent_id, {n: n for n in nodes}, VersionReason.CORRECTED)
    else:
        connection.exec_driver_sql(_DROP_VERSIONS, {"agent": agent_id, "nodes": list(nodes)})
    _remove_entities(connection, agent_id, nodes, seqs, pass_number)
    connection.exec_driver_sql(_UNLINK, (agent_id, [*nodes, *told.gone]))
    delete_nodes(connection, agent_id, nodes)
    append_history(connection, agent_id, event, pass_number, dict.fromkeys(nodes, details))


def _remove_entities(
    connection: Connection,
    agent_id: str,
    nodes: Sequence[int],
    seqs: Collection[int],
    pass_number: int,
) -> None:
    """Remove entities that only these memories name; one that others need loses its name."""
    entities = entities_beside(connection, agent_id, nodes, seqs)
    named = naming_messages(connection, agent_id, entities, nodes, also=seqs, whole=False)
    unnamed = sorted(entities.keys() - named.keys())
    values = {"agent": agent_id, "nodes": list(nodes), "entities": unnamed, "seqs": list(seqs)}
    needed = list(connection.exec_driver_sql(_NEEDED, values).scalars())
    for statement in _HIDE if needed else ():
        connection.exec_driver_sql(statement, {**values, "entities": needed})
    removed = [each for each in unnamed if each not in needed]
    connection.exec_driver_sql(_UNFOCUS, (agent_id, removed))
    connection.exec_driver_sql(_UNLINK, (agent_id, removed))
    delete_nodes(connection, agent_id, removed)
    of_entity = {"kind": NodeKind.ENTITY}
    gone = dict.fromkeys(removed, of_entity)
    append_history(connection, agent_id, NodeEvent.DELETED, pass_number, gone)
    connection.exec_driver_sql(_UNLINK_FORGOTTEN, values)


def link_corrected(connection: Connection, agent_id: str, made: Mapping[int, int]) -> None:
    """Name new memories in the history of those they correct; ``made``: by the note's seq."""
    values = {"agent": agent_id, "seqs": list(made), "nodes": list(made.values())}
    connection.exec_driver_sql(_LINK_CORRECTED, values)


class Corrected(NamedTuple):
    """The memory with the text that corrects another: None if there was none yet, or never."""

    node_id: int | None
    waits: bool  # it is still to be made


def corrected_as(connection: Connection, agent_id: str, node_id: int) -> Corrected:
    """Return what a correction of a memory became."""
    row = connection.exec_driver_sql(_CORRECTED_AS, (agent_id, node_id)).first()
    return Corrected(None, waits=False) if row is None else Corrected(*row)


def set_fields(
    connection: Connection, agent_id: str, nodes: Sequence[int], fields: Mapping[str, Any]
) -> None:
    """Set ``pinned``, ``type`` or ``worth`` of living memories."""
    values = {"pinned": None, "type": None, "worth": None, **fields}
    connection.exec_driver_sql(_SET, {**values, "agent": agent_id, "nodes": list(nodes)})
    _, pass_number = position(connection, agent_id)
    details = dict.fromkeys(nodes, fields)
    append_history(connection, agent_id, NodeEvent.EDITED, pass_number, details)


def replay(connection: Connection, agent_id: str, entry: ReplayEntry) -> None:
    """Repeat an edit in a network that is rebuilt (M24).

    It concerns every memory of the same parts of messages: other models cut messages elsewhere.
    """
    event, details = entry.event, entry.details
    places = places_in_messages(connection, agent_id, passages(entry.seqs, details))
    told = memories_at(connection, agent_id, places)
    if event is ReplayEvent.EDITED:
        set_fields(connection, agent_id, told.living, details["set"])
    else:
        by = {"seq": details["seq"]} if event is ReplayEvent.CORRECTED else {}
        reasons = removal_reasons(connection, agent_id, told.gone)
        forgotten = [node for node, why in reasons.items() if why is RemovalReason.FORGOTTEN]
        nodes, seqs = [*told.living, *forgotten], {*entry.seqs, *by.values()}
        remove(connection, agent_id, nodes, told, NodeEvent(event), by, seqs)
    log_event(connection, agent_id, event, uuid4(), entry.seqs, details)


def remove_withheld(connection: Connection, agent_id: str) -> None:
    """Remove memories of a rebuilt network that tell what was deleted or corrected since."""
    places = withheld_places(connection, agent_id)
    if places:
        told = memories_at(connection, agent_id, places)
        remove(connection, agent_id, told.living, told, NodeEvent.DELETED, {}, places)
