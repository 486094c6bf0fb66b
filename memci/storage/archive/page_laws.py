"""What must be so in the pages of one agent taken together (P1, P6, P17)."""

from __future__ import annotations

from sqlalchemy import Connection

from memci.domain.pages.page import DEEPEST
from memci.storage.archive.law import Law, counted, known
from memci.storage.messages import IS_NOTE

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
            if len(way) > DEEPEST:
                return folder
            at = above[at]
        depth = depths[at]
        for each in reversed(way):
            depth = depths[each] = depth + 1
        if depth > DEEPEST:
            return folder
    return None
