"""Everything that goes with erased messages (M25)."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from sqlalchemy import Connection

from memci.language.names import Entity, names_entity
from memci.message import Message
from memci.storage.erasure.pages import DeletedPages, find_deleted_pages
from memci.storage.messages import read_messages, select_messages, stored_seqs
from memci.storage.network.entities import entities_beside, naming_messages
from memci.storage.network.nodes import entity_nodes
from memci.storage.session import batches
from memci.storage.summaries import losing_summaries

# Each with all its messages.
_MEMORIES = """
SELECT n.id, n.message_seqs FROM node n
 WHERE n.agent_id = %s AND n.kind = 'memory'
   AND EXISTS (SELECT FROM unnest(n.message_seqs) AS origin(seq) WHERE seq = ANY(%s::bigint[]))
"""
# Histories name the messages of former nodes. Nodes of a replaced network do not count as
# forgotten: memories that were made again may live.
_FORMER_NODES = """
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
_CORRECTIONS = """
SELECT m.seq FROM trail t
  JOIN trail c ON c.agent_id = t.agent_id AND c.node_id = t.node_id AND c.event = 'corrected'
  JOIN message m ON m.agent_id = t.agent_id AND m.seq = (c.details->>'seq')::bigint
 WHERE t.agent_id = %(agent)s AND t.event = 'created'
   AND jsonb_typeof(t.details->'messages') = 'array'
   AND EXISTS (SELECT FROM jsonb_array_elements(t.details->'messages') AS origin(seq)
                WHERE seq::bigint = ANY(%(seqs)s::bigint[]))
"""
_MENTIONS = """
SELECT DISTINCT details->>'entity' FROM replay_log WHERE agent_id = %s AND event = 'mentioned'
"""
# As ``Message.text``, but reading only the beginning.
_BEGINNINGS = """
SELECT left(concat_ws(E'\\n', nullif(left(content, %(most)s), ''), (
    SELECT string_agg(concat(call->'function'->>'name', '(',
                             left(call->'function'->>'arguments', %(most)s), ')'),
                      E'\\n' ORDER BY place)
      FROM jsonb_array_elements(tool_calls) WITH ORDINALITY AS each(call, place))), %(most)s)
  FROM message WHERE agent_id = %(agent)s AND seq = ANY(%(seqs)s::bigint[]) ORDER BY seq
"""
# Messages read at once.
_AT_ONCE = 200


@dataclass(frozen=True, slots=True)
class DeletionSet:
    """Messages to erase, and everything derived from them."""

    seqs: Sequence[int]
    # Living nodes to erase.
    memories: Sequence[int]
    entities: Sequence[int]
    # Nodes that were gone before, and how many of them were forgotten: the others were in a network
    # that was rebuilt (M24).
    former_nodes: Sequence[int]
    forgotten: int
    # Messages that stay and whose memories are erased: memories are made of them again.
    repeated: Sequence[int]
    # Mentioned entities in the replay log.
    names: Sequence[str] = ()
    # The session, if all of it is erased.
    session_id: str | None = None
    # Entities that stay, each with the newest message that names it, of a memory linked to it.
    named_by: Mapping[int, int] = field(default_factory=dict)
    pages: DeletedPages = field(default_factory=DeletedPages)
    # Numbers of pins.
    pins: Sequence[int] = ()

    @property
    def nodes(self) -> list[int]:
        """All living nodes to erase."""
        return [*self.memories, *self.entities]


def seqs_of_session(connection: Connection, agent_id: str, session_id: str) -> list[int]:
    """Return the seqs of a session's messages, ascending."""
    statement = "SELECT seq FROM message WHERE agent_id = %s AND session_id = %s ORDER BY seq"
    return list(connection.exec_driver_sql(statement, (agent_id, session_id)).scalars())


def beginnings_of(
    connection: Connection, agent_id: str, seqs: Sequence[int], most: int
) -> Iterator[str]:
    """Yield the first ``most`` characters of each message, reading a few messages at a time."""
    for some in batches(seqs, _AT_ONCE):
        values = {"agent": agent_id, "seqs": some, "most": most}
        yield from connection.exec_driver_sql(_BEGINNINGS, values).scalars()


def find_deletions(
    connection: Connection,
    agent_id: str,
    seqs: Sequence[int],
    session_id: str | None = None,
    page_indexes: Collection[str] = (),
) -> DeletionSet:
    """Return everything to erase with these messages and pages; writes nothing."""
    seqs = _with_corrections(connection, agent_id, seqs)
    memories, repeated = _memories(connection, agent_id, seqs)
    nodes = sorted(memories)
    values = {"agent": agent_id, "seqs": list(seqs), "nodes": nodes}
    candidates = entities_beside(connection, agent_id, nodes, seqs)
    named_by = naming_messages(connection, agent_id, candidates, nodes, gone=seqs, whole=True)
    former = connection.exec_driver_sql(_FORMER_NODES, values).all()
    entities = sorted(candidates.keys() - named_by.keys())
    return DeletionSet(
        seqs=sorted(seqs),
        memories=nodes,
        entities=entities,
        former_nodes=[row.node_id for row in former],
        forgotten=sum(row.forgotten for row in former),
        repeated=repeated,
        names=_mentioned_names(connection, agent_id, seqs, entities),
        session_id=session_id,
        named_by=named_by,
        pages=find_deleted_pages(connection, agent_id, seqs, page_indexes),
    )


def _with_corrections(connection: Connection, agent_id: str, seqs: Sequence[int]) -> Sequence[int]:
    """Return the messages with the notes that correct memories of them, and so on."""
    found, more = set(seqs), list(seqs)
    while more:
        values = {"agent": agent_id, "seqs": more}
        more = [
            seq for seq in connection.exec_driver_sql(_CORRECTIONS, values).scalars()
            if seq not in found
        ]  # fmt: skip
        found.update(more)
    return sorted(found)


def _memories(
    connection: Connection, agent_id: str, seqs: Sequence[int]
) -> tuple[set[int], list[int]]:
    """Return the memories to erase, and the messages of them that stay.

    Memory is made of whole messages. A memory that shares a message with a repeated one goes, too:
    otherwise that message would be remembered twice.
    """
    erased, memories = set(seqs), set[int]()
    repeated, pending = set[int](), list(seqs)
    while pending:
        found = connection.exec_driver_sql(_MEMORIES, (agent_id, pending)).all()
        memories.update(row.id for row in found)
        others = {seq for row in found for seq in row.message_seqs} - erased - repeated
        repeated |= others
        pending = list(others)
    return memories, stored_seqs(connection, agent_id, repeated)


def _mentioned_names(
    connection: Connection, agent_id: str, seqs: Sequence[int], entities: Sequence[int]
) -> list[str]:
    """Return mentioned names to erase: of erased nodes, or of these messages alone.

    A replay would bring them back, and the log would still hold them. The name of a node that
    stays, stays.
    """
    mentions = connection.exec_driver_sql(_MENTIONS, (agent_id,)).scalars()
    keys = {name: Entity.named(name).key for name in mentions}
    nodes = entity_nodes(connection, agent_id, set(keys.values()))
    erased = {key for key, node in nodes.items() if node in set(entities)}
    open_keys = set(keys.values()) - nodes.keys()
    for some in batches(seqs, _AT_ONCE):
        if not open_keys:
            break
        for message in read_messages(connection, agent_id, some, whole=True):
            named = {key for key in open_keys if names_entity(message.searched, key)}
            erased, open_keys = erased | named, open_keys - named
    return sorted(name for name, key in keys.items() if key in erased)


_COUNT = """
SELECT (SELECT count(*) FROM pin WHERE agent_id = %(agent)s AND unpinned_at IS NULL
            AND message_seq = ANY(%(seqs)s::bigint[])) AS pinned_sentences,
       (SELECT count(*) FROM plan_step WHERE agent_id = %(agent)s
            AND (made_seq = ANY(%(seqs)s::bigint[]) OR said_seq = ANY(%(seqs)s::bigint[]))
       ) AS plan_steps,
       (SELECT count(*) FROM checkpoint
         WHERE agent_id = %(agent)s AND thread = %(session)s) AS checkpoints
"""


def count_derived(connection: Connection, agent_id: str, deletion: DeletionSet) -> dict[str, int]:
    """Count what would be erased with these messages; writes nothing.

    ``summaries``: sessions that lose theirs. ``pinned_sentences``: of these messages, shown now.
    ``plan_steps``. ``checkpoints``: of the session's thread, if the whole session is erased.
    """
    seqs = list(deletion.seqs)
    values = {"agent": agent_id, "seqs": seqs, "session": deletion.session_id}
    counts = connection.exec_driver_sql(_COUNT, values).mappings().one()
    return {"summaries": len(losing_summaries(connection, agent_id, seqs)), **counts}


# A single Chinese character is not in the index, which has pairs: texts are searched for it, and
# tool calls and results for its JSON escape.
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


def find_seqs_by_words(
    connection: Connection,
    agent_id: str,
    *,
    terms: Sequence[str],
    characters: Sequence[str],
    most: int,
) -> list[int]:
    """Return the newest messages that contain all of the distinct terms and characters."""
    if not (terms or characters):
        return []
    values = {
        "agent": agent_id, "terms": list(terms), "characters": list(characters), "most": most,
    }  # fmt: skip
    statement = _BY_TERMS if terms else _BY_CHARACTERS
    return list(connection.exec_driver_sql(statement, values).scalars())


def unindexed_messages(connection: Connection, agent_id: str, *, most: int) -> list[Message]:
    """Return the newest messages whose terms are not indexed yet."""
    where = "agent_id = %s AND NOT indexed ORDER BY seq DESC LIMIT %s"
    return select_messages(connection, where, (agent_id, most), whole=True)
