"""Page trees in the database: reading, saving changed pages, locking (P12, P14, P16)."""

import json
from collections.abc import Collection, Iterable, Iterator
from dataclasses import asdict, astuple, dataclass
from typing import Any

from sqlalchemy import Connection, Row
from sqlalchemy.dialects.postgresql import insert

from memci.domain.pages.page import (
    SYSTEM,
    USER,
    Page,
    PageKind,
    Permission,
    RecallStats,
    Segment,
    SegmentKind,
    Span,
    session_key,
)
from memci.domain.pages.tree import Tree, TreeCounters, Viewer
from memci.storage.messages import stored_seqs
from memci.storage.schema.pages import page as page_table

# Columns of a page's fields of the same name.
_SAME = (
    "kind", "segment", "parent", "place", "name", "description", "expanded", "cold", "managed",
    "named", "summarized", "text_version", "pinned_by", "chapter", "user_id", "content_tokens",
)  # fmt: skip
# Columns of its span and of its recalls, in the order of their fields.
_SPAN = ("first_seq", "last_seq", "session_id", "number", "answered")
_RECALLS = ("recalls", "recalled_at", "entered_at", "archived_at", "opened_at")
_COUNTERS = ("settled_seq", "interactions", "next_place", "archive")


def page_from_row(row: Row[Any]) -> Page:
    """Return the page of a row with all columns."""
    values = {name: getattr(row, name) for name in _SAME} | {"kind": PageKind(row.kind)}
    span = None if row.first_seq is None else Span(*(getattr(row, each) for each in _SPAN))
    recalls = RecallStats(*(getattr(row, each) for each in _RECALLS))
    return Page(index=row.id, span=span, entries=tuple(row.entries), recalls=recalls, **values)


def page_row(page: Page) -> dict[str, Any]:
    """Return the columns of a page, without its agent."""
    return (
        {name: getattr(page, name) for name in _SAME}
        | dict(zip(_SPAN, astuple(page.span) if page.span else (None,) * 5, strict=True))
        | dict(zip(_RECALLS, astuple(page.recalls), strict=True))
        | {"id": page.index, "entries": list(page.entries)}
    )


def tree_from_row(row: Row[Any], pages: Iterable[Page]) -> Tree:
    """Return the tree of a row of ``page_tree`` and these pages."""
    segments = [
        Segment(
            **each
            | {"kind": SegmentKind(each["kind"]), "permission": Permission(each["permission"])}
        )
        for each in row.segments
    ]
    counters = {name: getattr(row, name) for name in _COUNTERS}
    return Tree.from_stored(
        {each.id: each for each in segments},
        {each.index: each for each in pages},
        TreeCounters(**counters, notice=tuple(row.notice)),
    )


def tree_row(tree: Tree) -> dict[str, Any]:
    """Return the columns of ``page_tree``, without the agent and the version."""
    return {
        **{name: getattr(tree.counters, name) for name in _COUNTERS},
        "segments": json.dumps([asdict(each) for each in tree.segments.values()]),
        "notice": list(tree.counters.notice),
    }


# A page that is in no chapter, or in one of some sessions.
_OUTSIDE_OR_OF_SESSIONS = """NOT coalesce(number > 0, false)
    OR coalesce(nullif(chapter, ''), '+' || session_id, '-') = ANY(%(sessions)s::text[])"""
# The last interaction of each of some sessions.
_LATEST = """
SELECT latest.* FROM unnest(%(sessions)s::text[]) AS session (key), LATERAL (
    SELECT {columns} FROM page WHERE agent_id = %(agent)s AND first_seq IS NOT NULL AND number > 0
        AND session_id = substr(session.key, 2) AND session.key <> '-'
    ORDER BY last_seq DESC LIMIT 1) AS latest
UNION
(SELECT {columns} FROM page WHERE agent_id = %(agent)s AND first_seq IS NOT NULL AND number > 0
        AND session_id IS NULL AND '-' = ANY(%(sessions)s::text[])
    ORDER BY last_seq DESC LIMIT 1)
"""
# From the roots down through open folders; into the conversation and the archive even if they are
# closed, since pages leave them (P7, P8), and into ``sys``, which has the page on ATTP (P15).
# Then the named pages, the last page of each session, and the folders above these.
# ``inside``: number of pages in a closed folder. LATERAL and LIMIT force index lookups: a plan for
# small trees would read all of a large one.
SHOWN_PAGES = f"""
WITH RECURSIVE seen AS (
    SELECT id, kind, expanded FROM page
    WHERE agent_id = %(agent)s AND parent IS NULL AND NOT cold
    UNION ALL
    SELECT below.* FROM seen, LATERAL (
        SELECT id, kind, expanded FROM page
        WHERE agent_id = %(agent)s AND parent = seen.id AND NOT cold
          AND (seen.id <> %(root)s OR {_OUTSIDE_OR_OF_SESSIONS}) OFFSET 0) AS below
    WHERE seen.kind = 'contents'
      AND (seen.expanded OR seen.id IN (%(archive)s, %(root)s, %(system)s))),
latest AS ({_LATEST.format(columns="id")}),
above AS (
    SELECT page.* FROM (
        SELECT unnest(%(named)s::text[]) AS id UNION SELECT id FROM latest) AS meant, LATERAL (
        SELECT id, parent FROM page
        WHERE agent_id = %(agent)s AND page.id = meant.id LIMIT 1) AS page
    UNION
    SELECT page.* FROM above, LATERAL (
        SELECT id, parent FROM page
        WHERE agent_id = %(agent)s AND id = above.parent LIMIT 1) AS page)
SELECT page.*, CASE WHEN kind = 'contents' AND NOT expanded THEN (
    SELECT count(*) FROM page AS within
    WHERE within.agent_id = %(agent)s AND within.parent = page.id AND NOT within.cold
      AND page.id <> %(root)s
      AND (%(all)s OR within.user_id IS NULL OR within.user_id = %(user)s)) END AS inside
FROM (SELECT id FROM seen UNION SELECT id FROM above) AS wanted, LATERAL (
    SELECT * FROM page WHERE agent_id = %(agent)s AND page.id = wanted.id LIMIT 1) AS page
ORDER BY place, page.id
"""  # noqa: S608 - constants of this module
# Interactions that are over: their session has a later one.
_UNNAMED = """
SELECT id FROM page
WHERE agent_id = %(agent)s AND number > 0 AND NOT (named AND summarized) AND (cold
    OR EXISTS (SELECT FROM page AS later
        WHERE later.agent_id = %(agent)s AND later.first_seq IS NOT NULL
          AND later.session_id = page.session_id AND later.last_seq > page.last_seq)
    OR page.session_id IS NULL AND EXISTS (SELECT FROM page AS later
        WHERE later.agent_id = %(agent)s AND later.first_seq IS NOT NULL
          AND later.session_id IS NULL AND later.number > 0 AND later.last_seq > page.last_seq))
ORDER BY number DESC LIMIT %(most)s
"""


def unnamed_pages(connection: Connection, agent_id: str, most: int) -> list[str]:
    """Return the indexes of pages that the summarizer has to name, newest first."""
    values = {"agent": agent_id, "most": most}
    return list(connection.exec_driver_sql(_UNNAMED, values).scalars())


def messages_exist(connection: Connection, agent_id: str, seqs: list[int]) -> bool:
    """Return True if all of these messages are stored."""
    return set(stored_seqs(connection, agent_id, seqs)) == set(seqs)


_SETTLED = "SELECT settled_seq FROM page_tree WHERE agent_id = %s"
_TREE = """
SELECT version, segments, settled_seq, interactions, next_place, archive, notice
FROM page_tree WHERE agent_id = %s
"""
# Pages of the tree without the active chapters of other sessions; and each session's last page.
_PAGES = f"""
SELECT * FROM page WHERE agent_id = %(agent)s AND NOT cold
    AND (parent IS DISTINCT FROM %(root)s OR {_OUTSIDE_OR_OF_SESSIONS})
UNION {_LATEST.format(columns="*")}
ORDER BY place, id
"""  # noqa: S608 - constants of this module
# Pages by index; with a removed page all that was removed with it.
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
class StoredTree:
    """A tree and its version."""

    tree: Tree
    version: int


def settled_seq(connection: Connection, agent_id: str) -> int:
    """Return the seq up to which all messages are on pages; 0 for a new agent."""
    return connection.exec_driver_sql(_SETTLED, (agent_id,)).scalar() or 0


def read_tree(
    connection: Connection, agent_id: str, sessions: Collection[str | None]
) -> StoredTree:
    """Return an agent's tree with the active chapters of ``sessions`` only; a new one if none."""
    row = connection.exec_driver_sql(_TREE, (agent_id,)).first()
    if row is None or not row.version:
        return StoredTree(Tree.new(), 0)
    pages = _pages_of(connection, agent_id, sessions)
    return StoredTree(tree_from_row(row, pages), row.version)


def read_visible(
    connection: Connection,
    agent_id: str,
    viewer: Viewer,
    sessions: Collection[str | None],
    named: Collection[str] = (),
) -> StoredTree:
    """Return the pages that windows of ``sessions`` show, the archive, and the ``named`` pages.

    Pages in closed folders are only counted, as far as the viewer sees them. Returns a new tree for
    a new agent.
    """
    row = connection.exec_driver_sql(_TREE, (agent_id,)).first()
    if row is None or not row.version:
        return StoredTree(Tree.new(), 0)
    values = {
        "agent": agent_id,
        "root": f"{USER}-0",
        "system": f"{SYSTEM}-0",
        "archive": row.archive,
        # The window names collapsed pages, which may lie in closed folders.
        "named": [*named, *row.notice],
        "sessions": [session_key(each) for each in sessions],
        "all": viewer.sees_all,
        "user": viewer.user_id,
    }
    rows = connection.exec_driver_sql(SHOWN_PAGES, values).all()
    tree = tree_from_row(row, map(page_from_row, rows))
    tree.viewer = viewer
    tree.count_unread({each.id: each.inside for each in rows if each.inside})
    return StoredTree(tree, row.version)


def load_sessions(
    connection: Connection, agent_id: str, tree: Tree, sessions: Collection[str | None]
) -> None:
    """Load the active chapters and current interactions of more sessions into a tree."""
    if sessions:
        tree.add_loaded(_pages_of(connection, agent_id, sessions))


def load_pages(connection: Connection, agent_id: str, tree: Tree, indexes: Collection[str]) -> None:
    """Load more pages into a tree, each with all that was removed with it."""
    values = {"agent": agent_id, "named": list(indexes)}
    tree.add_loaded(page_from_row(row) for row in connection.exec_driver_sql(_NAMED, values))


def _pages_of(
    connection: Connection, agent_id: str, sessions: Collection[str | None]
) -> Iterator[Page]:
    values = {
        "agent": agent_id,
        "root": f"{USER}-0",
        "sessions": [session_key(each) for each in sessions],
    }
    return (page_from_row(each) for each in connection.exec_driver_sql(_PAGES, values))


_SAVE_TREE = """
UPDATE page_tree SET version = %(version)s, segments = %(segments)s::jsonb,
    settled_seq = %(settled_seq)s, interactions = %(interactions)s, next_place = %(next_place)s,
    archive = %(archive)s, notice = %(notice)s::text[]
WHERE agent_id = %(agent)s
"""
# A page keeps its index, kind and segment, and its interaction.
_FIXED = {"agent_id", "id", "kind", "segment", "session_id", "number"}
_insert = insert(page_table)
_SAVE_PAGE = _insert.on_conflict_do_update(
    index_elements=["agent_id", "id"],
    set_={each.name: each for each in _insert.excluded if each.name not in _FIXED},
)


def save_tree(connection: Connection, agent_id: str, tree: Tree, version: int) -> None:
    """Write the changed pages and the tree as this version. The tree must be locked."""
    row = {"agent": agent_id, "version": version, **tree_row(tree)}
    connection.exec_driver_sql(_SAVE_TREE, row)
    save_pages(connection, agent_id, [tree.pages[index] for index in tree.changed])


def save_pages(connection: Connection, agent_id: str, pages: Iterable[Page]) -> None:
    """Write pages. The tree must be locked."""
    rows = [{"agent_id": agent_id, **page_row(page)} for page in pages]
    if rows:
        connection.execute(_SAVE_PAGE, rows)


# A lane without messages was made by a claim, or left by an erasure. A statement that waited for an
# erasure to end belongs to the agent before it: it still sees that agent's epoch.
_BEGIN = """
INSERT INTO lane (agent_id, written_at) VALUES (%(agent)s, now())
ON CONFLICT (agent_id) DO UPDATE SET written_at = now()
WHERE lane.written_at IS NULL AND lane.message_seq = lane.erased_messages
  AND lane.epoch = coalesce((SELECT epoch FROM lane AS seen WHERE seen.agent_id = %(agent)s), 0)
"""
_HOLD = "SELECT FROM lane WHERE agent_id = %s FOR NO KEY UPDATE"
_PLANT = "INSERT INTO page_tree (agent_id) VALUES (%s) ON CONFLICT (agent_id) DO NOTHING"
_LOCK = "SELECT FROM page_tree WHERE agent_id = %s FOR UPDATE"


def begin_agent(connection: Connection, agent_id: str) -> bool:
    """Create an agent before its first message, if it did not exist; return True then."""
    return connection.exec_driver_sql(_BEGIN, {"agent": agent_id}).rowcount > 0


def lock_lane(connection: Connection, agent_id: str) -> None:
    """Block new messages of the agent until the transaction ends."""
    connection.exec_driver_sql(_HOLD, (agent_id,))


def lock_tree(connection: Connection, agent_id: str) -> None:
    """Lock an agent's tree until the transaction ends (P16)."""
    locked = None
    while locked is None:  # the row may go between the two, with an agent that is erased
        connection.exec_driver_sql(_PLANT, (agent_id,))
        locked = connection.exec_driver_sql(_LOCK, (agent_id,)).first()
