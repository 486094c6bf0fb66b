"""Checks of the rows of one agent taken together; an archive that breaks one is refused."""

from collections.abc import Mapping

from sqlalchemy import Connection, Table
from sqlalchemy.dialects.postgresql import ARRAY

from memci.domain.pages.page import MAX_DEPTH
from memci.errors import InvalidInputError
from memci.storage.archive.export import EXPORTED_TABLES
from memci.storage.messages import IS_NOTE


def _laws_of_columns(table: Table) -> dict[str, str]:
    """Return the queries that a table's columns imply: on referenced rows and counters."""
    laws = {}
    for column in table.columns:
        place = f"{table.name}.{column.name}"
        if "references" in column.info and not column.info.get("dangling"):
            other, key = column.info["references"].split(".")
            named = f"unnest({column.name})" if isinstance(column.type, ARRAY) else column.name
            # Hashed, since the tables are not analysed yet.
            laws[f"every {place} is the {key} of a {other}"] = f"""
            SELECT {named} FROM {table.name}
             WHERE agent_id = %(agent)s AND {column.name} IS NOT NULL
            EXCEPT SELECT {key} FROM {other} WHERE agent_id = %(agent)s LIMIT 1
            """  # noqa: S608 - names of our own
        if "at_most" in column.info:
            other, counter = column.info["at_most"].split(".")
            laws[f"no {place} is above {column.info['at_most']}"] = f"""
            SELECT {column.name} FROM {table.name} JOIN {other} USING (agent_id)
             WHERE agent_id = %(agent)s AND {column.name} > {counter} LIMIT 1
            """  # noqa: S608 - names of our own
    return laws


def _miscounted(counters: str, postings: str, key: str) -> str:
    """Return the query for two counters of texts and their terms that postings contradict."""
    return f"""
    SELECT {counters}
      FROM lane, (SELECT count(*) AS texts, coalesce(sum(length), 0) AS terms
                    FROM (SELECT DISTINCT {key}, length FROM {postings}
                           WHERE agent_id = %(agent)s) AS each) AS counted
     WHERE agent_id = %(agent)s AND ({counters}) <> (counted.texts, counted.terms)
    """  # noqa: S608 - names of our own


MODELS_OF_VECTORS = " UNION ".join(
    f"SELECT model, vector_dims(embedding) AS dimension FROM {table} WHERE agent_id = %(agent)s"  # noqa: S608 - ours
    for table in ("message_vector", "message_passage", "node_vector", "chunk_vector")
)
# Descriptions of laws, and statements that return a row that breaks them, if there is one.
_LAWS_OF_MEMORY: Mapping[str, str] = {
    "a summary begins before it ends": """
        SELECT from_seq FROM summary WHERE agent_id = %(agent)s AND from_seq > through_seq LIMIT 1
    """,
    "every one of node.message_seqs is the seq of a message": """
        SELECT unnest(message_seqs) FROM node WHERE agent_id = %(agent)s
        EXCEPT SELECT seq FROM message WHERE agent_id = %(agent)s LIMIT 1
    """,
    "an entity, and nothing else, has an entity_key, and a memory was made of messages": """
        SELECT id FROM node WHERE agent_id = %(agent)s
           AND ((entity_key IS NULL) <> (kind = 'memory')
                OR kind = 'memory' AND message_seqs = '{}') LIMIT 1
    """,
    "focus points are entities": """
        SELECT node_id FROM focus
          JOIN node ON node.agent_id = focus.agent_id AND node.id = focus.node_id
         WHERE focus.agent_id = %(agent)s AND kind <> 'entity' LIMIT 1
    """,
    "a job has both a first_seq and a last_seq, in this order, or none": """
        SELECT id FROM job WHERE agent_id = %(agent)s
           AND NOT coalesce(first_seq <= last_seq, first_seq IS NULL AND last_seq IS NULL) LIMIT 1
    """,
    "lane.erased_messages are the messages that are missing up to lane.message_seq": """
        SELECT erased_messages FROM lane WHERE agent_id = %(agent)s AND erased_messages <>
               message_seq - (SELECT count(*) FROM message WHERE agent_id = %(agent)s)
    """,
    "a message has a position when it is indexed, and its postings have the same": """
        SELECT seq FROM message WHERE agent_id = %(agent)s AND indexed <> (position IS NOT NULL)
        UNION ALL
        SELECT t.seq FROM message_term t JOIN message m USING (agent_id, seq)
         WHERE agent_id = %(agent)s AND t.position IS DISTINCT FROM m.position LIMIT 1
    """,
    "messages of one session, and of no other, have positions of one number above 2^32": """
        SELECT min(seq) FROM message WHERE agent_id = %(agent)s AND position IS NOT NULL
         GROUP BY position >> 32 HAVING count(DISTINCT coalesce('s' || session_id, '')) > 1
        UNION ALL
        SELECT min(seq) FROM message WHERE agent_id = %(agent)s AND position IS NOT NULL
         GROUP BY session_id HAVING count(DISTINCT position >> 32) > 1 LIMIT 1
    """,
    "lane.indexed_messages and lane.indexed_terms count what is in message_term": (
        _miscounted("indexed_messages, indexed_terms", "message_term", "seq")
    ),
    "lane.documents is how many there are, and a document's chunks are counted": """
        SELECT documents FROM lane WHERE agent_id = %(agent)s
           AND documents <> (SELECT count(*) FROM document WHERE agent_id = %(agent)s)
        UNION ALL
        SELECT id FROM document WHERE agent_id = %(agent)s AND state IN ('indexing', 'ready')
           AND (chunks, indexed_chunks) <> (
               SELECT count(*), count(*) FILTER (WHERE indexed) FROM chunk
                WHERE chunk.agent_id = document.agent_id AND document_id = document.id) LIMIT 1
    """,
    "lane.indexed_chunks and lane.chunk_terms count what chunk_term has": (
        _miscounted("indexed_chunks, chunk_terms", "chunk_term", "chunk_id")
    ),
    "the pass under way is the last one": """
        SELECT pass_number FROM lane WHERE agent_id = %(agent)s
           AND (compress_cursor->>'pass')::bigint <> pass_number
    """,
    "the lists of a snapshot that go together are of one length": """
        SELECT number FROM pass_snapshot WHERE agent_id = %(agent)s AND NOT (
            cardinality(node_ids) = ALL(ARRAY[cardinality(lengths), cardinality(original_lengths),
                                              cardinality(importances)])
            AND cardinality(sources) = ALL(ARRAY[cardinality(targets), cardinality(strengths)]))
         LIMIT 1
    """,
    "a message that was erased is not there": """
        SELECT seq FROM message JOIN erased_message AS erased USING (agent_id)
         WHERE agent_id = %(agent)s AND erased.digest = sha256(convert_to(id, 'UTF8')) LIMIT 1
    """,
    "vectors of one model are of one dimension, and of that which the server knows for it": f"""
        SELECT model FROM (
            {MODELS_OF_VECTORS} UNION SELECT model, dimension FROM vector_model) AS made
         GROUP BY model HAVING count(*) > 1 LIMIT 1
    """,  # noqa: S608 - a constant of this module
}
_LAWS_OF_PAGES: Mapping[str, str] = {
    "every page is of a tree": """
        SELECT id FROM page WHERE agent_id = %(agent)s AND NOT EXISTS (
            SELECT FROM page_tree WHERE page_tree.agent_id = page.agent_id) LIMIT 1
    """,
    "every page is of a segment of the tree, whose next_number is above its own": """
        SELECT page.id
          FROM page LEFT JOIN (
               SELECT segment->>'id' AS id, (segment->>'next_number')::bigint AS next
                 FROM page_tree, jsonb_array_elements(segments) AS segment
                WHERE agent_id = %(agent)s) AS segment ON segment.id = page.segment
         WHERE agent_id = %(agent)s
           AND NOT coalesce(split_part(page.id, '-', 2)::bigint < segment.next, false) LIMIT 1
    """,
    "every segment has a root": """
        SELECT segment->>'id' || '-0' FROM page_tree, jsonb_array_elements(segments) AS segment
         WHERE agent_id = %(agent)s
        EXCEPT SELECT id FROM page WHERE agent_id = %(agent)s LIMIT 1
    """,
    # Hash-joined: indexes are not used while the planner thinks a table empty.
    "every page lies in a folder of its segment, removed as that is": """
        SELECT page.id FROM page LEFT JOIN page AS above
            ON above.agent_id = page.agent_id AND above.id = page.parent
         WHERE page.agent_id = %(agent)s AND page.parent IS NOT NULL
           AND NOT coalesce(above.kind = 'contents' AND above.segment = page.segment
                            AND above.cold = page.cold, false) LIMIT 1
    """,
    "page_tree.archive is a managed folder in usr-0": """
        SELECT archive FROM page_tree
         WHERE agent_id = %(agent)s AND archive IS NOT NULL AND NOT EXISTS (
            SELECT FROM page WHERE page.agent_id = page_tree.agent_id AND page.id = archive
               AND kind = 'contents' AND managed AND parent = 'usr-0' AND NOT cold)
    """,
    "every interaction has a number of its own": """
        SELECT number FROM page WHERE agent_id = %(agent)s AND number > 0
         GROUP BY number HAVING count(*) > 1 LIMIT 1
    """,
    "the first and the last message of a page are of its session and kind": """
        SELECT page.id
          FROM page CROSS JOIN LATERAL (VALUES (first_seq), (last_seq)) AS edge(seq)
         WHERE agent_id = %(agent)s AND first_seq IS NOT NULL AND NOT EXISTS (
            SELECT FROM message m WHERE m.agent_id = page.agent_id AND m.seq = edge.seq
               AND m.session_id IS NOT DISTINCT FROM page.session_id
               AND (m.role = 'system') = (page.number = 0)) LIMIT 1
    """,
    "no message is on two pages": """
        SELECT id FROM (
            SELECT id, first_seq, lag(last_seq) OVER (
                PARTITION BY session_id, number = 0 ORDER BY first_seq, last_seq) AS before
              FROM page WHERE agent_id = %(agent)s AND first_seq IS NOT NULL) AS each
         WHERE first_seq <= before LIMIT 1
    """,
    # Messages by session and kind in the order of their seqs, with the starts of pages between
    # them. A note outside of an interaction is on no page (R20).
    "every message up to page_tree.settled_seq, but a note, is on a page": f"""
        SELECT seq FROM (
            SELECT seq, is_page, max(last_seq) OVER (
                PARTITION BY session_id, system ORDER BY seq, NOT is_page) AS covered
              FROM (SELECT session_id, role = 'system' AS system, message.seq, false AS is_page,
                           NULL::bigint AS last_seq
                      FROM message JOIN page_tree USING (agent_id)
                     WHERE agent_id = %(agent)s AND message.seq <= settled_seq AND NOT {IS_NOTE}
                    UNION ALL
                    SELECT session_id, number = 0, first_seq, true, last_seq FROM page
                     WHERE agent_id = %(agent)s AND first_seq IS NOT NULL) AS each) AS covering
         WHERE NOT is_page AND covered IS DISTINCT FROM greatest(covered, seq) LIMIT 1
    """,  # noqa: S608 - a constant of another module
    "a pin has a text, unless it is a message's or was taken down": """
        SELECT number FROM pin WHERE agent_id = %(agent)s
           AND (text = '') <> (message_seq IS NOT NULL OR unpinned_at IS NOT NULL) LIMIT 1
    """,
    "what is pinned of a message begins before it ends": """
        SELECT number FROM pin WHERE agent_id = %(agent)s
           AND (span_start >= span_end OR (span_start IS NULL) <> (span_end IS NULL)
                OR span_start IS NOT NULL AND message_seq IS NULL) LIMIT 1
    """,
    "every page that a step changes is there": """
        SELECT change->>'index' FROM page_step, jsonb_array_elements(changes) AS change
         WHERE agent_id = %(agent)s EXCEPT SELECT id FROM page WHERE agent_id = %(agent)s LIMIT 1
    """,
    "what a step moves lies in folders of its segment": """
        SELECT step.number
          FROM page_step step CROSS JOIN jsonb_array_elements(changes) AS change
         CROSS JOIN (VALUES ('was'), ('became')) AS at(time)
          JOIN page ON page.agent_id = step.agent_id AND page.id = change->>'index'
          LEFT JOIN page AS above
            ON above.agent_id = step.agent_id AND above.id = change->at.time->>'parent'
         WHERE step.agent_id = %(agent)s AND change->at.time->>'parent' IS NOT NULL
           AND NOT coalesce(above.kind = 'contents' AND above.segment = page.segment, false)
         LIMIT 1
    """,
}
LAWS: Mapping[str, str] = {
    **{law: query for table in EXPORTED_TABLES for law, query in _laws_of_columns(table).items()},
    **_LAWS_OF_MEMORY,
    **_LAWS_OF_PAGES,
}


_FOLDERS = "SELECT id, parent FROM page WHERE agent_id = %s AND kind = 'contents'"


def check_consistency(connection: Connection, agent_id: str) -> None:
    """Raise ``InvalidInputError`` with the law that is broken and the row that breaks it."""
    for law, statement in LAWS.items():
        broken = connection.exec_driver_sql(statement, {"agent": agent_id}).first()
        check_law(law, None if broken is None else str(broken[0]))
    lost = _lost_folder(connection, agent_id)
    check_law("no folder lies below itself, or too deep", lost)


def check_law(law: str, broken: str | None) -> None:
    """Raise ``InvalidInputError`` if something breaks a law; ``broken`` is no text of messages."""
    if broken is not None:
        raise InvalidInputError(f"the archive contradicts itself: {law}; not so {broken}")


def _lost_folder(connection: Connection, agent_id: str) -> str | None:
    """Return a folder that lies below itself or too deep for any window (P1).

    All parents must exist.
    """
    rows = connection.exec_driver_sql(_FOLDERS, (agent_id,))
    parents: dict[str, str | None] = {row.id: row.parent for row in rows}
    above = parents
    for _ in range(MAX_DEPTH):
        above = {each: parents[parent] for each, parent in above.items() if parent is not None}
    return next(iter(above), None)
