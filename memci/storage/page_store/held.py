"""Texts that one request has fetched, before it locks anything (P14)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from memci.storage.page_store.port import BodyKey, PageStore, joined, no_text
from memci.storage.session import Connection


class HeldPageStore:
    """Another store, with texts of it at hand; None: it was asked, and has no such text.

    The cache is for all requests and may keep none of them: it is small, or the text is nowhere.
    """

    def __init__(self, store: PageStore, texts: Mapping[BodyKey, str | None]) -> None:
        """Answer from ``texts`` first. For as long as one request lasts."""
        self._store = store
        self._texts = texts

    def joined(self, connection: Connection) -> HeldPageStore:
        """Do as ``JoinsTransactions.joined``."""
        return HeldPageStore(joined(self._store, connection), self._texts)

    def save(self, key: BodyKey, text: str) -> None:
        """Do as ``PageStore.save``."""
        self._store.save(key, text)

    def load(self, key: BodyKey) -> str:
        """Do as ``PageStore.load``."""
        if key not in self._texts:
            return self._store.load(key)
        text = self._texts[key]
        if text is None:
            raise no_text(key)
        return text

    def delete(self, key: BodyKey) -> None:
        """Do as ``PageStore.delete``."""
        self._store.delete(key)

    def exists(self, key: BodyKey) -> bool:
        """Do as ``PageStore.exists``."""
        return self._store.exists(key)

    def list(self, agent_id: str, *, older_s: float = 0.0) -> Iterator[BodyKey]:
        """Do as ``PageStore.list``."""
        return self._store.list(agent_id, older_s=older_s)
