"""Checks of the rows of one agent taken together; an archive that breaks one is refused."""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import Connection

from memci.domain.pages.page import MAX_DEPTH
from memci.errors import InvalidInputError
from memci.storage.messages import IS_NOTE


class Law(NamedTuple):
    """``broken``: a statement that returns what breaks it, if anything does."""

    says: str
    broken: str


def known(
    table: str, column: str, of: str, key: str, only: str = "true", *, source: str = ""
) -> Law:
    """Say that what a column names is there; hashed, since nothing is counted yet."""
    rows = source or f"FROM {table} WHERE agent_id = %(agent)s"
    return Law(
        f"every {table}.{column} is the {key} of a {of}",
        f"SELECT {column} {rows} AND {only}"  # noqa: S608 - ours
        f" EXCEPT SELECT {key} FROM {of} WHERE agent_id = %(agent)s LIMIT 1",
    )


def counted(table: str, column: str, counter: str, *, of: str = "lane") -> Law:
    """Say that a number was given out: the next one is free."""
    return Law(
        f"no {table}.{column} is above {of}.{counter}",
        f"SELECT {column} FROM {table} JOIN {of} USING (agent_id)"  # noqa: S608 - ours
        f" WHERE agent_id = %(agent)s AND {column} > {counter} LIMIT 1",
    )


# Messages by session and kind in the order of their seqs, and before each where pages begin. A note
# is said to nobody: where no interaction goes on it is on no page (R20).
_COVERED = f"""
SELECT seq FROM (
    SELECT seq, is_page, max(last_seq) OVER (
        PARTITION BY session_id, system ORDER BY seq, NOT is_page) AS covered
      FROM (SELECT session_id, role = 'system' AS system, message.seq, false AS is_page,
                   NULL::bigint AS last_seq
              FROM message JOIN page_tree USING (agent_id)
             WHERE agent_id = %(agent)s AND message.seq <= settled_seq AND NOT {IS_NOTE}
            UNION ALL
            SELECT session_id, number = 0, first_seq, true, last_seq FROM page
             WHERE agent_id = %(agent)s AND first_seq IS NOT NULL) AS each) AS told
 WHERE NOT is_page AND covered IS DISTINCT FROM greatest(covered, seq) LIMIT 1
"""  # noqa: S608 - a constant of another module
_OVERLAP = """
SELECT id FROM (
    SELECT id, first_seq, lag(last_seq) OVER (
        PARTITION BY session_id, number = 0 ORDER BY first_seq, last_seq) AS before
      FROM page WHERE agent_id = %(agent)s AND first_seq IS NOT NULL) AS each
 WHERE first_seq <= before LIMIT 1
"""
_SHOWS = """
SELECT page.id FROM page CROSS JOIN LATERAL (VALUES (first_seq), (last_seq)) AS edge(seq)
 WHERE agent_id = %(agent)s AND first_seq IS NOT NULL AND NOT EXISTS (
    SELECT FROM message m WHERE m.agent_id = page.agent_id AND m.seq = edge.seq
       AND m.session_id IS NOT DISTINCT FROM page.session_id
       AND (m.role = 'system') = (page.number = 0)) LIMIT 1
"""
# Hash-joined: nothing is counted yet, and indexes are not used by whoever thinks a table empty.
_IN_FOLDERS = """
SELECT page.id FROM page LEFT JOIN page AS above
    ON above.agent_id = page.agent_id AND above.id = page.parent
 WHERE page.agent_id = %(agent)s AND page.parent IS NOT NULL AND NOT coalesce(
    above.kind = 'contents' AND above.segment = page.segment AND above.cold = page.cold, false)
 LIMIT 1
"""
_SEGMENTS = """
SELECT segment->>'id' AS id, (segment->>'next_number')::bigint AS next
  FROM page_tree, jsonb_array_elements(segments) AS segment WHERE agent_id = %(agent)s
"""
_GIVEN = f"""
SELECT page.id FROM page LEFT JOIN ({_SEGMENTS}) AS segment ON segment.id = page.segment
 WHERE agent_id = %(agent)s
   AND NOT coalesce(split_part(page.id, '-', 2)::bigint < segment.next, false) LIMIT 1
"""  # noqa: S608 - a constant of this module
_ROOTS = f"""
SELECT id || '-0' FROM ({_SEGMENTS}) AS segment
EXCEPT SELECT id FROM page WHERE agent_id = %(agent)s LIMIT 1
"""  # noqa: S608 - as above
_ARCHIVE = """
SELECT archive FROM page_tree WHERE agent_id = %(agent)s AND archive IS NOT NULL AND NOT EXISTS (
    SELECT FROM page WHERE page.agent_id = page_tree.agent_id AND page.id = archive
       AND kind = 'contents' AND managed AND parent = 'usr-0' AND NOT cold)
"""
_EDITS = """
FROM page_step CROSS JOIN jsonb_array_elements(changes) AS edit WHERE agent_id = %(agent)s
"""
_STEP_PARENTS = f"""
SELECT wanted.number FROM (
    SELECT number, edit->>'index' AS id, edit->'was'->>'parent' AS parent {_EDITS}
    UNION
    SELECT number, edit->>'index', edit->'became'->>'parent' {_EDITS}) AS wanted
  JOIN page ON page.agent_id = %(agent)s AND page.id = wanted.id
  LEFT JOIN page AS above ON above.agent_id = %(agent)s AND above.id = wanted.parent
 WHERE wanted.parent IS NOT NULL
   AND NOT coalesce(above.kind = 'contents' AND above.segment = page.segment, false) LIMIT 1
"""  # noqa: S608 - constants of this module

_FOLDERS = "SELECT id, parent FROM page WHERE agent_id = %s AND kind = 'contents'"
# Whoever renders a tree goes down into it.

PAGE_LAWS: tuple[Law, ...] = (
    Law(
        "every page is of a tree",
        "SELECT id FROM page WHERE agent_id = %(agent)s AND NOT EXISTS (SELECT FROM page_tree"
        " WHERE page_tree.agent_id = page.agent_id) LIMIT 1",
    ),
    Law("every page is of a segment of the tree, whose next_number is above its own", _GIVEN),
    Law("every segment has a root", _ROOTS),
    Law("every page lies in a folder of its segment, removed as that is", _IN_FOLDERS),
    counted("page", "place", "next_place - 1", of="page_tree"),
    counted("page", "number", "interactions", of="page_tree"),
    counted("page", "last_seq", "settled_seq", of="page_tree"),
    counted("page_tree", "settled_seq", "message_seq"),
    counted("page_step", "number", "last_step", of="page_tree"),
    Law("page_tree.archive is a managed folder in usr-0", _ARCHIVE),
    Law(
        "every interaction has a number of its own",
        "SELECT number FROM page WHERE agent_id = %(agent)s AND number > 0"
        " GROUP BY number HAVING count(*) > 1 LIMIT 1",
    ),
    Law("the first and the last message of a page are of its session and kind", _SHOWS),
    Law("no message is on two pages", _OVERLAP),
    Law("every message up to page_tree.settled_seq, but a note, is on a page", _COVERED),
    known("pin", "message_seq", "message", "seq", "message_seq IS NOT NULL"),
    Law(
        "a pin has a text, unless it is a message's or was taken down",
        "SELECT number FROM pin WHERE agent_id = %(agent)s AND (text = '') <>"
        " (message_seq IS NOT NULL OR unpinned_at IS NOT NULL) LIMIT 1",
    ),
    Law(
        "what is pinned of a message begins before it ends",
        "SELECT number FROM pin WHERE agent_id = %(agent)s AND (span_start >= span_end OR"
        " (span_start IS NULL) <> (span_end IS NULL) OR span_start IS NOT NULL AND message_seq IS"
        " NULL) LIMIT 1",
    ),
    known("page_step", "edit->>'index'", "page", "id", source=_EDITS),
    Law("what a step moves lies in folders of its segment", _STEP_PARENTS),
)


def lost_folder(connection: Connection, agent_id: str) -> str | None:
    """Return a folder that lies below itself, or too deep for any window (P1).

    What it lies in must be there. Each is looked at once, however they hang together.
    """
    rows = connection.exec_driver_sql(_FOLDERS, (agent_id,))
    above: dict[str, str | None] = {row.id: row.parent for row in rows}
    depths: dict[str | None, int] = {None: 0}
    for folder in above:
        way: list[str] = []
        at: str | None = folder
        while at is not None and at not in depths:
            way.append(at)
            if len(way) > MAX_DEPTH:
                return folder
            at = above[at]
        depth = depths[at]
        for each in reversed(way):
            depth = depths[each] = depth + 1
        if depth > MAX_DEPTH:
            return folder
    return None


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
