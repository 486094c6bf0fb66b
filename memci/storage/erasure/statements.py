"""The statements that remove erased messages and all that was made of them, table by table (M25).

Rows that are erased or name what is erased derive from the columns' references in
``storage.schema``; what else is to be done stands here.

Statements take these values:

``%(agent)s``         the agent
``%(seqs)s``          the messages
``%(nodes)s``         living nodes that go with them, memories and entities
``%(repeated)s``      messages that stay, and of which memories are made again
``%(former_nodes)s``  nodes made of them that were gone before: links may still name them
``%(names)s``         entities that somebody has mentioned, and that go or are named by them alone
``%(named)s``         entities that stay because a message still names them, and in the same order
``%(named_by)s``      these messages, one for each
``%(session)s``       the session, when all of it goes; else null
``%(hashes)s``        SHA-256 of what the messages said, as hexadecimal digits
``%(pages)s``         pages that go: of no other messages, or notes that were named
``%(reworded)s``      pages that stay and say something else from now on
``%(pins)s``          texts that are pinned, by their numbers

Arrays may be long, so each stands in ``= ANY`` alone, which PostgreSQL hashes.
"""

from collections.abc import Mapping

from sqlalchemy import Column, Table
from sqlalchemy.dialects.postgresql import ARRAY

from memci.storage.schema import metadata
from memci.storage.search_index import RENEW_ABOUT

# The values of rows that are erased, and their type, by the column that they are known by.
_ERASED_KEYS = {
    "message.seq": ("seqs", "bigint[]"),
    "node.id": ("nodes", "bigint[]"),
    "page.id": ("pages", "text[]"),
}
# A framework calls a conversation a thread: that of the session's name is the same one.
_THREADS = "DELETE FROM {table} WHERE agent_id = %(agent)s AND thread = %(session)s"


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
        # The counters of the index (R11b): a message's postings all say how many terms it has.
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
    # Sums of their neighbours' vectors must not go on meaning what they said.
    "message_around": (RENEW_ABOUT,),
    "replay_log": (
        # What is remembered anew is so by a job of its own, which the log will name.
        """
        UPDATE replay_log SET seqs = ARRAY(
            SELECT seq FROM unnest(seqs) AS kept(seq)
             WHERE NOT seq = ANY(%(seqs)s::bigint[]) AND NOT seq = ANY(%(repeated)s::bigint[])
             ORDER BY seq)
         WHERE agent_id = %(agent)s AND event = 'created'
           AND seqs && (%(seqs)s::bigint[] || %(repeated)s::bigint[])
        """,
        """
        DELETE FROM replay_log WHERE agent_id = %(agent)s AND event = 'restored'
           AND seqs && (%(seqs)s::bigint[] || %(repeated)s::bigint[])
        """,
        """
        DELETE FROM replay_log WHERE agent_id = %(agent)s AND event = 'mentioned'
           AND details->>'entity' = ANY(%(names)s::text[])
        """,
    ),
    "node_version": (
        # Of memories that go, and of those that were merged into living ones, there were no
        # versions, and they took no one's place: messages of theirs that stay are remembered again.
        # What was forgotten is not, so there it still counts what the others said.
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
        # What was superseded by a memory that goes is believed again (R6), unless another did so
        # too.
        """
        UPDATE node SET (superseded_by, superseded_at) = (
            SELECT v.replaced_by, v.until FROM node_version v
             WHERE v.agent_id = node.agent_id AND v.node_id = node.id AND v.reason = 'superseded'
             ORDER BY v.until, v.replaced_by LIMIT 1)
         WHERE agent_id = %(agent)s AND (superseded_by = ANY(%(nodes)s::bigint[])
                                         OR superseded_by = ANY(%(former_nodes)s::bigint[]))
        """,
        # An entity that stays is one of the message that still names it, not of one that is no
        # more: it is never left without any, or it would be its agent's own. Its trail tells the
        # same, should it be forgotten before that message is erased, too.
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
    "session_end": (
        # Its name goes with the last message of a session.
        """
        DELETE FROM session_end WHERE agent_id = %(agent)s AND NOT EXISTS (
            SELECT FROM message m
             WHERE m.agent_id = %(agent)s AND m.session_id = session_end.session_id
               AND NOT m.seq = ANY(%(seqs)s::bigint[]))
        """,
    ),
    "summary": (
        # What was said cannot be taken out of what sums it up: that is made anew of what is left.
        """
        DELETE FROM summary USING (
            SELECT coalesce(session_id, '') AS session, min(seq) AS first FROM message
             WHERE agent_id = %(agent)s AND seq = ANY(%(seqs)s::bigint[]) GROUP BY 1) AS erased
         WHERE agent_id = %(agent)s AND session_id = erased.session AND through_seq >= erased.first
        """,
        # What was counted towards the next one is counted anew, too.
        """
        UPDATE summary SET counted_seq = through_seq, counted_tokens = 0 FROM (
            SELECT coalesce(session_id, '') AS session, min(seq) AS first FROM message
             WHERE agent_id = %(agent)s AND seq = ANY(%(seqs)s::bigint[]) GROUP BY 1) AS erased
         WHERE agent_id = %(agent)s AND session_id = erased.session AND counted_seq >= erased.first
        """,
        # Its name goes with the last message of a session.
        """
        DELETE FROM summary WHERE agent_id = %(agent)s AND session_id <> '' AND NOT EXISTS (
            SELECT FROM message m WHERE m.agent_id = %(agent)s AND m.session_id = summary.session_id
               AND NOT m.seq = ANY(%(seqs)s::bigint[]))
        """,
    ),
    "receipt": (
        # Those that do not say what they speak of are from before they did. A receipt of an erasure
        # itself is what remains of it.
        """
        DELETE FROM receipt WHERE agent_id = %(agent)s AND kind <> 'erasure'
           AND (seqs IS NULL OR session_id = %(session)s
                OR body->>'query_sha256' = ANY(%(hashes)s)
                OR EXISTS (SELECT FROM unnest(seqs) AS named(seq)
                            WHERE seq = ANY(%(seqs)s::bigint[])))
        """,
    ),
    "job": (
        # The place of a forgotten memory's text is known in all its messages alone.
        """
        UPDATE job SET payload = jsonb_set(payload - '{quoted,parts}'::text[], '{seqs}', '[]')
         WHERE agent_id = %(agent)s AND payload ?| '{span,quoted,parts}'
           AND jsonb_typeof(payload->'seqs') = 'array'
           AND EXISTS (SELECT FROM jsonb_array_elements(payload->'seqs') AS named(seq)
                        WHERE seq::bigint = ANY(%(seqs)s::bigint[]))
        """,
        # Numbers all, but they would name what is no more.
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
        # Its number is not given again. Of what the detector pinned the message is known when it
        # was taken down, too.
        """
        UPDATE pin SET text = '', message_seq = NULL, span_start = NULL, span_end = NULL,
                       user_id = NULL, unpinned_at = coalesce(unpinned_at, now())
         WHERE agent_id = %(agent)s
           AND (message_seq = ANY(%(seqs)s::bigint[])
                OR number = ANY(%(pins)s::bigint[]) AND unpinned_at IS NULL)
        """,
    ),
    "plan": (
        # How far other steps have come stays, in numbers; a plan without steps goes.
        """
        DELETE FROM plan WHERE agent_id = %(agent)s AND NOT EXISTS (
            SELECT FROM plan_step s WHERE s.agent_id = plan.agent_id AND s.made_seq = plan.made_seq)
        """,
    ),
    "page_step": (
        # What was undone or redone would bring back names that pages have no more.
        """
        DELETE FROM page_step WHERE agent_id = %(agent)s AND EXISTS (
            SELECT FROM jsonb_array_elements(changes) AS change
             WHERE change->>'index' = ANY(%(pages)s::text[])
                OR change->>'index' = ANY(%(reworded)s::text[]))
        """,
    ),
    "page_tree": (
        # What its notice says of them, and what segments are called after their roots.
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
    # Other page stores give up texts when this is committed.
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
