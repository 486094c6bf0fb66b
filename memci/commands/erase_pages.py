"""Pages whose own words hold all words of a query, and what is shown of them first (M25).

Notes, names and descriptions are an agent's own: no message says that they speak of something.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from memci.commands.erase_words import Words
from memci.domain.pages.page import Page
from memci.errors import NotFoundError
from memci.shapes.erasure import CondemnedPage
from memci.storage.erasure.gone import snapshot_of
from memci.storage.erasure.pages import written_pages
from memci.storage.page_store.port import BodyKey, PageStore
from memci.storage.session import Database

_EXCERPT = 240


def find_pages(
    database: Database, store: PageStore, agent_id: str, words: Words, *, most: int
) -> list[str]:
    """Return the indexes of the newest pages whose own words hold all of these, at most ``most``.

    Raises ``NotFoundError`` for no agent, and ``PageStoreError``.
    """
    found: list[str] = []
    for page in reversed(_written(database, agent_id)):
        if len(found) < most and words.are_in(_says(store, agent_id, page)):
            found.append(page.index)
    return found


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
    wanted = frozenset(indexes)
    pages = [page for page in _written(database, agent_id) if page.index in wanted]
    return [_shown(page, _says(store, agent_id, page), words) for page in pages]


def _written(database: Database, agent_id: str) -> list[Page]:
    with snapshot_of(database, agent_id) as connection:
        return written_pages(connection, agent_id)


def _says(store: PageStore, agent_id: str, page: Page) -> str:
    return "\n".join(filter(None, _parts(store, agent_id, page)))


def _parts(store: PageStore, agent_id: str, page: Page) -> Iterator[str]:
    yield page.name
    yield page.description
    yield from page.entries
    if page.body is not None:
        try:
            yield store.load(BodyKey(agent_id, page.index, page.body))
        except NotFoundError:
            return  # somebody erases it right now


def _shown(page: Page, says: str, words: Words | None) -> CondemnedPage:
    excerpt = " ".join(says.split())[:_EXCERPT] if words is None else words.excerpt(says, _EXCERPT)
    return CondemnedPage(
        index=page.index, name=page.name, goes=page.body is not None, excerpt=excerpt
    )
