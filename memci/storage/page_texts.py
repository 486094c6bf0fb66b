"""What pages hold, fetched when a window shows it (P11, P14)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from memci.domain.message import Message
from memci.domain.pages.block import Held
from memci.domain.pages.finding import among
from memci.domain.pages.page import Page
from memci.domain.pages.permission import is_guide
from memci.errors import NotFoundError
from memci.storage.page_messages import shown_messages
from memci.storage.page_store.port import BodyKey, PageStore, joined, new_version
from memci.storage.session import Connection

# Which of some words are in texts that are in the database.
_WORDS = """
SELECT wanted.page, wanted.version,
       ARRAY(SELECT word FROM unnest(%(words)s::text[]) AS word
              WHERE strpos(note.lower, word) > 0) AS found
FROM unnest(%(pages)s::text[], %(versions)s::bigint[]) AS wanted (page, version),
LATERAL (SELECT lower(text) AS lower FROM page_body
          WHERE agent_id = %(agent)s AND page_id = wanted.page AND version = wanted.version
         OFFSET 0) AS note
"""
# Of texts that are elsewhere the newest are read, one by one.
_MOST_READ = 50


class NoteTexts:
    """Texts of an agent's notes; each is fetched once."""

    def __init__(self, agent_id: str, store: PageStore) -> None:
        """Read and write them in a store."""
        self._agent_id = agent_id
        self._store = store
        self._known: dict[BodyKey, str] = {}
        self._unsaved: list[BodyKey] = []

    def write(self, page: Page, text: str) -> int:
        """Give a page a text, which ``save`` keeps; return its version."""
        key = BodyKey(self._agent_id, page.index, new_version())
        self._known[key] = text
        self._unsaved.append(key)
        return key.version

    def save(self) -> None:
        """Keep what was written: it is in the store before the tree says so (P14).

        Raises ``PageStoreError``, and then the tree must not be written.
        """
        for key in self._unsaved:
            self._store.save(key, self._known[key])
        self._unsaved.clear()

    def read(self, page: Page) -> Held:
        """Return what a page says of its own: nothing, if it has no text.

        One text that the store has lost hinders nothing else: the page can be hidden and removed.
        """
        if page.body is None:
            return Held()
        key = BodyKey(self._agent_id, page.index, page.body)
        if key not in self._known:
            try:
                self._known[key] = self._store.load(key)
            except NotFoundError:
                return Held(lost=True)
        return Held(text=self._known[key])

    def words_in(
        self, connection: Connection, pages: Iterable[Page], words: Sequence[str]
    ) -> dict[str, Collection[str]]:
        """Return which of some words the texts of pages hold, by index.

        Of texts that are not in the database only those of the newest notes are looked at.
        """
        notes = {(each.index, each.body): each for each in pages if each.body is not None}
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
            found[page.index] = among(self.read(page).text, words)
        return found


class PageTexts:
    """Messages of interactions and texts of notes; each is fetched once, messages many at a time.

    Of messages nothing is kept beyond the transaction: what is erased is gone with the next one.
    """

    def __init__(
        self, connection: Connection, agent_id: str, store: PageStore, guide: str = ""
    ) -> None:
        """Read messages through the connection, and notes from the store; ``guide`` is told."""
        self._connection = connection
        self._agent_id = agent_id
        self._notes = NoteTexts(agent_id, joined(store, connection))
        self._messages: dict[tuple[str, int], list[Message]] = {}
        self._guide = guide

    def fetch(self, pages: Iterable[Page]) -> None:
        """Fetch the messages of these pages at once."""
        wanted = [page for page in pages if page.span and _key(page) not in self._messages]
        found = shown_messages(self._connection, self._agent_id, wanted) if wanted else {}
        for page in wanted:
            self._messages[_key(page)] = found[page.index]

    def words_in(
        self, pages: Iterable[Page], words: Sequence[str]
    ) -> Mapping[str, Collection[str]]:
        """Do as ``NoteTexts.words_in``."""
        return self._notes.words_in(self._connection, pages, words)

    def write(self, page: Page, text: str) -> int:
        """Do as ``NoteTexts.write``."""
        return self._notes.write(page, text)

    def save(self) -> None:
        """Do as ``NoteTexts.save``."""
        self._notes.save()

    def __call__(self, page: Page) -> Held:
        """Return what a page holds."""
        if is_guide(page):
            return Held(text=self._guide)
        if page.span is not None:
            self.fetch([page])
            return Held(self._messages[_key(page)])
        return self._notes.read(page)


def _key(page: Page) -> tuple[str, int]:
    return page.index, page.span.last_seq if page.span else 0
