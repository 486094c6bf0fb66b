"""Finds, lists and counts an agent's pages; the viewer of a session (P4, P14, R5, R13)."""

from collections.abc import Collection, Sequence

from memci.domain.pages.page import Page
from memci.domain.pages.tree import Viewer, VisibleTree
from memci.domain.pages.window_text import ContentReader, PageContent
from memci.storage.messages import IS_NOTE, in_session, last_speaker
from memci.storage.page_store.port import TextKey
from memci.storage.page_store.postgres import load_texts
from memci.storage.pages.tree import page_from_row, read_visible, settled_seq
from memci.storage.session import Connection

_COUNT = "SELECT count(*) FROM page WHERE agent_id = %s AND (parent IS NOT NULL OR cold)"
# Top pages of removed subtrees, latest first, with the number of pages directly inside.
_REMOVED = """
SELECT *, (SELECT count(*) FROM page AS child
           WHERE child.agent_id = page.agent_id AND child.cold AND child.parent = page.id) AS inside
FROM page WHERE agent_id = %(agent)s AND cold AND parent IS NULL AND place < %(before)s
ORDER BY place DESC LIMIT %(limit)s
"""
# Scores as ``match_score`` does: words in the name count twice. Only texts in the database count.
_FIND = """
SELECT id, held FROM page
LEFT JOIN page_text AS note
    ON note.agent_id = page.agent_id AND note.page_id = page.id
       AND note.version = page.text_version,
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


def find_pages(
    connection: Connection,
    agent_id: str,
    viewer: Viewer,
    words: Sequence[str],
    known: Collection[str],
    limit: int,
) -> list[tuple[int, str]]:
    """Return scores and indexes of pages that contain some of the words, best and newest first.

    Without pages of users other than the viewer's, and without the ``known`` ones.
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
    """Return pages removed before a place, latest first, with the number of pages in each."""
    values = {"agent": agent_id, "before": before, "limit": limit}
    return [
        (page_from_row(row), row.inside) for row in connection.exec_driver_sql(_REMOVED, values)
    ]


def count_pages(connection: Connection, agent_id: str) -> int:
    """Return the number of an agent's stored pages without roots, removed ones included."""
    return int(connection.exec_driver_sql(_COUNT, (agent_id,)).scalar_one())


def listed_pages(
    connection: Connection, agent_id: str, viewer: Viewer
) -> tuple[VisibleTree, ContentReader]:
    """Return the pages that a viewer sees outside active chapters, and their content.

    Only texts in the database: no listing waits for a network.
    """
    tree = read_visible(connection, agent_id, viewer, ()).tree
    keys = [
        TextKey(agent_id, each.index, each.text_version)
        for each in tree.pages.values()
        if each.expanded and each.text_version is not None
    ]
    texts = {key.page: text for key, text in load_texts(connection, keys).items()}
    return VisibleTree(tree, viewer.session_id), lambda page: PageContent(
        text=texts.get(page.index, "")
    )


# As ``chapters.settle``: a message without a user belongs to the user of its session, and notes of
# an agent make no conversation. Pages store their users, so only messages after ``settled_seq`` are
# read; the bound is a parameter, since a subquery's value would not use the index.
_WITH = f"""
SELECT coalesce(
    (SELECT user_id FROM message
      WHERE agent_id = %(agent)s AND session_id {{session}} AND user_id IS NOT NULL
        AND seq > %(settled)s
      ORDER BY seq DESC LIMIT 1),
    (SELECT user_id FROM page
      WHERE agent_id = %(agent)s AND session_id {{session}} AND first_seq IS NOT NULL AND number > 0
      ORDER BY last_seq DESC LIMIT 1)) AS user_id,
    EXISTS (SELECT FROM message
             WHERE agent_id = %(agent)s AND session_id {{session}} AND NOT {IS_NOTE}) AS spoken
"""  # noqa: S608 - a constant of another module
_USERS = "SELECT EXISTS (SELECT FROM message WHERE agent_id = %s AND user_id IS NOT NULL)"


def session_viewer(connection: Connection, agent_id: str, session_id: str | None) -> Viewer:
    """Return the viewer of a session; None: the session of the agent's last message."""
    last = last_speaker(connection, agent_id, session_id)
    if last is None:
        return Viewer(session_id, is_new=True)
    session, user = last
    if user is not None:
        return Viewer(session, user)
    settled = settled_seq(connection, agent_id)
    values = {"agent": agent_id, "session": session, "settled": settled}
    row = connection.exec_driver_sql(in_session(_WITH, session), values).one()
    return Viewer(session, row.user_id, is_new=row.user_id is None and not row.spoken)


def request_viewer(
    connection: Connection, agent_id: str, session_id: str | None, user_id: str | None
) -> Viewer:
    """Return the viewer of a read: with the given user, or the session's, or without one."""
    if user_id is not None or session_id is None:
        return Viewer(session_id, user_id)
    return session_viewer(connection, agent_id, session_id)


def has_users(connection: Connection, agent_id: str) -> bool:
    """Return True if any message of the agent names a user."""
    return bool(connection.exec_driver_sql(_USERS, (agent_id,)).scalar())
