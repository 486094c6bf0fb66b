"""Texts of notes are fetched from far stores before anything is locked (P14)."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import TypeGuard

from memci.storage.page_store.cached import CachedPageStore
from memci.storage.page_store.held import HeldPageStore
from memci.storage.page_store.port import BodyKey, PageStore, joined
from memci.storage.page_texts import NoteTexts
from memci.storage.session import Connection, Database
from memci.storage.viewers import viewer_in

# Open notes that a window shows, or will when what is named is opened or put back: from the roots
# and from what is named, down through folders that are open, or are above what is named. The
# conversation opens by itself (P13). Notes and folders are of no session: of very many
# interactions none is read.
_SHOWN = """
WITH RECURSIVE above AS (
    SELECT id, parent FROM page WHERE agent_id = %(agent)s AND id = ANY(%(named)s::text[])
    UNION
    SELECT page.id, page.parent FROM above JOIN page
        ON page.agent_id = %(agent)s AND page.id = above.parent),
seen AS (
    SELECT id, kind, body, expanded, cold FROM page
    WHERE agent_id = %(agent)s AND (parent IS NULL AND NOT cold OR id = ANY(%(named)s::text[]))
    UNION
    SELECT below.* FROM seen, LATERAL (
        (SELECT id, kind, body, expanded, cold FROM page
          WHERE agent_id = %(agent)s AND parent = seen.id AND session_id IS NULL
            AND NOT cold AND NOT seen.cold AND (%(all)s OR user_id IS NULL OR user_id = %(user)s))
        UNION ALL
        (SELECT id, kind, body, expanded, cold FROM page
          WHERE agent_id = %(agent)s AND parent = seen.id AND parent IS NOT NULL
            AND cold AND seen.cold)) AS below
    WHERE seen.kind = 'contents'
      AND (seen.expanded OR seen.id = 'usr-0' OR seen.id IN (SELECT id FROM above)))
SELECT id, body FROM seen WHERE body IS NOT NULL AND (expanded OR id = ANY(%(named)s::text[]))
"""


def warm(
    database: Database,
    store: PageStore,
    agent_id: str,
    session_id: str | None = None,
    named: Collection[str] = (),
) -> PageStore:
    """Fetch what a session's window shows (None: that of the last message), and what is named.

    Returns a store for this one request, which has these texts at hand, and does not ask again for
    those that are nowhere. It is for far stores, before the tree is locked or a snapshot opened:
    neither shall last while a network is asked. What changes in between is fetched then; it is
    little. Raises ``PageStoreError``, also where the store itself is gone.
    """
    if not _is_far(store):
        return store
    store.check()
    with database.agent_snapshot(agent_id) as connection:
        keys = _shown(connection, agent_id, session_id, named)
    return HeldPageStore(store, store.fetch(keys))


@contextmanager
def reading_texts(database: Database, store: PageStore, agent_id: str) -> Iterator[NoteTexts]:
    """Lend what reads an agent's notes: by one transaction, or by none where the store is far."""
    if _is_far(store):
        store.check()
        yield NoteTexts(agent_id, store)
        return
    with database.agent_snapshot(agent_id) as connection:
        yield NoteTexts(agent_id, joined(store, connection))


def _is_far(store: PageStore) -> TypeGuard[CachedPageStore]:
    return isinstance(store, CachedPageStore) and store.far


def _shown(
    connection: Connection, agent_id: str, session_id: str | None, named: Collection[str]
) -> list[BodyKey]:
    viewer = viewer_in(connection, agent_id, session_id)
    values = {
        "agent": agent_id,
        "named": list(named),
        "all": viewer.sees_all,
        "user": viewer.user_id,
    }
    rows = connection.exec_driver_sql(_SHOWN, values).all()
    return [BodyKey(agent_id, row.id, row.body) for row in rows]
