"""What pages hold, fetched when a window shows it (P11, P14)."""

from __future__ import annotations

from collections.abc import Iterable

from memci.domain.message import Message
from memci.domain.pages.block import Held
from memci.domain.pages.guide import is_guide
from memci.domain.pages.page import Page
from memci.storage.page_store.port import BodyKey, PageStore
from memci.storage.pages import shown_messages
from memci.storage.session import Connection


class PageTexts:
    """Messages of interactions and texts of notes; each is fetched once, many at a time.

    Nothing is kept beyond the transaction: what is erased is gone with the next one.
    """

    def __init__(
        self, connection: Connection, agent_id: str, store: PageStore, guide: str = ""
    ) -> None:
        """Read messages through the connection, and notes from the store; ``guide`` is told."""
        self._connection = connection
        self._agent_id = agent_id
        self._store = store
        self._messages: dict[tuple[str, int], list[Message]] = {}
        self._written: dict[tuple[str, int], str] = {}
        self._unsaved: list[BodyKey] = []
        self._guide = guide

    def fetch(self, pages: Iterable[Page]) -> None:
        """Fetch the messages of these pages at once."""
        wanted = [page for page in pages if page.span and _key(page) not in self._messages]
        found = shown_messages(self._connection, self._agent_id, wanted) if wanted else {}
        for page in wanted:
            self._messages[_key(page)] = found[page.index]

    def write(self, page: Page, text: str) -> None:
        """Give a page a text of its own; ``save`` keeps it."""
        version = page.body or 1
        self._unsaved.append(BodyKey(self._agent_id, page.index, version))
        self._written[page.index, version] = text

    def save(self) -> None:
        """Keep what was written: it is in the store before the tree says so (P14)."""
        for key in self._unsaved:
            self._store.save(key, self._written[key.page, key.version])
        self._unsaved.clear()

    def __call__(self, page: Page) -> Held:
        """Return what a page holds."""
        if is_guide(page):
            return Held(text=self._guide)
        if page.span is not None:
            self.fetch([page])
            return Held(self._messages[_key(page)])
        if page.body is None:
            return Held()
        written = self._written.get((page.index, page.body))
        if written is None:
            written = self._store.load(BodyKey(self._agent_id, page.index, page.body))
            self._written[page.index, page.body] = written
        return Held(text=written)


def _key(page: Page) -> tuple[str, int]:
    return page.index, page.span.last_seq if page.span else 0
