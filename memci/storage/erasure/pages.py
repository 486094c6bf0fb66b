"""Pages that are erased with messages or by request (M25, P14)."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from sqlalchemy import Connection

from memci.domain.pages.interaction_outline import with_placeholders
from memci.domain.pages.page import Page
from memci.storage.messages import IS_NOTE
from memci.storage.pages.texts import shown_messages
from memci.storage.pages.tree import page_from_row, save_pages
from memci.storage.session import batches

# Undo or redo would restore names that pages no longer have.
FORGET_STEPS = """
DELETE FROM page_step WHERE agent_id = %(agent)s AND EXISTS (
    SELECT FROM jsonb_array_elements(changes) AS change
     WHERE change->>'index' = ANY(%(pages)s::text[])
        OR change->>'index' = ANY(%(reworded)s::text[]))
"""
_CHANGED = "UPDATE page_tree SET version = version + 1 WHERE agent_id = %s"
# The messages of a page, notes of an agent included.
_ON_PAGE = """m.agent_id = page.agent_id AND m.seq BETWEEN page.first_seq AND page.last_seq
       AND m.session_id IS NOT DISTINCT FROM page.session_id
       AND (m.role = 'system') = (page.number = 0)"""
# An interaction's page is found by the message: pages of one session and kind do not overlap.
_PAGE_OF = """
    SELECT found.id FROM erased CROSS JOIN LATERAL (
        SELECT id, first_seq FROM page WHERE agent_id = %(agent)s AND first_seq IS NOT NULL
           AND session_id {session} AND last_seq >= erased.seq
           AND (number = 0) = erased.system ORDER BY last_seq LIMIT 1) AS found
     WHERE found.first_seq <= erased.seq"""
# The session is compared in two ways, so that both use an index.
_TOUCHED = f"""
WITH erased AS MATERIALIZED (
    SELECT seq, session_id, role = 'system' AS system FROM message
     WHERE agent_id = %(agent)s AND seq = ANY(%(seqs)s::bigint[])),
touched AS ({_PAGE_OF.format(session="= erased.session_id")}
    UNION {_PAGE_OF.format(session="IS NULL AND erased.session_id IS NULL")})
SELECT page.id, EXISTS (
    SELECT FROM message m
     WHERE {_ON_PAGE} AND NOT {IS_NOTE} AND NOT m.seq = ANY(%(seqs)s::bigint[])) AS stays
  FROM page WHERE page.agent_id = %(agent)s AND page.id IN (SELECT id FROM touched)
 ORDER BY page.id
"""  # noqa: S608 - constants of ours
# A folder that was erased before has no words.
_NAMED = """
SELECT id, text_version IS NOT NULL AS note FROM page WHERE agent_id = %s AND id = ANY(%s)
   AND (text_version IS NOT NULL OR first_seq IS NOT NULL OR named OR description <> ''
        OR name NOT IN ('', %s))
"""
# Every index below the next of its segment was used once.
_NEXT = """
SELECT segment->>'id' AS id, (segment->>'next_number')::bigint AS next
  FROM page_tree, jsonb_array_elements(segments) AS segment WHERE agent_id = %s
"""
# Words written by an agent, a developer or a small model; the rest is derived from messages.
_WRITTEN = """
SELECT * FROM page
 WHERE agent_id = %(agent)s AND (first_seq IS NULL OR named OR summarized OR id = ANY(%(others)s))
   AND (%(only)s::text[] IS NULL OR id = ANY(%(only)s::text[])) ORDER BY place, id
"""
_PAGES = "SELECT * FROM page WHERE agent_id = %s AND id = ANY(%s) ORDER BY id"
# Notes are in no conversation, and go with the page that they were made on: they count for its end.
_LAST = f"""
SELECT page.id, max(m.seq) AS seq FROM page JOIN message m ON {_ON_PAGE}
 WHERE page.agent_id = %s AND page.id = ANY(%s) AND NOT m.seq = ANY(%s::bigint[])
 GROUP BY page.id
"""  # noqa: S608 - a constant of this module
# Pages read at once.
_AT_ONCE = 200
# Replaces the name of a folder, in any language.
UNNAMED = "…"


@dataclass(frozen=True, slots=True)
class DeletedPages:
    """Pages to delete, and pages to reword."""

    deleted: Sequence[str] = ()
    # An interaction's page is renamed by its remaining messages; a folder has no name.
    reworded: Sequence[str] = ()


def find_deleted_pages(
    connection: Connection, agent_id: str, seqs: Sequence[int], indexes: Collection[str]
) -> DeletedPages:
    """Return the pages to erase with messages and the pages named; writes nothing.

    A page is deleted if none of its messages stays, or if it is a named note. Other named pages
    only lose their words.
    """
    touched, named = [], []
    if seqs:
        values = {"agent": agent_id, "seqs": list(seqs)}
        touched = list(connection.exec_driver_sql(_TOUCHED, values))
    if indexes:
        named = list(connection.exec_driver_sql(_NAMED, (agent_id, list(indexes), UNNAMED)))
    deleted = [row.id for row in touched if not row.stays]
    reworded = {row.id for row in touched if row.stays}
    reworded |= {row.id for row in named if not row.note} - set(deleted)
    notes = [row.id for row in named if row.note]
    return DeletedPages([*deleted, *notes], sorted(reworded))


def hide_words(connection: Connection, agent_id: str, seqs: Sequence[int]) -> bool:
    """Recompute the words of the pages of messages of which reads show less than before.

    The tree must be locked. Return True if there are such pages: they are to be named again.
    """
    values = {"agent": agent_id, "seqs": list(seqs)}
    touched = [row.id for row in connection.exec_driver_sql(_TOUCHED, values)]
    if touched:
        reword_pages(connection, agent_id, touched, ())
        values = {"agent": agent_id, "pages": [], "reworded": touched}
        connection.exec_driver_sql(FORGET_STEPS, values)
        connection.exec_driver_sql(_CHANGED, (agent_id,))
    return bool(touched)


def unknown_pages(connection: Connection, agent_id: str, indexes: Collection[str]) -> list[str]:
    """Return the indexes that no page of the agent ever had."""
    following = {row.id: row.next for row in connection.exec_driver_sql(_NEXT, (agent_id,))}
    unknown = []
    for index in sorted(indexes):
        segment, _, number = index.rpartition("-")
        if not (number.isdecimal() and int(number) < following.get(segment, 0)):
            unknown.append(index)
    return unknown


def written_pages(
    connection: Connection,
    agent_id: str,
    others: Collection[str] = (),
    only: Collection[str] | None = None,
) -> list[Page]:
    """Return the pages with words of their own, removed ones too, and the pages in ``others``.

    ``only``: among these; None: among all.
    """
    among = None if only is None else list(only)
    values = {"agent": agent_id, "others": list(others), "only": among}
    return [page_from_row(row) for row in connection.exec_driver_sql(_WRITTEN, values)]


def reword_pages(
    connection: Connection, agent_id: str, indexes: Sequence[str], seqs: Collection[int]
) -> None:
    """Recompute the words of pages from the messages that stay (P6). The tree must be locked."""
    erased = frozenset(seqs)
    for some in batches(indexes, _AT_ONCE):
        rows = connection.exec_driver_sql(_PAGES, (agent_id, some))
        pages = [page_from_row(row) for row in rows]
        shown = shown_messages(connection, agent_id, pages)
        # The last remaining message of each page, an agent's own notes included.
        rows = connection.exec_driver_sql(_LAST, (agent_id, some, list(seqs)))
        last = {row.id: row.seq for row in rows}
        reworded = []
        for page in pages:
            messages = shown.get(page.index, ())
            kept = [message for message in messages if message.seq not in erased]
            if kept:
                # The remaining messages take about their share of the tokens of all.
                left, length = (sum(len(m.text) for m in part) for part in (kept, messages))
                shorter = with_placeholders(page, kept, last[page.index])
                tokens = page.content_tokens * left // max(1, length)
                reworded.append(replace(shorter, content_tokens=tokens))
            else:
                # A folder; a segment's root needs no name.
                name = "" if page.index == f"{page.segment}-0" else UNNAMED
                reworded.append(replace(page, name=name, description="", named=False))
        save_pages(connection, agent_id, reworded)
