"""Pages whose own words hold all words of a query, and what is shown of them first (M25).

Notes, names and descriptions are an agent's own: no message says that they speak of something. What
a page was called before counts as well, as long as ``undo`` or ``redo`` could bring it back.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from memci.commands.erase_words import Words
from memci.domain.pages.page import Page
from memci.shapes.erasure import CondemnedPage
from memci.storage.erasure.gone import snapshot_of
from memci.storage.erasure.pages import written_pages
from memci.storage.page_steps import words_of_steps
from memci.storage.page_store.cached import CachedPageStore
from memci.storage.page_store.many import load_many
from memci.storage.page_store.port import BodyKey, PageStore
from memci.storage.session import Database

_EXCERPT = 240
# Of texts that are not in the database those of the newest notes are looked at.
_MOST_READ = 5_000
# Texts that are in memory at once.
_AT_ONCE = 100


class FoundPages(NamedTuple):
    """Indexes, and how many notes there are whose texts were not looked at."""

    indexes: list[str]
    unread: int = 0


class _Written(NamedTuple):
    """A page, and what steps on it have in them."""

    page: Page
    before: Sequence[str]

    def says(self, text: str) -> str:
        """Return all its own words, with what it holds if it is a note."""
        return "\n".join(dict.fromkeys(filter(None, (*self._parts(), text))))

    def _parts(self) -> Iterator[str]:
        page = self.page
        if page.span is None or page.named or page.summed:
            yield page.name
            yield page.description
            yield from page.entries
        yield from self.before


def find_pages(
    database: Database, store: PageStore, agent_id: str, words: Words, *, most: int
) -> FoundPages:
    """Return the newest pages whose own words hold all of these, at most ``most``.

    Of a far store the texts of the newest 5,000 notes are read, of others but their names. Raises
    ``NotFoundError`` for no agent, and ``PageStoreError``.
    """
    written = _written(database, agent_id)[::-1]
    notes = [each.page for each in written if each.page.body is not None]
    is_far = isinstance(store, CachedPageStore) and store.far
    unread = {page.index for page in notes[_MOST_READ:]} if is_far else set[str]()
    found: list[str] = []
    for page, says in _saying(store, agent_id, written, unread):
        if words.are_in(says):
            found.append(page.index)
            if len(found) == most:
                return FoundPages(found)
    return FoundPages(found, len(unread))


def shown_pages(
    database: Database,
    store: PageStore,
    agent_id: str,
    indexes: Collection[str],
    words: Words | None,
) -> list[CondemnedPage]:
    """Return what is to be read of pages before they go; those without own words are left out."""
    if not indexes:
        return []
    written = _written(database, agent_id, indexes)
    return [_shown(page, says, words) for page, says in _saying(store, agent_id, written)]


def _written(
    database: Database, agent_id: str, only: Collection[str] | None = None
) -> list[_Written]:
    with snapshot_of(database, agent_id) as connection:
        before = words_of_steps(connection, agent_id, only)
        pages = written_pages(connection, agent_id, before, only)
        return [_Written(page, before.get(page.index, ())) for page in pages]


def _saying(
    store: PageStore, agent_id: str, written: Sequence[_Written], unread: Collection[str] = ()
) -> Iterator[tuple[Page, str]]:
    """Yield pages and all their own words; a text that somebody erases right now is none."""
    for at in range(0, len(written), _AT_ONCE):
        some = written[at : at + _AT_ONCE]
        keys = {
            each.page.index: BodyKey(agent_id, each.page.index, each.page.body)
            for each in some
            if each.page.body is not None and each.page.index not in unread
        }
        texts = load_many(store, list(keys.values()))
        for each in some:
            key = keys.get(each.page.index)
            yield each.page, each.says(texts.get(key, "") if key else "")


def _shown(page: Page, says: str, words: Words | None) -> CondemnedPage:
    excerpt = " ".join(says.split())[:_EXCERPT] if words is None else words.excerpt(says, _EXCERPT)
    return CondemnedPage(
        index=page.index, name=page.name, goes=page.body is not None, excerpt=excerpt
    )
