"""What must be so in the rows of one agent taken together: an archive that breaks it is refused."""

from __future__ import annotations

from sqlalchemy import Connection

from memci.errors import InvalidInputError
from memci.storage.archive.law import Law, counted, known
from memci.storage.archive.page_laws import PAGE_LAWS, lost_folder


def _all_known(table: str, only: str = "true", whose: str = "") -> Law:
    return Law(
        f"every one of {table}.message_seqs{whose} is the seq of a message",
        f"SELECT unnest(message_seqs) FROM {table} WHERE agent_id = %(agent)s AND {only}"  # noqa: S608 - ours
        " EXCEPT SELECT seq FROM message WHERE agent_id = %(agent)s LIMIT 1",
    )


LAWS: tuple[Law, ...] = (
    counted("message", "seq", "message_seq"),
    counted("node", "id", "last_node_id"),
    counted("node", "superseded_by", "last_node_id"),
    counted("node", "last_pass", "pass_number"),
    counted("link", "target", "last_node_id"),
    counted("focus", "mentioned", "mentions"),
    counted("node_version", "node_id", "last_node_id"),
    counted("node_version", "replaced_by", "last_node_id"),
    counted("session_end", "seq", "message_seq"),
    counted("summary", "through_seq", "message_seq"),
    counted("summary", "counted_seq", "message_seq"),
    Law(
        "a summary begins before it ends",
        "SELECT from_seq FROM summary WHERE agent_id = %(agent)s AND from_seq > through_seq"
        " LIMIT 1",
    ),
    counted("trail", "node_id", "last_node_id"),
    counted("pass_log", "number", "pass_number"),
    counted("pass_snapshot", "number", "pass_number"),
    counted("job", "last_seq", "message_seq"),
    counted("receipt", "at_seq", "message_seq"),
    known("message_vector", "seq", "message", "seq"),
    known("message_term", "seq", "message", "seq"),
    known("link", "source", "node", "id"),
    known("focus", "node_id", "node", "id"),
    known("claim", "node_id", "node", "id"),
    known("claim", "seq", "message", "seq"),
    known("node_vector", "node_id", "node", "id"),
    known("node_term", "node_id", "node", "id"),
    counted("document", "id", "last_document_id"),
    counted("chunk", "id", "last_chunk_id"),
    known("document_body", "document_id", "document", "id"),
    known("chunk", "document_id", "document", "id"),
    known("chunk_vector", "chunk_id", "chunk", "id"),
    known("chunk_term", "chunk_id", "chunk", "id"),
    known("letter", "job_id", "job", "id"),
    known("lane", "halted_by", "job", "id", "halted_by IS NOT NULL"),
    _all_known("node", "kind = 'memory'", " of a memory"),
    # Earlier releases left entities as they were when messages of theirs were erased.
    Law(
        "no one of node.message_seqs is above lane.message_seq",
        "SELECT seq FROM node JOIN lane USING (agent_id), unnest(message_seqs) AS origin(seq)"
        " WHERE agent_id = %(agent)s AND seq > message_seq LIMIT 1",
    ),
    _all_known("node_version"),
    Law(
        "an entity, and nothing else, has an entity_key, and a memory was made of messages",
        "SELECT id FROM node WHERE agent_id = %(agent)s AND (entity_key IS NULL) <>"
        " (kind = 'memory') OR agent_id = %(agent)s AND kind = 'memory' AND message_seqs = '{}'"
        " LIMIT 1",
    ),
    Law(
        "focus points are entities",
        "SELECT node_id FROM focus JOIN node ON node.agent_id = focus.agent_id"
        " AND node.id = focus.node_id WHERE focus.agent_id = %(agent)s AND kind <> 'entity'"
        " LIMIT 1",
    ),
    Law(
        "a job has both a first_seq and a last_seq, in this order, or none",
        "SELECT id FROM job WHERE agent_id = %(agent)s"
        " AND NOT coalesce(first_seq <= last_seq, first_seq IS NULL AND last_seq IS NULL) LIMIT 1",
    ),
    Law(
        "lane.erased_messages are the messages that are missing up to lane.message_seq",
        "SELECT erased_messages FROM lane WHERE agent_id = %(agent)s AND erased_messages <>"
        " message_seq - (SELECT count(*) FROM message WHERE agent_id = %(agent)s)",
    ),
    Law(
        "a message has a position when it is indexed, and its postings have the same",
        "SELECT seq FROM message WHERE agent_id = %(agent)s AND indexed <> (position IS NOT NULL)"
        " UNION ALL SELECT t.seq FROM message_term t JOIN message m USING (agent_id, seq)"
        " WHERE agent_id = %(agent)s AND t.position IS DISTINCT FROM m.position LIMIT 1",
    ),
    Law(
        "messages of one session, and of no other, have positions of one number above 2^32",
        "SELECT min(seq) FROM message WHERE agent_id = %(agent)s AND position IS NOT NULL"
        " GROUP BY position >> 32 HAVING count(DISTINCT coalesce('s' || session_id, '')) > 1"
        " UNION ALL SELECT min(seq) FROM message WHERE agent_id = %(agent)s"
        " AND position IS NOT NULL GROUP BY session_id HAVING count(DISTINCT position >> 32) > 1"
        " LIMIT 1",
    ),
    Law(
        "lane.indexed_messages and lane.indexed_terms count what is in message_term",
        "SELECT indexed_messages FROM lane, (SELECT count(*) AS messages, sum(length) AS terms"
        " FROM (SELECT DISTINCT seq, length FROM message_term WHERE agent_id = %(agent)s) AS each)"
        " AS texts WHERE agent_id = %(agent)s AND (indexed_messages, indexed_terms)"
        " IS DISTINCT FROM (messages, coalesce(terms, 0)::bigint)",
    ),
    Law(
        "lane.documents is how many there are, and a document's chunks are counted",
        "SELECT documents FROM lane WHERE agent_id = %(agent)s AND documents <>"
        " (SELECT count(*) FROM document WHERE agent_id = %(agent)s) UNION ALL"
        " SELECT id FROM document WHERE agent_id = %(agent)s AND state IN ('indexing', 'ready')"
        " AND (chunks, indexed_chunks) <> (SELECT count(*), count(*) FILTER (WHERE indexed)"
        " FROM chunk WHERE chunk.agent_id = document.agent_id AND document_id = document.id)"
        " LIMIT 1",
    ),
    Law(
        "lane.indexed_chunks and lane.chunk_terms count what chunk_term has",
        "SELECT indexed_chunks FROM lane, (SELECT count(*) AS chunks, sum(length) AS terms"
        " FROM (SELECT DISTINCT chunk_id, length FROM chunk_term WHERE agent_id = %(agent)s)"
        " AS each) AS texts WHERE agent_id = %(agent)s AND (indexed_chunks, chunk_terms)"
        " IS DISTINCT FROM (chunks, coalesce(terms, 0)::bigint)",
    ),
    Law(
        "the pass under way is the last one",
        "SELECT pass_number FROM lane WHERE agent_id = %(agent)s"
        " AND (compress_cursor->>'pass')::bigint <> pass_number",
    ),
    Law(
        "the lists of a snapshot that go together are of one length",
        "SELECT number FROM pass_snapshot WHERE agent_id = %(agent)s AND NOT"
        " (cardinality(node_ids) = ALL(ARRAY[cardinality(lengths), cardinality(original_lengths),"
        " cardinality(importances)]) AND cardinality(sources) ="
        " ALL(ARRAY[cardinality(targets), cardinality(strengths)])) LIMIT 1",
    ),
    Law(
        "a message that was erased is not there",
        "SELECT seq FROM message JOIN erased_message AS erased USING (agent_id)"
        " WHERE agent_id = %(agent)s AND erased.digest = sha256(convert_to(id, 'UTF8')) LIMIT 1",
    ),
    Law(
        "vectors of one model are of one dimension, and of that which the server knows for it",
        "SELECT model FROM (SELECT model, vector_dims(embedding) AS dimension FROM message_vector"
        " WHERE agent_id = %(agent)s UNION SELECT model, vector_dims(embedding) FROM node_vector"
        " WHERE agent_id = %(agent)s UNION SELECT model, vector_dims(embedding) FROM chunk_vector"
        " WHERE agent_id = %(agent)s UNION SELECT model, dimension FROM vector_model) AS made"
        " GROUP BY model HAVING count(*) > 1 LIMIT 1",
    ),
    known("plan", "made_seq", "message", "seq"),
    known("plan_step", "made_seq", "plan", "made_seq"),
    known("plan_step", "said_seq", "message", "seq"),
    counted("plan_step", "last_seq", "message_seq"),
    counted("tracking", "seq", "message_seq"),
    *PAGE_LAWS,
)


def check_consistency(connection: Connection, agent_id: str) -> None:
    """Raise ``InvalidInputError`` that says which law is broken, and by what."""
    for law in LAWS:
        broken = connection.exec_driver_sql(law.broken, {"agent": agent_id}).first()
        if broken is not None:
            # Numbers, ids and names of models: what people have said stands in no statement.
            raise InvalidInputError(
                f"the archive contradicts itself: {law.says}; not so {broken[0]}"
            )
    lost = lost_folder(connection, agent_id)
    if lost is not None:
        raise InvalidInputError(
            "the archive contradicts itself: no folder lies below itself, or too deep; not so "
            f"{lost}"
        )
