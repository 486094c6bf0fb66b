"""Trees of pages in the database, read as far as they are asked for (P12, P14)."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from sqlalchemy import Connection

from memci.domain.pages.page import Page, session_key
from memci.domain.pages.segment import SYSTEM, USER
from memci.domain.pages.tree import Tree
from memci.domain.pages.viewer import Viewer
from memci.storage.page_rows import page_of, tree_of
from memci.storage.page_sight import SHOWN_PAGES

_SETTLED = "SELECT settled_seq FROM page_tree WHERE agent_id = %s"
_TREE = """
SELECT version, segments, settled_seq, interactions, next_place, archive, notice
FROM page_tree WHERE agent_id = %s
"""
# What lies in the tree, without the active chapters of other sessions; and the last page of each
# session that goes on.
_PAGES = """
SELECT * FROM page WHERE agent_id = %(agent)s AND NOT cold
    AND (parent IS DISTINCT FROM %(root)s OR NOT coalesce(number > 0, false)
         OR coalesce(nullif(chapter, ''), '+' || session_id, '-')
                  = ANY(%(sessions)s::text[]))
UNION
SELECT latest.* FROM unnest(%(sessions)s::text[]) AS session (key), LATERAL (
    SELECT * FROM page WHERE agent_id = %(agent)s AND first_seq IS NOT NULL AND number > 0
        AND session_id = substr(session.key, 2) AND session.key <> '-'
    ORDER BY last_seq DESC LIMIT 1) AS latest
UNION
(SELECT * FROM page WHERE agent_id = %(agent)s AND first_seq IS NOT NULL AND number > 0
        AND session_id IS NULL AND '-' = ANY(%(sessions)s::text[])
    ORDER BY last_seq DESC LIMIT 1)
ORDER BY place, id
"""
# Pages by their indexes; of those that were removed all that was removed with them.
_NAMED = """
WITH RECURSIVE named AS (
    SELECT id, parent, cold FROM page WHERE agent_id = %(agent)s AND id = ANY(%(named)s::text[])),
above AS (
    SELECT id, parent FROM named WHERE cold
    UNION
    SELECT page.id, page.parent FROM above JOIN page
        ON page.agent_id = %(agent)s AND page.id = above.parent),
below AS (
    SELECT id FROM above
    UNION
    SELECT page.id FROM below JOIN page
        ON page.agent_id = %(agent)s AND page.cold AND page.parent = below.id)
SELECT * FROM page WHERE agent_id = %(agent)s
    AND id IN (SELECT id FROM named UNION SELECT id FROM below)
ORDER BY place, id
"""


@dataclass(frozen=True, slots=True)
class Stored:
    """A tree at a version."""

    tree: Tree
    version: int


def settled_seq(connection: Connection, agent_id: str) -> int:
    """Return up to which message an agent's pages hold all; 0 for a new agent."""
    return connection.exec_driver_sql(_SETTLED, (agent_id,)).scalar() or 0


def read_tree(connection: Connection, agent_id: str, sessions: Collection[str | None]) -> Stored:
    """Return what lies in an agent's tree, of active chapters only those of ``sessions``.

    Of a new agent it is a planted tree.
    """
    row = connection.exec_driver_sql(_TREE, (agent_id,)).first()
    if row is None or not row.version:
        return Stored(Tree.planted(), 0)
    pages = _pages_of(connection, agent_id, sessions)
    return Stored(tree_of(row, pages), row.version)


def read_shown(
    connection: Connection,
    agent_id: str,
    viewer: Viewer,
    sessions: Collection[str | None],
    named: Collection[str] = (),
) -> Stored:
    """Return what windows of ``sessions`` show, the archive, and what is ``named``.

    What lies in closed folders is counted as the viewer sees it. Of a new agent it is a planted
    tree.
    """
    row = connection.exec_driver_sql(_TREE, (agent_id,)).first()
    if row is None or not row.version:
        return Stored(Tree.planted(), 0)
    values = {
        "agent": agent_id,
        "root": f"{USER}-0",
        "system": f"{SYSTEM}-0",
        "archive": row.archive,
        # What was collapsed may lie in closed folders, and the window tells of it.
        "named": [*named, *row.notice],
        "sessions": [session_key(each) for each in sessions],
        "all": viewer.sees_all,
        "user": viewer.user_id,
    }
    rows = connection.exec_driver_sql(SHOWN_PAGES, values).all()
    tree = tree_of(row, map(page_of, rows))
    tree.viewer = viewer
    tree.count_unread({each.id: each.inside for each in rows if each.inside})
    return Stored(tree, row.version)


def know_sessions(
    connection: Connection, agent_id: str, tree: Tree, sessions: Collection[str | None]
) -> None:
    """Have a tree know the active chapters of more sessions, and what their messages go on from."""
    if sessions:
        tree.know(_pages_of(connection, agent_id, sessions))


def know_pages(connection: Connection, agent_id: str, tree: Tree, indexes: Collection[str]) -> None:
    """Have a tree know pages that it was not read with, each with all that was removed with it."""
    values = {"agent": agent_id, "named": list(indexes)}
    tree.know(page_of(row) for row in connection.exec_driver_sql(_NAMED, values))


def _pages_of(
    connection: Connection, agent_id: str, sessions: Collection[str | None]
) -> Iterator[Page]:
    values = {
        "agent": agent_id,
        "root": f"{USER}-0",
        "sessions": [session_key(each) for each in sessions],
    }
    return (page_of(each) for each in connection.exec_driver_sql(_PAGES, values))
