"""Trees are written as far as they changed (P14, P16)."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import Connection

from memci.domain.pages.page import Page
from memci.domain.pages.tree import Tree
from memci.storage.page_rows import row_of, tree_row_of

_SAVE_TREE = """
UPDATE page_tree SET version = %(version)s, segments = %(segments)s::jsonb,
    settled_seq = %(settled_seq)s, interactions = %(interactions)s, next_place = %(next_place)s,
    archive = %(archive)s, notice = %(notice)s::text[]
WHERE agent_id = %(agent)s
"""
_SAVE_PAGE = """
INSERT INTO page (agent_id, id, kind, segment, parent, place, name, description, expanded, cold,
    managed, named, summed, pinned_by, first_seq, last_seq, session_id, number, answered, entries,
    body, recalls, recalled_at, entered_at, archived_at, opened_at, chapter, user_id,
    held_tokens)
VALUES (%(agent)s, %(id)s, %(kind)s, %(segment)s, %(parent)s, %(place)s, %(name)s,
    %(description)s, %(expanded)s, %(cold)s, %(managed)s, %(named)s, %(summed)s, %(pinned_by)s,
    %(first_seq)s, %(last_seq)s, %(session_id)s, %(number)s, %(answered)s, %(entries)s::text[],
    %(body)s, %(recalls)s, %(recalled_at)s, %(entered_at)s, %(archived_at)s, %(opened_at)s,
    %(chapter)s, %(user_id)s, %(held_tokens)s)
ON CONFLICT (agent_id, id) DO UPDATE SET
    parent = excluded.parent, place = excluded.place, name = excluded.name,
    description = excluded.description, expanded = excluded.expanded, cold = excluded.cold,
    managed = excluded.managed, named = excluded.named, summed = excluded.summed,
    pinned_by = excluded.pinned_by, first_seq = excluded.first_seq, last_seq = excluded.last_seq,
    answered = excluded.answered, entries = excluded.entries, body = excluded.body,
    recalls = excluded.recalls, recalled_at = excluded.recalled_at,
    entered_at = excluded.entered_at, archived_at = excluded.archived_at,
    opened_at = excluded.opened_at, chapter = excluded.chapter,
    user_id = excluded.user_id, held_tokens = excluded.held_tokens
"""


def save_tree(connection: Connection, agent_id: str, tree: Tree, version: int) -> None:
    """Write what has changed, as this version. The tree must be locked."""
    row = {"agent": agent_id, "version": version, **tree_row_of(tree)}
    connection.exec_driver_sql(_SAVE_TREE, row)
    save_pages(connection, agent_id, [tree.pages[index] for index in tree.changed])


def save_pages(connection: Connection, agent_id: str, pages: Iterable[Page]) -> None:
    """Write pages as they are now. The tree must be locked."""
    rows = [{"agent": agent_id, **row_of(page)} for page in pages]
    if rows:
        connection.exec_driver_sql(_SAVE_PAGE, rows)
