"""Pages whose own words hold all words of a query, and what is shown of them first (M25).

Notes, names and descriptions are an agent's own: no message says that they speak of something. What
a page was called before counts as well, as long as ``undo`` or ``redo`` could bring it back.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from memci.commands.erase_words import Words
from memci.domain.pages.page import Page
from memci.errors import NotFoundError
from memci.shapes.erasure import CondemnedPage
from memci.storage.erasure.gone import snapshot_of
from memci.storage.erasure.pages import written_pages
from memci.storage.page_steps import words_of_steps
from memci.storage.page_store.port import BodyKey, PageStore
from memci.storage.session import Database

_EXCERPT = 240


class _Written(NamedTuple):
    """A page, and what steps on it have in them."""

    page: Page
    before: Sequence[str]

    def says(self, store: PageStore, agent_id: str) -> str:
        """Return all its own words."""
        return "\n".join(dict.fromkeys(filter(None, self._parts(store, agent_id))))

    def _parts(self, store: PageStore, agent_id: str) -> Iterator[str]:
        page = self.page
        if page.span is None or page.named or page.summed:
            yield page.name
            yield page.description
            yield from page.entries
        yield from self.before
        if page.body is not None:
            try:
                yield store.load(BodyKey(agent_id, page.index, page.body))
            except NotFoundError:
                return  # somebody erases it right now


def find_pages(
    database: Database, store: PageStore, agent_id: str, words: Words, *, most: int
) -> list[str]:
    """Return the indexes of the newest pages whose own words hold all of these, at most ``most``.

    Raises ``NotFoundError`` for no agent, and ``PageStoreError``.
    """
    found: list[str] = []
    for each in reversed(_written(database, agent_id)):
        if len(found) < most and words.are_in(each.says(store, agent_id)):
            found.append(each.page.index)
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
    written = [each for each in _written(database, agent_id) if each.page.index in wanted]
    return [_shown(each.page, each.says(store, agent_id), words) for each in written]


def _written(database: Database, agent_id: str) -> list[_Written]:
    with snapshot_of(database, agent_id) as connection:
        before = words_of_steps(connection, agent_id)
        pages = written_pages(connection, agent_id, before)
        return [_Written(page, before.get(page.index, ())) for page in pages]


def _shown(page: Page, says: str, words: Words | None) -> CondemnedPage:
    excerpt = " ".join(says.split())[:_EXCERPT] if words is None else words.excerpt(says, _EXCERPT)
    return CondemnedPage(
        index=page.index, name=page.name, goes=page.body is not None, excerpt=excerpt
    )
