"""A page store in the memory of this process: for tests and short runs (P14)."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Lock
from time import monotonic

from memci.storage.page_store.port import TextKey, encode_text, no_text_error, text_file_name


class MemoryPageStore:
    """Loses its texts with the process; thread-safe."""

    def __init__(self) -> None:
        """Start empty."""
        self._texts: dict[TextKey, tuple[str, float]] = {}
        self._lock = Lock()

    def save(self, key: TextKey, text: str) -> None:
        """Do as ``PageStore.save``."""
        text_file_name(key)
        encode_text(text)
        with self._lock:
            self._texts[key] = (text, monotonic())

    def load(self, key: TextKey) -> str:
        """Do as ``PageStore.load``."""
        text_file_name(key)
        with self._lock:
            if key not in self._texts:
                raise no_text_error(key)
            return self._texts[key][0]

    def delete(self, key: TextKey) -> None:
        """Do as ``PageStore.delete``."""
        text_file_name(key)
        with self._lock:
            self._texts.pop(key, None)

    def exists(self, key: TextKey) -> bool:
        """Do as ``PageStore.exists``."""
        text_file_name(key)
        with self._lock:
            return key in self._texts

    def list(self, agent_id: str, *, older_s: float = 0.0) -> Iterator[TextKey]:
        """Do as ``PageStore.list``."""
        latest = monotonic() - older_s
        with self._lock:
            kept = list(self._texts.items())
        return iter([key for key, (_, at) in kept if key.agent_id == agent_id and at <= latest])
