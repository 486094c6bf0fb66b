"""Page content: messages of interactions and texts of notes (P6, P14)."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager

from memci.domain.pages.page import Page
from memci.domain.pages.permission import is_attp_guide
from memci.domain.pages.text_search import words_in_text
from memci.domain.pages.window_text import PageContent
from memci.errors import NotFoundError
from memci.message import Message
from memci.storage.messages import COLUMNS, IS_NOTE, select_messages, to_message
from memci.storage.page_store.port import PageStore, TextKey, new_version
from memci.storage.page_store.wrappers import prefetch
from memci.storage.pages.page_queries import session_viewer
from memci.storage.session import Connection, Database

# One index range a page: without OFFSET 0 the planner may read all messages.
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


def unsettled_messages(connection: Connection, agent_id: str, seq: int, most: int) -> list[Message]:
    """Return the messages after a seq, ascending, at most ``most``."""
    where = "agent_id = %s AND seq > %s ORDER BY seq LIMIT %s"
    return select_messages(connection, where, (agent_id, seq, most))


def shown_messages(
    connection: Connection, agent_id: str, pages: Iterable[Page]
) -> dict[str, list[Message]]:
    """Return the messages of pages by index, ascending, without notes."""
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


# Which words are in texts that the database holds.
_WORDS = """
SELECT wanted.page, wanted.version,
       ARRAY(SELECT word FROM unnest(%(words)s::text[]) AS word
              WHERE strpos(note.lower, word) > 0) AS found
FROM unnest(%(pages)s::text[], %(versions)s::bigint[]) AS wanted (page, version),
LATERAL (SELECT lower(text) AS lower FROM page_text
          WHERE agent_id = %(agent)s AND page_id = wanted.page AND version = wanted.version
         OFFSET 0) AS note
"""
# The number of newest texts in other stores that are read, one by one.
_MOST_READ = 50


class NoteTexts:
    """Reads each text of an agent's notes once, and saves new ones."""

    def __init__(self, agent_id: str, store: PageStore) -> None:
        self._agent_id = agent_id
        self._store = store
        self._known: dict[TextKey, str] = {}
        self._unsaved: list[TextKey] = []

    def write(self, page: Page, text: str) -> int:
        """Add a text for ``save``; return its version."""
        key = TextKey(self._agent_id, page.index, new_version())
        self._known[key] = text
        self._unsaved.append(key)
        return key.version

    def save(self) -> None:
        """Save the new texts, before the tree that refers to them (P14).

        Raises ``PageStoreError``; then the tree must not be written.
        """
        for key in self._unsaved:
            self._store.save(key, self._known[key])
        self._unsaved.clear()

    def read(self, page: Page) -> PageContent:
        """Return the text of a note; a lost text is marked and raises nothing."""
        if page.text_version is None:
            return PageContent()
        key = TextKey(self._agent_id, page.index, page.text_version)
        if key not in self._known:
            try:
                self._known[key] = self._store.load(key)
            except NotFoundError:
                return PageContent(lost=True)
        return PageContent(text=self._known[key])

    def words_in(
        self, connection: Connection, pages: Iterable[Page], words: Sequence[str]
    ) -> dict[str, Collection[str]]:
        """Return the words that the texts of pages contain, by index.

        Outside the database only the texts of the newest notes are searched.
        """
        notes = {
            (each.index, each.text_version): each for each in pages if each.text_version is not None
        }
        values = {
            "agent": self._agent_id,
            "pages": [index for index, _ in notes],
            "versions": [version for _, version in notes],
            "words": list(words),
        }
        rows = connection.exec_driver_sql(_WORDS, values).all() if notes else []
        found: dict[str, Collection[str]] = {row.page: row.found for row in rows}
        others = [each for each in notes.values() if each.index not in found]
        for page in sorted(others, key=lambda each: each.place, reverse=True)[:_MOST_READ]:
            found[page.index] = words_in_text(self.read(page).text, words)
        return found


class PageTexts:
    """Returns page content within one transaction; each message and text is fetched once."""

    def __init__(
        self, connection: Connection, agent_id: str, store: PageStore, guide: str = ""
    ) -> None:
        """Read messages through the connection; ``guide`` is the text of the page on ATTP."""
        self._connection = connection
        self._agent_id = agent_id
        self.notes = NoteTexts(agent_id, store.in_transaction(connection))
        self._messages: dict[tuple[str, int], list[Message]] = {}
        self._guide = guide

    def fetch(self, pages: Iterable[Page]) -> None:
        """Fetch the messages of several pages in one query."""
        new = [page for page in pages if page.span and _key(page) not in self._messages]
        found = shown_messages(self._connection, self._agent_id, new) if new else {}
        for page in new:
            self._messages[_key(page)] = found[page.index]

    def __call__(self, page: Page) -> PageContent:
        """Return the content of a page."""
        if is_attp_guide(page):
            return PageContent(text=self._guide)
        if page.span is not None:
            self.fetch([page])
            return PageContent(self._messages[_key(page)])
        return self.notes.read(page)


def _key(page: Page) -> tuple[str, int]:
    return page.index, page.span.last_seq if page.span else 0


# Expanded notes that a window shows, or will show when the named pages are expanded or restored:
# from the roots and the named pages down through folders that are open or above a named page.
# Notes and folders have no session, so no interaction is read.
_SHOWN_NOTES = """
WITH RECURSIVE above AS (
    SELECT id, parent FROM page WHERE agent_id = %(agent)s AND id = ANY(%(named)s::text[])
    UNION
    SELECT page.id, page.parent FROM above JOIN page
        ON page.agent_id = %(agent)s AND page.id = above.parent),
seen AS (
    SELECT id, kind, text_version, expanded, cold FROM page
    WHERE agent_id = %(agent)s AND (parent IS NULL AND NOT cold OR id = ANY(%(named)s::text[]))
    UNION
    SELECT below.* FROM seen, LATERAL (
        (SELECT id, kind, text_version, expanded, cold FROM page
          WHERE agent_id = %(agent)s AND parent = seen.id AND session_id IS NULL
            AND NOT cold AND NOT seen.cold AND (%(all)s OR user_id IS NULL OR user_id = %(user)s))
        UNION ALL
        (SELECT id, kind, text_version, expanded, cold FROM page
          WHERE agent_id = %(agent)s AND parent = seen.id AND parent IS NOT NULL
            AND cold AND seen.cold)) AS below
    WHERE seen.kind = 'contents'
      AND (seen.expanded OR seen.id = 'usr-0' OR seen.id IN (SELECT id FROM above)))
SELECT id, text_version FROM seen
WHERE text_version IS NOT NULL AND (expanded OR id = ANY(%(named)s::text[]))
"""


def prefetch_texts(
    database: Database,
    store: PageStore,
    agent_id: str,
    session_id: str | None = None,
    named: Collection[str] = (),
) -> PageStore:
    """Fetch the texts that a session's window shows (None: that of the last message).

    Also those of the ``named`` pages. Returns a store for one request with these texts. It is for
    stores outside the database, before the tree is locked or a snapshot is opened, so that neither
    waits for a network. Raises ``PageStoreError``.
    """
    if not store.is_remote:
        return store
    store.check()
    with database.agent_snapshot(agent_id) as connection:
        viewer = session_viewer(connection, agent_id, session_id)
        values = {
            "agent": agent_id,
            "named": list(named),
            "all": viewer.sees_all,
            "user": viewer.user_id,
        }
        rows = connection.exec_driver_sql(_SHOWN_NOTES, values).all()
    return prefetch(store, [TextKey(agent_id, row.id, row.text_version) for row in rows])


@contextmanager
def open_note_texts(database: Database, store: PageStore, agent_id: str) -> Iterator[NoteTexts]:
    """Yield a reader of an agent's notes; a store outside the database needs no transaction."""
    if store.is_remote:
        store.check()
        yield NoteTexts(agent_id, store)
        return
    with database.agent_snapshot(agent_id) as connection:
        yield NoteTexts(agent_id, store.in_transaction(connection))
