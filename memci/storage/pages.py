"""Trees of pages in the database: read as far as they changed, and written so (P14, P16)."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row

from memci.domain.message import Message
from memci.domain.pages.page import Page, PageKind, Recalls, Span, session_key
from memci.domain.pages.tree import SYSTEM, USER, Clock, Permission, Segment, SegmentKind, Tree
from memci.domain.pages.viewer import Viewer
from memci.storage.messages import COLUMNS, IS_NOTE, to_message
from memci.storage.page_sight import SHOWN_PAGES
from memci.storage.page_store.port import BodyKey

_BEGIN = """
INSERT INTO lane (agent_id, written_at) VALUES (%s, now()) ON CONFLICT (agent_id) DO NOTHING
"""
_HOLD = "SELECT FROM lane WHERE agent_id = %s FOR NO KEY UPDATE"
_PLANT = "INSERT INTO page_tree (agent_id) VALUES (%s) ON CONFLICT (agent_id) DO NOTHING"
_LOCK = "SELECT FROM page_tree WHERE agent_id = %s FOR UPDATE"
_SETTLED = "SELECT settled_seq FROM page_tree WHERE agent_id = %s"
_NOTES = "SELECT id, body FROM page WHERE agent_id = %s AND body IS NOT NULL"
_COUNT = "SELECT count(*) FROM page WHERE agent_id = %s AND (parent IS NOT NULL OR cold)"
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
# What was removed by itself, the latest first, and how many pages went directly inside it.
_REMOVED = """
SELECT *, (SELECT count(*) FROM page AS child
           WHERE child.agent_id = page.agent_id AND child.cold AND child.parent = page.id) AS inside
FROM page WHERE agent_id = %(agent)s AND cold AND parent IS NULL AND place < %(before)s
ORDER BY place DESC LIMIT %(limit)s
"""
# As domain/pages/finding.py scores pages: words in the name count twice. Of notes' texts those that
# are in the database.
_FIND = """
SELECT id, held FROM page
LEFT JOIN page_body AS note
    ON note.agent_id = page.agent_id AND note.page_id = page.id AND note.version = page.body,
LATERAL (SELECT lower(name) AS name, lower(concat_ws(
    ' ', description, array_to_string(entries, ' '), note.text)) AS rest OFFSET 0) AS says,
LATERAL (
    SELECT sum((strpos(says.name, word) > 0)::int * 2 + (strpos(says.rest, word) > 0)::int) AS held
    FROM unnest(%(words)s::text[]) AS word) AS score
WHERE page.agent_id = %(agent)s AND held > 0
    AND (%(all)s OR page.user_id IS NULL OR page.user_id = %(user)s)
    AND NOT id = ANY(%(known)s::text[])
ORDER BY held DESC, place DESC LIMIT %(limit)s
"""
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
_UNSETTLED = f"""
SELECT {COLUMNS} FROM message WHERE agent_id = %s AND seq > %s ORDER BY seq LIMIT %s
"""  # noqa: S608 - a constant of another module
# A range of the index for each page: without the fence all messages may be read for a few.
_SHOWN = f"""
SELECT said.*, span.page
FROM unnest(%(pages)s::text[], %(firsts)s::bigint[], %(lasts)s::bigint[], %(sessions)s::text[],
            %(systems)s::boolean[]) AS span (page, first, last, session, system)
CROSS JOIN LATERAL (
    SELECT {COLUMNS} FROM message
    WHERE agent_id = %(agent)s AND seq BETWEEN span.first AND span.last
      AND session_id IS NOT DISTINCT FROM span.session AND (role = 'system') = span.system
      AND NOT {IS_NOTE}
    OFFSET 0) AS said
ORDER BY said.seq
"""  # noqa: S608 - a constant of another module


@dataclass(frozen=True, slots=True)
class Stored:
    """A tree at a version."""

    tree: Tree
    version: int


def begin_agent(connection: Connection, agent_id: str) -> bool:
    """Have an agent that never was exist before its first message; tell whether it never was."""
    return connection.exec_driver_sql(_BEGIN, (agent_id,)).rowcount > 0


def hold_lane(connection: Connection, agent_id: str) -> None:
    """Let nobody append a message before the transaction ends."""
    connection.exec_driver_sql(_HOLD, (agent_id,))


def lock_tree(connection: Connection, agent_id: str) -> None:
    """Lock an agent's tree until the transaction ends (P16)."""
    locked = None
    while locked is None:  # the row may go between the two, with an agent that is erased
        connection.exec_driver_sql(_PLANT, (agent_id,))
        locked = connection.exec_driver_sql(_LOCK, (agent_id,)).first()


def settled_seq(connection: Connection, agent_id: str) -> int:
    """Return up to which message an agent's pages hold all; 0 for a new agent."""
    return connection.exec_driver_sql(_SETTLED, (agent_id,)).scalar() or 0


def note_keys(connection: Connection, agent_id: str) -> set[BodyKey]:
    """Return where the page store has the texts of an agent's notes."""
    rows = connection.exec_driver_sql(_NOTES, (agent_id,))
    return {BodyKey(agent_id, row.id, row.body) for row in rows}


def count_pages(connection: Connection, agent_id: str) -> int:
    """Count an agent's stored pages, removed ones too, without the roots of segments."""
    return int(connection.exec_driver_sql(_COUNT, (agent_id,)).scalar_one())


def save_tree(connection: Connection, agent_id: str, tree: Tree, version: int) -> None:
    """Write what has changed, as this version. The tree must be locked."""
    clock = tree.clock
    row = {
        "agent": agent_id,
        "version": version,
        "segments": json.dumps([_written(each) for each in tree.segments.values()]),
        "settled_seq": clock.settled_seq,
        "interactions": clock.interactions,
        "next_place": clock.next_place,
        "archive": clock.archive,
        "notice": list(clock.notice),
    }
    connection.exec_driver_sql(_SAVE_TREE, row)
    save_pages(connection, agent_id, [tree.pages[index] for index in tree.changed])


def save_pages(connection: Connection, agent_id: str, pages: Iterable[Page]) -> None:
    """Write pages as they are now. The tree must be locked."""
    rows = [{"agent": agent_id, **_row_of(page)} for page in pages]
    if rows:
        connection.exec_driver_sql(_SAVE_PAGE, rows)


def unsettled(connection: Connection, agent_id: str, seq: int, most: int) -> list[Message]:
    """Return the messages behind a seq that are on no page yet, ascending, at most so many."""
    rows = connection.exec_driver_sql(_UNSETTLED, (agent_id, seq, most))
    return [to_message(row) for row in rows]


def shown_messages(
    connection: Connection, agent_id: str, pages: Iterable[Page]
) -> dict[str, list[Message]]:
    """Return the messages that pages are views of, by index, ascending; notes are no talk."""
    views = [(page.index, page.span) for page in pages if page.span is not None]
    found: dict[str, list[Message]] = {index: [] for index, _ in views}
    values = {
        "agent": agent_id,
        "pages": [index for index, _ in views],
        "firsts": [span.first_seq for _, span in views],
        "lasts": [span.last_seq for _, span in views],
        "sessions": [span.session_id for _, span in views],
        "systems": [not span.number for _, span in views],
    }
    for row in connection.exec_driver_sql(_SHOWN, values) if views else ():
        found[row.page].append(to_message(row))
    return found


def read_tree(connection: Connection, agent_id: str, sessions: Collection[str | None]) -> Stored:
    """Return what lies in an agent's tree, of active chapters only those of ``sessions``.

    Of a new agent it is a planted tree.
    """
    row = connection.exec_driver_sql(_TREE, (agent_id,)).first()
    if row is None or not row.version:
        return Stored(Tree.planted(), 0)
    return _stored(row, _pages_of(connection, agent_id, sessions))


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
        "named": list(named),
        "sessions": [session_key(each) for each in sessions],
        "all": viewer.sees_all,
        "user": viewer.user_id,
    }
    rows = connection.exec_driver_sql(SHOWN_PAGES, values).all()
    stored = _stored(row, map(page_of, rows))
    stored.tree.viewer = viewer
    stored.tree.count_unread({each.id: each.inside for each in rows if each.inside})
    return stored


def _stored(row: Row[Any], pages: Iterable[Page]) -> Stored:
    segments = [_segment(each) for each in row.segments]
    clock = Clock(
        settled_seq=row.settled_seq,
        interactions=row.interactions,
        next_place=row.next_place,
        archive=row.archive,
        notice=tuple(row.notice),
    )
    tree = Tree.of(
        {each.id: each for each in segments}, {each.index: each for each in pages}, clock
    )
    return Stored(tree, row.version)


def know_sessions(
    connection: Connection, agent_id: str, tree: Tree, sessions: Collection[str | None]
) -> None:
    """Have a tree know the active chapters of more sessions, and what their messages go on from."""
    if sessions:
        tree.know(_pages_of(connection, agent_id, sessions))


def _pages_of(
    connection: Connection, agent_id: str, sessions: Collection[str | None]
) -> Iterator[Page]:
    values = {
        "agent": agent_id,
        "root": f"{USER}-0",
        "sessions": [session_key(each) for each in sessions],
    }
    return (page_of(each) for each in connection.exec_driver_sql(_PAGES, values))


def know_pages(connection: Connection, agent_id: str, tree: Tree, indexes: Collection[str]) -> None:
    """Have a tree know pages that it was not read with, each with all that was removed with it."""
    values = {"agent": agent_id, "named": list(indexes)}
    tree.know(page_of(row) for row in connection.exec_driver_sql(_NAMED, values))


def find_pages(
    connection: Connection,
    agent_id: str,
    viewer: Viewer,
    words: Sequence[str],
    known: Collection[str],
    limit: int,
) -> list[tuple[int, str]]:
    """Return scores and indexes of pages that hold some of these words, best and newest first.

    None is another user's than the viewer's. Those that are ``known`` are left out.
    """
    values = {
        "agent": agent_id,
        "all": viewer.sees_all,
        "user": viewer.user_id,
        "words": list(words),
        "known": list(known),
        "limit": limit,
    }
    return [(row.held, row.id) for row in connection.exec_driver_sql(_FIND, values)]


def removed_pages(
    connection: Connection, agent_id: str, before: int, limit: int
) -> list[tuple[Page, int]]:
    """Return what was removed before a place, the latest first, each with how much lies in it."""
    values = {"agent": agent_id, "before": before, "limit": limit}
    return [(page_of(row), row.inside) for row in connection.exec_driver_sql(_REMOVED, values)]


def _segment(stored: Mapping[str, Any]) -> Segment:
    return Segment(
        id=stored["id"],
        kind=SegmentKind(stored["kind"]),
        permission=Permission(stored["permission"]),
        name=stored["name"],
        max_tokens=stored["max_tokens"],
        next_number=stored["next_number"],
    )


def _written(segment: Segment) -> dict[str, Any]:
    return {
        "id": segment.id,
        "kind": segment.kind,
        "permission": segment.permission,
        "name": segment.name,
        "max_tokens": segment.max_tokens,
        "next_number": segment.next_number,
    }


def page_of(row: Row[Any]) -> Page:
    """Return the page that a row of all its columns is."""
    span = None
    if row.first_seq is not None:
        span = Span(row.first_seq, row.last_seq, row.session_id, row.number, row.answered)
    return Page(
        index=row.id,
        kind=PageKind(row.kind),
        segment=row.segment,
        parent=row.parent,
        place=row.place,
        name=row.name,
        description=row.description,
        expanded=row.expanded,
        cold=row.cold,
        managed=row.managed,
        span=span,
        body=row.body,
        entries=tuple(row.entries),
        recalls=Recalls(
            row.recalls, row.recalled_at, row.entered_at, row.archived_at, row.opened_at
        ),
        named=row.named,
        summed=row.summed,
        pinned_by=row.pinned_by,
        chapter=row.chapter,
        user_id=row.user_id,
        held_tokens=row.held_tokens,
    )


def _row_of(page: Page) -> dict[str, Any]:
    span = page.span
    return {
        "id": page.index,
        "kind": page.kind,
        "segment": page.segment,
        "parent": page.parent,
        "place": page.place,
        "name": page.name,
        "description": page.description,
        "expanded": page.expanded,
        "cold": page.cold,
        "managed": page.managed,
        "named": page.named,
        "summed": page.summed,
        "pinned_by": page.pinned_by,
        "chapter": page.chapter,
        "user_id": page.user_id,
        "held_tokens": page.held_tokens,
        "first_seq": span.first_seq if span else None,
        "last_seq": span.last_seq if span else None,
        "session_id": span.session_id if span else None,
        "number": span.number if span else None,
        "answered": span.answered if span else None,
        "entries": list(page.entries),
        "body": page.body,
        "recalls": page.recalls.count,
        "recalled_at": page.recalls.last_at,
        "entered_at": page.recalls.entered_at,
        "archived_at": page.recalls.archived_at,
        "opened_at": page.recalls.opened_at,
    }
