"""Everything that goes with erased messages (M25)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from sqlalchemy import Connection

from memci.language.names import Entity, names_entity
from memci.message import Message
from memci.storage.erasure.pages import DeletedPages, condemned_pages
from memci.storage.erasure.tables import OF_THREAD, PINNED_OF_MESSAGES, STEPS_OF_MESSAGES
from memci.storage.messages import COLUMNS, to_message
from memci.storage.summaries import losing_summaries

_BY_ID = "SELECT id, seq FROM message WHERE agent_id = %s AND id = ANY(%s)"
_OF_SESSION = "SELECT seq FROM message WHERE agent_id = %s AND session_id = %s ORDER BY seq"
_IDS = "SELECT id FROM message WHERE agent_id = %s AND seq = ANY(%s) ORDER BY seq"
# Each with all the messages that it was made of.
_MADE_OF = """
SELECT n.id, n.message_seqs FROM node n
 WHERE n.agent_id = %s AND n.kind = 'memory'
   AND EXISTS (SELECT FROM unnest(n.message_seqs) AS origin(seq) WHERE seq = ANY(%s::bigint[]))
"""
_STORED = "SELECT seq FROM message WHERE agent_id = %s AND seq = ANY(%s) ORDER BY seq"
# Trails tell what nodes were made of that are gone. Those from before a rebuilt network took the
# place of theirs are no longer told to be forgotten: what was made anew may live.
_GONE = """
SELECT t.node_id, bool_or(t.id > coalesce((
           SELECT max(s.id) FROM trail s
            WHERE s.agent_id = %(agent)s AND s.event = 'forgotten'
              AND s.details->>'reason' = 'switched'), 0)) AS forgotten
  FROM trail t
 WHERE t.agent_id = %(agent)s AND jsonb_typeof(t.details->'messages') = 'array'
   AND EXISTS (SELECT FROM jsonb_array_elements_text(t.details->'messages') AS origin(seq)
                WHERE seq::bigint = ANY(%(seqs)s::bigint[]))
   AND NOT EXISTS (SELECT FROM node n WHERE n.agent_id = t.agent_id AND n.id = t.node_id)
 GROUP BY t.node_id ORDER BY t.node_id
"""
# An entity that was made of no message is its agent's own and stays.
_ENTITIES = """
SELECT e.id, e.entity_key FROM node e
 WHERE e.agent_id = %(agent)s AND e.kind = 'entity' AND cardinality(e.message_seqs) > 0
   AND (e.id IN (SELECT l.target FROM link l
                  WHERE l.agent_id = %(agent)s AND l.source = ANY(%(nodes)s::bigint[]))
        OR e.id IN (SELECT l.source FROM link l
                     WHERE l.agent_id = %(agent)s AND l.target = ANY(%(nodes)s::bigint[]))
        OR EXISTS (SELECT FROM unnest(e.message_seqs) AS origin(seq)
                    WHERE seq = ANY(%(seqs)s::bigint[])))
"""
_MENTIONS = """
SELECT DISTINCT details->>'entity' FROM replay_log WHERE agent_id = %s AND event = 'mentioned'
"""
_BEARERS = "SELECT entity_key, id FROM node WHERE agent_id = %s AND entity_key = ANY(%s)"
# Messages of those memories at entities that stay; the newest first, as they are the likeliest to
# speak of what is talked about now.
_AROUND = """
SELECT DISTINCT beside.entity, origin.seq
  FROM (SELECT target AS entity, source AS memory FROM link
         WHERE agent_id = %(agent)s AND target = ANY(%(entities)s::bigint[])
         UNION
        SELECT source, target FROM link
         WHERE agent_id = %(agent)s AND source = ANY(%(entities)s::bigint[])) AS beside
  JOIN node n ON n.agent_id = %(agent)s AND n.id = beside.memory AND n.kind = 'memory'
 CROSS JOIN LATERAL unnest(n.message_seqs) AS origin(seq)
 WHERE NOT n.id = ANY(%(nodes)s::bigint[]) AND NOT origin.seq = ANY(%(seqs)s::bigint[])
 ORDER BY origin.seq DESC
"""
_MESSAGES = f"""
SELECT {COLUMNS} FROM message WHERE agent_id = %s AND seq = ANY(%s) ORDER BY seq
"""  # noqa: S608 - a constant of this package
# As ``Message.text``, of which no more is read than is wanted.
_BEGINNINGS = """
SELECT left(concat_ws(E'\\n', nullif(left(content, %(most)s), ''), (
    SELECT string_agg(concat(call->'function'->>'name', '(',
                             left(call->'function'->>'arguments', %(most)s), ')'),
                      E'\\n' ORDER BY place)
      FROM jsonb_array_elements(tool_calls) WITH ORDINALITY AS each(call, place))), %(most)s)
  FROM message WHERE agent_id = %(agent)s AND seq = ANY(%(seqs)s::bigint[]) ORDER BY seq
"""
_AT_ONCE = 200


@dataclass(frozen=True, slots=True)
class DeletionSet:
    """Messages, and what was made of them.

    ``memories`` and ``entities`` are living nodes; ``gone`` were there before, and so many of
    them ``forgotten``: the others were in a network that was rebuilt (M24). ``again``:
    messages that stay and whose memories go; memory gets them anew. ``names``: entities that
    somebody has mentioned, as the log has them. ``session_id`` is the session when all of it goes.
    ``named_by``: entities that stay, each with the newest message of a memory beside it that
    names it. ``pages`` are those of the page tree, ``pins`` numbers of pinned texts.
    """

    seqs: Sequence[int]
    memories: Sequence[int]
    entities: Sequence[int]
    gone: Sequence[int]
    forgotten: int
    again: Sequence[int]
    names: Sequence[str] = ()
    session_id: str | None = None
    named_by: Mapping[int, int] = field(default_factory=dict)
    pages: DeletedPages = field(default_factory=DeletedPages)
    pins: Sequence[int] = ()

    @property
    def nodes(self) -> list[int]:
        """All living nodes that go."""
        return [*self.memories, *self.entities]


def seqs_of_ids(connection: Connection, agent_id: str, ids: Collection[str]) -> dict[str, int]:
    """Return the seqs of those of these messages that are stored."""
    rows = connection.exec_driver_sql(_BY_ID, (agent_id, list(ids)))
    return {row.id: row.seq for row in rows}


def seqs_of_session(connection: Connection, agent_id: str, session_id: str) -> list[int]:
    """Return the messages of a session, ascending."""
    return list(connection.exec_driver_sql(_OF_SESSION, (agent_id, session_id)).scalars())


def ids_of(connection: Connection, agent_id: str, seqs: Sequence[int]) -> list[str]:
    """Return the ids of messages, in the order of their seqs."""
    return list(connection.exec_driver_sql(_IDS, (agent_id, list(seqs))).scalars())


def messages_of(connection: Connection, agent_id: str, seqs: Sequence[int]) -> list[Message]:
    """Return messages in the order of their seqs."""
    rows = connection.exec_driver_sql(_MESSAGES, (agent_id, list(seqs)))
    return [to_message(row) for row in rows]


def beginnings_of(
    connection: Connection, agent_id: str, seqs: Sequence[int], most: int
) -> Iterator[str]:
    """Yield so many characters of each message, a few messages at a time."""
    for some in _bites(seqs):
        values = {"agent": agent_id, "seqs": some, "most": most}
        yield from connection.exec_driver_sql(_BEGINNINGS, values).scalars()


def condemned_with(
    connection: Connection,
    agent_id: str,
    seqs: Sequence[int],
    session_id: str | None = None,
    page_indexes: Collection[str] = (),
) -> DeletionSet:
    """Return what goes with these messages and of these pages; nothing is written."""
    memories, again = _memories(connection, agent_id, seqs)
    nodes = sorted(memories)
    values = {"agent": agent_id, "seqs": list(seqs), "nodes": nodes}
    candidates = {row.id: row.entity_key for row in connection.exec_driver_sql(_ENTITIES, values)}
    named_by = _still_named(connection, agent_id, candidates, (seqs, nodes))
    gone = connection.exec_driver_sql(_GONE, values).all()
    entities = sorted(candidates.keys() - named_by.keys())
    return DeletionSet(
        seqs=sorted(seqs),
        memories=nodes,
        entities=entities,
        gone=[row.node_id for row in gone],
        forgotten=sum(row.forgotten for row in gone),
        again=again,
        names=_mentioned(connection, agent_id, seqs, entities),
        session_id=session_id,
        named_by=named_by,
        pages=condemned_pages(connection, agent_id, seqs, page_indexes),
    )


def _memories(
    connection: Connection, agent_id: str, seqs: Sequence[int]
) -> tuple[set[int], list[int]]:
    """Return the memories that go, and the messages of them that stay.

    Memory is made of whole messages: who shares one that memory gets anew goes as well, or that
    would be remembered twice.
    """
    erased, memories = set(seqs), set[int]()
    again, looked_for = set[int](), list(seqs)
    while looked_for:
        found = connection.exec_driver_sql(_MADE_OF, (agent_id, looked_for)).all()
        memories.update(row.id for row in found)
        others = {seq for row in found for seq in row.message_seqs} - erased - again
        again |= others
        looked_for = list(others)
    stored = connection.exec_driver_sql(_STORED, (agent_id, list(again))).scalars()
    return memories, list(stored)


def _still_named(
    connection: Connection,
    agent_id: str,
    entities: dict[int, str],
    condemned: tuple[Sequence[int], Sequence[int]],
) -> dict[int, int]:
    """Return the entities that a memory which stays names: one linked to them, in its messages.

    Each with the newest of those messages.
    """
    if not entities:
        return {}
    seqs, nodes = condemned
    values = {
        "agent": agent_id, "entities": list(entities), "seqs": list(seqs), "nodes": list(nodes),
    }  # fmt: skip
    around: dict[int, set[int]] = {}
    for entity, seq in connection.exec_driver_sql(_AROUND, values):
        around.setdefault(seq, set()).add(entity)
    named_by: dict[int, int] = {}
    for some in _bites(around):
        wanted = [seq for seq in some if not around[seq] <= named_by.keys()]
        for said in reversed(messages_of(connection, agent_id, wanted)):
            for each in around[said.seq] - named_by.keys():
                if names_entity(said.searched, entities[each]):
                    named_by[each] = said.seq
    return named_by


def _mentioned(
    connection: Connection, agent_id: str, seqs: Sequence[int], entities: Sequence[int]
) -> list[str]:
    """Return the names that somebody mentioned and that go: with a node, or with these messages.

    A replay would bring them back, or the log at least would still hold them. A name that a node
    bears which stays, stays.
    """
    mentions = connection.exec_driver_sql(_MENTIONS, (agent_id,)).scalars()
    keys = {name: Entity.named(name).key for name in mentions}
    wanted = list(set(keys.values()))
    rows = connection.exec_driver_sql(_BEARERS, (agent_id, wanted))
    bearers = {row.entity_key: row.id for row in rows}
    gone = {key for key in wanted if bearers.get(key) in set(entities)}
    open_ones = set(wanted) - bearers.keys()
    for some in _bites(seqs):
        if not open_ones:
            break
        for said in messages_of(connection, agent_id, some):
            found = {key for key in open_ones if names_entity(said.searched, key)}
            gone, open_ones = gone | found, open_ones - found
    return sorted(name for name, key in keys.items() if key in gone)


def _bites(seqs: Iterable[int]) -> Iterator[list[int]]:
    left = iter(seqs)
    while some := list(islice(left, _AT_ONCE)):
        yield some


_COUNT = f"""
SELECT (SELECT count(*) FROM pin WHERE agent_id = %(agent)s AND unpinned_at IS NULL
            AND {PINNED_OF_MESSAGES}) AS pinned_sentences,
       (SELECT count(*) FROM plan_step WHERE agent_id = %(agent)s
            AND {STEPS_OF_MESSAGES}) AS plan_steps,
       (SELECT count(*) FROM checkpoint WHERE agent_id = %(agent)s AND {OF_THREAD}) AS checkpoints
"""  # noqa: S608 - constants of this package


@dataclass(frozen=True, slots=True)
class Beside:
    """How many there are.

    ``summaries``: sessions that lose theirs. ``pinned_sentences``: of these messages, shown now.
    ``checkpoints``: of the thread that has the session's name, when all of a session goes.
    """

    summaries: int
    pinned_sentences: int
    plan_steps: int
    checkpoints: int


def count_beside(connection: Connection, agent_id: str, condemned: DeletionSet) -> Beside:
    """Count what goes with these messages; nothing is written."""
    seqs = list(condemned.seqs)
    values = {"agent": agent_id, "seqs": seqs, "session": condemned.session_id}
    counts = connection.exec_driver_sql(_COUNT, values).mappings().one()
    return Beside(summaries=len(losing_summaries(connection, agent_id, seqs)), **counts)


# A single Chinese character is no term of the index, which holds pairs: it is looked for in texts,
# and in what tools say and are given as JSON's escape.
_CHARACTERS = """
NOT EXISTS (SELECT 1 FROM unnest(%(characters)s::text[]) AS k(word),
                   concat_ws(' ', m.name, m.content, m.tool_calls::text) AS said
             WHERE strpos(said, k.word) = 0
               AND NOT ((m.role = 'tool' OR m.tool_calls IS NOT NULL)
                        AND strpos(lower(said), '\\u' || to_hex(ascii(k.word))) > 0))
"""
_BY_TERMS = f"""
SELECT m.seq
  FROM (SELECT t.seq FROM unnest(%(terms)s::text[]) AS k(term)
         CROSS JOIN LATERAL (SELECT seq FROM message_term
                              WHERE agent_id = %(agent)s AND term = k.term OFFSET 0) t
         GROUP BY t.seq HAVING count(*) = cardinality(%(terms)s::text[])) found
 CROSS JOIN LATERAL (SELECT m.seq FROM message m WHERE m.agent_id = %(agent)s
                        AND m.seq = found.seq AND {_CHARACTERS} OFFSET 0) m
 ORDER BY m.seq DESC LIMIT %(most)s
"""  # noqa: S608 - constants of this module
_BY_CHARACTERS = f"""
SELECT m.seq FROM message m WHERE m.agent_id = %(agent)s AND {_CHARACTERS}
 ORDER BY m.seq DESC LIMIT %(most)s
"""  # noqa: S608 - constants of this module
_NOT_INDEXED = f"""
SELECT {COLUMNS} FROM message m WHERE m.agent_id = %s AND NOT m.indexed
 ORDER BY m.seq DESC LIMIT %s
"""  # noqa: S608 - constants of this package


def worded_messages(
    connection: Connection,
    agent_id: str,
    *,
    terms: Sequence[str],
    characters: Sequence[str],
    most: int,
) -> list[int]:
    """Return the newest messages that hold all of the terms (distinct ones) and characters."""
    if not (terms or characters):
        return []
    values = {
        "agent": agent_id, "terms": list(terms), "characters": list(characters), "most": most,
    }  # fmt: skip
    statement = _BY_TERMS if terms else _BY_CHARACTERS
    return list(connection.exec_driver_sql(statement, values).scalars())


def not_indexed(connection: Connection, agent_id: str, *, most: int) -> list[Message]:
    """Return the newest messages whose terms are not in the index yet."""
    return [to_message(row) for row in connection.exec_driver_sql(_NOT_INDEXED, (agent_id, most))]
