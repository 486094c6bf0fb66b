"""Texts of notes in this process: for tests and short runs."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Lock
from time import monotonic

from memci.storage.page_store.port import BodyKey, encoded, name_of, no_text


class MemoryPageStore:
    """Forgets with its process; safe for threads."""

    def __init__(self) -> None:
        """Start empty."""
        self._texts: dict[BodyKey, tuple[str, float]] = {}
        self._lock = Lock()

    def save(self, key: BodyKey, text: str) -> None:
        """Do as ``PageStore.save``."""
        name_of(key)
        encoded(text)
        with self._lock:
            self._texts[key] = (text, monotonic())

    def load(self, key: BodyKey) -> str:
        """Do as ``PageStore.load``."""
        name_of(key)
        with self._lock:
            if key not in self._texts:
                raise no_text(key)
            return self._texts[key][0]

    def delete(self, key: BodyKey) -> None:
        """Do as ``PageStore.delete``."""
        name_of(key)
        with self._lock:
            self._texts.pop(key, None)

    def exists(self, key: BodyKey) -> bool:
        """Do as ``PageStore.exists``."""
        name_of(key)
        with self._lock:
            return key in self._texts

    def list(self, agent_id: str, *, older_s: float = 0.0) -> Iterator[BodyKey]:
        """Do as ``PageStore.list``."""
        latest = monotonic() - older_s
        with self._lock:
            kept = list(self._texts.items())
        return iter([key for key, (_, at) in kept if key.agent_id == agent_id and at <= latest])
