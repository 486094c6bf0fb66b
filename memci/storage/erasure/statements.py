"""The statements that remove erased messages and all that was made of them, table by table (M25).

Statements on rows that are erased or refer to erased ones derive from the columns' references in
``storage.schema``; this module has the others.

Statements take these values:

``%(agent)s``         the agent
``%(seqs)s``          the messages
``%(nodes)s``         living nodes to erase with them, memories and entities
``%(repeated)s``      messages that stay, and of which memories are made again
``%(former_nodes)s``  nodes made of them that were gone before: links may still refer to them
``%(names)s``         mentioned entities that are erased, or that no other message names
``%(named)s``         entities that stay because a message still names them
``%(named_by)s``      these messages, one for each, in the same order
``%(session)s``       the session, if all of it is erased; else null
``%(hashes)s``        SHA-256 of the texts of the messages, as hexadecimal digits
``%(pages)s``         pages to delete: of no other messages, or notes that were selected
``%(reworded)s``      pages that stay with other words
``%(pins)s``          pins, by their numbers

Arrays may be long, so each is used only in ``= ANY``, which PostgreSQL hashes.
"""

from collections.abc import Mapping

from sqlalchemy import Column, Table
from sqlalchemy.dialects.postgresql import ARRAY

from memci.storage.erasure.pages import FORGET_STEPS
from memci.storage.schema import metadata
from memci.storage.summaries import DROPPED

# The values of erased rows, and their type, by the column that identifies the rows.
_ERASED_KEYS = {
    "message.seq": ("seqs", "bigint[]"),
    "node.id": ("nodes", "bigint[]"),
    "page.id": ("pages", "text[]"),
}
# A framework's thread with the session's name is the same conversation.
_THREADS = "DELETE FROM {table} WHERE agent_id = %(agent)s AND thread = %(session)s"
# The name of a session is deleted with its last message.
_OF_NO_MESSAGE = """
DELETE FROM {table} WHERE agent_id = %(agent)s AND session_id <> '' AND NOT EXISTS (
    SELECT FROM message m WHERE m.agent_id = %(agent)s AND m.session_id = {table}.session_id
       AND NOT m.seq = ANY(%(seqs)s::bigint[]))
"""


def statements_of(table: Table) -> list[str]:
    """Return the statements for one table, in order; none if no row comes from messages."""
    statements = list(_BEFORE_DELETION.get(table.name, ()))
    for column in table.columns:
        value, array = _erased_rows(column)
        if value is None:
            continue
        for name in (value, "former_nodes") if column.info.get("dangling") else (value,):
            condition = f"{column.name} = ANY(%({name})s::{array})"
            if isinstance(column.type, ARRAY):
                condition = (
                    f"EXISTS (SELECT FROM unnest({column.name}) AS named(each)"
                    f" WHERE named.each = ANY(%({name})s::{array}))"
                )
            statements.append(
                f"DELETE FROM {table.name} WHERE agent_id = %(agent)s AND {condition}"  # noqa: S608 - ours
            )
    return statements


def _erased_rows(column: Column[object]) -> tuple[str | None, str]:
    """Return the value with the erased rows that a column refers to, and its type."""
    place = f"{column.table}.{column.name}"
    if place in _ERASED_KEYS:
        return _ERASED_KEYS[place]
    if "references" not in column.info or "on_erase" in column.info:
        return None, ""
    table, name = column.info["references"].split(".")
    return _erased_rows(metadata.tables[table].columns[name])


_BEFORE_DELETION: Mapping[str, tuple[str, ...]] = {
    "message_term": (
        # The counters of the index (R11b): each posting of a message has its number of terms.
        """
        UPDATE lane SET indexed_messages = indexed_messages - texts.messages,
                        indexed_terms = indexed_terms - texts.terms
          FROM (SELECT count(*) AS messages, coalesce(sum(length), 0) AS terms
                  FROM (SELECT DISTINCT seq, length FROM message_term
                         WHERE agent_id = %(agent)s AND seq = ANY(%(seqs)s::bigint[])) AS each
               ) AS texts
         WHERE agent_id = %(agent)s AND texts.messages > 0
        """,
    ),
    "replay_log": (
        # A job of its own makes repeated memories, and writes its own log entry.
        """
        UPDATE replay_log SET seqs = ARRAY(
            SELECT seq FROM unnest(seqs) AS kept(seq)
             WHERE NOT seq = ANY(%(seqs)s::bigint[]) AND NOT seq = ANY(%(repeated)s::bigint[])
             ORDER BY seq)
         WHERE agent_id = %(agent)s AND event = 'created'
           AND seqs && (%(seqs)s::bigint[] || %(repeated)s::bigint[])
        """,
        """
        DELETE FROM replay_log WHERE agent_id = %(agent)s
           AND event IN ('restored', 'edited', 'corrected', 'deleted')
           AND seqs && (%(seqs)s::bigint[] || %(repeated)s::bigint[])
        """,
        """
        DELETE FROM replay_log WHERE agent_id = %(agent)s AND event = 'mentioned'
           AND details->>'entity' = ANY(%(names)s::text[])
        """,
    ),
    "node_version": (
        # Versions of erased memories, and of memories that were merged into living ones, are
        # deleted: messages of theirs that stay are made into memories again.
        # Versions of memories that were merged into former nodes stay: these are not made again.
        """
        WITH RECURSIVE merged AS (
            SELECT id FROM unnest(%(nodes)s::bigint[]) AS each(id)
             UNION
            SELECT v.node_id FROM node_version v JOIN merged ON v.replaced_by = merged.id
             WHERE v.agent_id = %(agent)s AND v.reason = 'merged'),
        erased AS (
            SELECT id FROM merged
             UNION ALL
            SELECT id FROM unnest(%(former_nodes)s::bigint[]) AS each(id))
        DELETE FROM node_version WHERE agent_id = %(agent)s
           AND (node_id IN (SELECT id FROM erased) OR replaced_by IN (SELECT id FROM erased))
        """,
    ),
    "node": (
        # A memory that an erased one superseded is valid again (R6), unless another superseded it,
        # too.
        """
        UPDATE node SET (superseded_by, superseded_at) = (
            SELECT v.replaced_by, v.until FROM node_version v
             WHERE v.agent_id = node.agent_id AND v.node_id = node.id AND v.reason = 'superseded'
             ORDER BY v.until, v.replaced_by LIMIT 1)
         WHERE agent_id = %(agent)s AND (superseded_by = ANY(%(nodes)s::bigint[])
                                         OR superseded_by = ANY(%(former_nodes)s::bigint[]))
        """,
        # An entity that stays belongs to the message that still names it: without any message it
        # would count as its agent's own. Its trail gets the same message, for erasures after it is
        # forgotten.
        """
        WITH kept AS (
            UPDATE node SET message_seqs = ARRAY(
                SELECT seq FROM unnest(node.message_seqs || named.by) AS origin(seq)
                 WHERE NOT seq = ANY(%(seqs)s::bigint[]) GROUP BY seq ORDER BY seq)
              FROM unnest(%(named)s::bigint[], %(named_by)s::bigint[]) AS named(id, by)
             WHERE node.agent_id = %(agent)s AND node.id = named.id
               AND EXISTS (SELECT FROM unnest(node.message_seqs) AS origin(seq)
                            WHERE seq = ANY(%(seqs)s::bigint[]))
            RETURNING node.id, node.message_seqs)
        UPDATE trail SET details = jsonb_set(details, '{messages}', to_jsonb(kept.message_seqs))
          FROM kept
         WHERE trail.agent_id = %(agent)s AND trail.node_id = kept.id AND event = 'created'
        """,
    ),
    "session_end": (_OF_NO_MESSAGE.format(table="session_end"),),
    "summary": (
        *DROPPED,
        _OF_NO_MESSAGE.format(table="summary"),
    ),
    "receipt": (
        # Receipts without seqs are older than that column. A receipt of an erasure itself remains.
        """
        DELETE FROM receipt WHERE agent_id = %(agent)s AND kind <> 'erasure'
           AND (seqs IS NULL OR session_id = %(session)s
                OR body->>'query_sha256' = ANY(%(hashes)s)
                OR EXISTS (SELECT FROM unnest(seqs) AS named(seq)
                            WHERE seq = ANY(%(seqs)s::bigint[])))
        """,
    ),
    "job": (
        # The place of a forgotten memory's text refers to all its messages together.
        """
        UPDATE job SET payload = jsonb_set(payload - '{quoted,parts}'::text[], '{seqs}', '[]')
         WHERE agent_id = %(agent)s AND payload ?| '{span,quoted,parts}'
           AND jsonb_typeof(payload->'seqs') = 'array'
           AND EXISTS (SELECT FROM jsonb_array_elements(payload->'seqs') AS named(seq)
                        WHERE seq::bigint = ANY(%(seqs)s::bigint[]))
        """,
        # Only numbers, but they refer to erased rows.
        """
        UPDATE job SET payload = payload || (
            SELECT jsonb_object_agg(field, coalesce((
                       SELECT jsonb_agg(seq) FROM jsonb_array_elements(payload->field) AS kept(seq)
                        WHERE NOT seq::bigint = ANY(%(seqs)s::bigint[])), '[]'))
              FROM unnest('{seqs,wanted}'::text[]) AS field
             WHERE jsonb_typeof(payload->field) = 'array')
         WHERE agent_id = %(agent)s AND EXISTS (
            SELECT FROM unnest('{seqs,wanted}'::text[]) AS field, jsonb_array_elements(
                   CASE jsonb_typeof(payload->field) WHEN 'array' THEN payload->field
                        ELSE '[]' END) AS named(seq)
             WHERE seq::bigint = ANY(%(seqs)s::bigint[]))
        """,
    ),
    "pin": (
        # Its number is not reused. A pin of the detector keeps its message after it was unpinned.
        """
        UPDATE pin SET text = '', message_seq = NULL, span_start = NULL, span_end = NULL,
                       user_id = NULL, unpinned_at = coalesce(unpinned_at, now())
         WHERE agent_id = %(agent)s
           AND (message_seq = ANY(%(seqs)s::bigint[])
                OR number = ANY(%(pins)s::bigint[]) AND unpinned_at IS NULL)
        """,
    ),
    "plan": (
        # The progress of other steps stays, in numbers; a plan without steps is deleted.
        """
        DELETE FROM plan WHERE agent_id = %(agent)s AND NOT EXISTS (
            SELECT FROM plan_step s WHERE s.agent_id = plan.agent_id AND s.made_seq = plan.made_seq)
        """,
    ),
    "page_step": (FORGET_STEPS,),
    "page_tree": (
        # The notice and the names of segments after their roots.
        """
        UPDATE page_tree SET version = version + 1,
            notice = array(
                SELECT index FROM unnest(notice) WITH ORDINALITY AS listed(index, place)
                 WHERE NOT index = ANY(%(pages)s::text[]) ORDER BY place),
            segments = coalesce((SELECT jsonb_agg(
                CASE WHEN segment->>'id' || '-0' = ANY(%(reworded)s::text[])
                     THEN jsonb_set(segment, '{name}', '""') ELSE segment END ORDER BY place)
                FROM jsonb_array_elements(segments) WITH ORDINALITY AS each(segment, place)), '[]')
         WHERE agent_id = %(agent)s AND version > 0
           AND cardinality(%(pages)s::text[] || %(reworded)s::text[]) > 0
        """,
    ),
    # Other page stores delete texts after this is committed.
    "page_text": (
        """
        DELETE FROM page_text WHERE agent_id = %(agent)s AND page_id = ANY(%(pages)s::text[])
        """,
    ),
    **{
        table: (_THREADS.format(table=table),)
        for table in ("checkpoint", "checkpoint_value", "checkpoint_write")
    },
}
