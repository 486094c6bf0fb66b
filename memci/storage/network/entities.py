"""Finds the entities at memories and messages that are removed, and what still names them."""

from collections.abc import Collection, Mapping

from sqlalchemy import Connection

from memci.language.names import names_entity
from memci.storage.messages import read_messages
from memci.storage.session import batches

# An entity that was made of no message is its agent's own and stays.
_BESIDE = """
SELECT e.id, e.entity_key FROM node e
 WHERE e.agent_id = %(agent)s AND e.kind = 'entity' AND cardinality(e.message_seqs) > 0
   AND (e.id IN (SELECT l.target FROM link l
                  WHERE l.agent_id = %(agent)s AND l.source = ANY(%(nodes)s::bigint[]))
        OR e.id IN (SELECT l.source FROM link l
                     WHERE l.agent_id = %(agent)s AND l.target = ANY(%(nodes)s::bigint[]))
        OR EXISTS (SELECT FROM unnest(e.message_seqs) AS origin(seq)
                    WHERE seq = ANY(%(seqs)s::bigint[])))
"""
# The newest messages first, as they are the likeliest to name current topics.
_NAMING = """
SELECT beside.entity, origin.seq, CASE WHEN %(whole)s THEN '' ELSE n.content END AS content
  FROM (SELECT target AS entity, source AS memory FROM link
         WHERE agent_id = %(agent)s AND target = ANY(%(entities)s::bigint[])
         UNION
        SELECT source, target FROM link
         WHERE agent_id = %(agent)s AND source = ANY(%(entities)s::bigint[])) AS beside
  JOIN node n ON n.agent_id = %(agent)s AND n.id = beside.memory AND n.kind = 'memory'
 CROSS JOIN LATERAL unnest(n.message_seqs) AS origin(seq)
 WHERE NOT n.id = ANY(%(nodes)s::bigint[]) AND NOT origin.seq = ANY(%(gone)s::bigint[])
 ORDER BY origin.seq DESC
"""
# Messages, or memories, read at once.
_AT_ONCE = 200


def entities_beside(
    connection: Connection, agent_id: str, nodes: Collection[int], seqs: Collection[int]
) -> dict[int, str]:
    """Return the keys of entities, by id, that are linked with nodes or were made of messages."""
    values = {"agent": agent_id, "nodes": list(nodes), "seqs": list(seqs)}
    return {row.id: row.entity_key for row in connection.exec_driver_sql(_BESIDE, values)}


def naming_messages(
    connection: Connection,
    agent_id: str,
    entities: Mapping[int, str],
    nodes: Collection[int],
    *,
    gone: Collection[int] = (),
    also: Collection[int] = (),
    whole: bool,
) -> dict[int, int]:
    """Return the entities that a message names, with the newest such message.

    Looks at the messages of memories at each entity, without the memories ``nodes`` and the
    messages ``gone``, and at the messages ``also``. Not ``whole``: only at what reads show, and
    at the memories themselves.
    """
    if not entities:
        return {}
    values = {
        "agent": agent_id, "entities": list(entities), "nodes": list(nodes), "gone": list(gone),
        "whole": whole,
    }  # fmt: skip
    named_by: dict[int, int] = {}
    entities_at: dict[int, set[int]] = {}
    options = {"yield_per": _AT_ONCE}
    with connection.exec_driver_sql(_NAMING, values, execution_options=options) as rows:
        for row in rows:
            if row.entity in named_by:
                continue
            entities_at.setdefault(row.seq, set()).add(row.entity)
            if names_entity(row.content, entities[row.entity]):
                named_by[row.entity] = row.seq
                if len(named_by) == len(entities):
                    return named_by
    entities_at |= {seq: set(entities) for seq in also}
    for some in batches(entities_at, _AT_ONCE):
        unsure = [seq for seq in some if not entities_at[seq] <= named_by.keys()]
        for message in reversed(read_messages(connection, agent_id, unsure, whole=whole)):
            for each in entities_at[message.seq] - named_by.keys():
                if names_entity(message.searched, entities[each]):
                    named_by[each] = message.seq
    return named_by
