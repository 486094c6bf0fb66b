"""Texts of notes in this process: for tests and short runs."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Lock

from memci.errors import NotFoundError
from memci.storage.page_store.port import BodyKey


class MemoryPageStore:
    """Forgets with its process; safe for threads."""

    def __init__(self) -> None:
        """Start empty."""
        self._texts: dict[BodyKey, str] = {}
        self._lock = Lock()

    def save(self, key: BodyKey, text: str) -> None:
        """Do as ``PageStore.save``."""
        with self._lock:
            self._texts[key] = text

    def load(self, key: BodyKey) -> str:
        """Do as ``PageStore.load``."""
        with self._lock:
            if key not in self._texts:
                raise NotFoundError(f"page {key.page} has no text of version {key.version}")
            return self._texts[key]

    def delete(self, key: BodyKey) -> None:
        """Do as ``PageStore.delete``."""
        with self._lock:
            self._texts.pop(key, None)

    def exists(self, key: BodyKey) -> bool:
        """Do as ``PageStore.exists``."""
        with self._lock:
            return key in self._texts

    def list(self, agent_id: str) -> Iterator[BodyKey]:
        """Do as ``PageStore.list``."""
        with self._lock:
            return iter([key for key in self._texts if key.agent_id == agent_id])
