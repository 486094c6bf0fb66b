"""Texts that must not stay in a page store, whichever it is (M25)."""

from __future__ import annotations

from collections.abc import Collection
from itertools import islice

from memci.errors import PageStoreError
from memci.storage.page_store.many import delete_many
from memci.storage.page_store.port import BodyKey, PageStore

_AT_ONCE = 500


def remove_texts(store: PageStore, agent_id: str, keys: Collection[BodyKey]) -> None:
    """Delete an agent's texts, and look whether they are gone.

    Raises ``PageStoreError`` when the store does not answer, or still has one; some may be gone
    then, and asking again goes on.
    """
    left = iter(keys)
    while some := list(islice(left, _AT_ONCE)):
        delete_many(store, some)
    if keys and not set(keys).isdisjoint(store.list(agent_id)):
        raise PageStoreError
