"""Texts that must not stay in a page store, whichever it is (M25)."""

from __future__ import annotations

from collections.abc import Callable

from memci.errors import PageStoreError
from memci.storage.page_store.port import BodyKey, PageStore


def remove_texts(store: PageStore, agent_id: str, goes: Callable[[BodyKey], bool]) -> int:
    """Delete an agent's texts of which this is so, and look whether they are gone; count them.

    Raises ``PageStoreError`` when the store does not answer, or still has one; some may be gone
    then, and asking again goes on.
    """
    found = [key for key in store.list(agent_id) if goes(key)]
    for key in found:
        store.delete(key)
    if found and any(goes(key) for key in store.list(agent_id)):
        raise PageStoreError
    return len(found)
