"""Many texts of one agent at once, where a store does that better than one by one (P14)."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Protocol, runtime_checkable

from memci.errors import NotFoundError
from memci.storage.page_store.port import BodyKey, PageStore


@runtime_checkable
class TakesMany(Protocol):
    """A store that is asked once for many texts, or for several at a time."""

    def load_many(self, keys: Sequence[BodyKey]) -> dict[BodyKey, str]:
        """Do as ``load_many`` of this module."""
        ...

    def delete_many(self, keys: Sequence[BodyKey]) -> None:
        """Do as ``delete_many`` of this module."""
        ...


def load_many(store: PageStore, keys: Sequence[BodyKey]) -> dict[BodyKey, str]:
    """Return those texts that there are, and that can be read; all in memory at once.

    Raises ``PageStoreError``.
    """
    if isinstance(store, TakesMany):
        return store.load_many(keys)
    texts = {}
    for key in keys:
        with suppress(NotFoundError):
            texts[key] = store.load(key)
    return texts


def delete_many(store: PageStore, keys: Sequence[BodyKey]) -> None:
    """Remove texts; those that are not there are no error.

    Raises ``PageStoreError``; some may be gone then.
    """
    if isinstance(store, TakesMany):
        store.delete_many(keys)
        return
    for key in keys:
        store.delete(key)
