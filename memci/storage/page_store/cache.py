"""Texts of notes kept in this process, the least recently used given up first (P14).

Texts that one request has fetched, before it locks anything (P14).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from sys import getsizeof
from threading import Lock

import structlog

from memci.errors import NotFoundError
from memci.storage.page_store.port import (
    BodyKey,
    PageStore,
    delete_many,
    joined,
    load_many,
    no_text,
)
from memci.storage.session import Connection

_log = structlog.get_logger(__name__)
# Of so many texts it is remembered that they were missed.
_MOST_MISSED = 1_000
# What a text costs beside its characters: its key, and its place in the order.
_KEY_BYTES = 400


class TextCache:
    """Texts under their keys, up to so many bytes of memory; safe for threads.

    Nothing in it can be out of date: a version names one text for ever.
    """

    def __init__(self, most_bytes: int) -> None:
        """Start empty; 0 keeps nothing."""
        self._most = most_bytes
        self._held = 0
        self._texts: OrderedDict[BodyKey, str] = OrderedDict()
        self._missed: OrderedDict[BodyKey, None] = OrderedDict()
        self._lock = Lock()

    @property
    def held_bytes(self) -> int:
        """How much memory the texts take."""
        return self._held

    def get(self, key: BodyKey) -> str | None:
        """Return a text if it is here; it is now the most recently used."""
        with self._lock:
            text = self._texts.get(key)
            if text is not None:
                self._texts.move_to_end(key)
            return text

    def put(self, key: BodyKey, text: str) -> None:
        """Keep a text; those used the longest ago make room. One that fills it all is not kept."""
        if _bytes_of(text) > self._most:
            return
        with self._lock:
            self._remove(key)
            self._texts[key] = text
            self._held += _bytes_of(text)
            while self._held > self._most:
                self._remove(next(iter(self._texts)))

    def drop(self, key: BodyKey) -> None:
        """Forget a text."""
        with self._lock:
            self._remove(key)

    def miss(self, key: BodyKey) -> bool:
        """Take note that a text is nowhere; tell whether that is new."""
        with self._lock:
            if key in self._missed:
                return False
            self._missed[key] = None
            if len(self._missed) > _MOST_MISSED:
                self._missed.popitem(last=False)
            return True

    def _remove(self, key: BodyKey) -> None:
        text = self._texts.pop(key, None)
        if text is not None:
            self._held -= _bytes_of(text)


class CachedPageStore:
    """Reads through a cache, and writes through it; another store keeps the texts."""

    def __init__(
        self,
        store: PageStore,
        cache: TextCache,
        *,
        far: bool = False,
        check: Callable[[], None] = lambda: None,
    ) -> None:
        """Stand before ``store``; ``far``: that asks something else than the database.

        ``check`` raises ``PageStoreError`` where the store is not what it was.
        """
        self._store = store
        self._cache = cache
        self._far = far
        self.check = check

    def joined(self, connection: Connection) -> CachedPageStore:
        """Do as ``JoinsTransactions.joined``.

        A text whose transaction is undone may stay in the cache: no page will ever name it.
        """
        return CachedPageStore(
            joined(self._store, connection), self._cache, far=self._far, check=self.check
        )

    @property
    def far(self) -> bool:
        """Whether its texts are better fetched before something is locked."""
        return self._far

    def fetch(self, keys: Iterable[BodyKey]) -> dict[BodyKey, str | None]:
        """Return texts, and None for each that is nowhere."""
        texts: dict[BodyKey, str | None] = {}
        for key in keys:
            texts[key] = None
            with suppress(NotFoundError):
                texts[key] = self.load(key)
        return texts

    def save(self, key: BodyKey, text: str) -> None:
        """Do as ``PageStore.save``."""
        self._store.save(key, text)
        self._cache.put(key, text)

    def load(self, key: BodyKey) -> str:
        """Do as ``PageStore.load``; that a text is nowhere is logged once."""
        text = self._cache.get(key)
        if text is None:
            try:
                text = self._store.load(key)
            except NotFoundError as error:
                if self._cache.miss(key):
                    _log.warning(
                        "a page's text is missing",
                        agent=key.agent_id,
                        page=key.page,
                        why=str(error),
                    )
                raise
            self._cache.put(key, text)
        return text

    def delete(self, key: BodyKey) -> None:
        """Do as ``PageStore.delete``."""
        try:
            self._store.delete(key)
        finally:
            self._cache.drop(key)

    def load_many(self, keys: Sequence[BodyKey]) -> dict[BodyKey, str]:
        """Do as ``TakesMany.load_many``; what is fetched is not kept: so many are read once."""
        texts = {key: text for key in keys if (text := self._cache.get(key)) is not None}
        return texts | load_many(self._store, [key for key in keys if key not in texts])

    def delete_many(self, keys: Sequence[BodyKey]) -> None:
        """Do as ``TakesMany.delete_many``."""
        try:
            delete_many(self._store, keys)
        finally:
            for key in keys:
                self._cache.drop(key)

    def exists(self, key: BodyKey) -> bool:
        """Do as ``PageStore.exists``."""
        return self._store.exists(key)

    def list(self, agent_id: str, *, older_s: float = 0.0) -> Iterator[BodyKey]:
        """Do as ``PageStore.list``."""
        return self._store.list(agent_id, older_s=older_s)


def _bytes_of(text: str) -> int:
    return getsizeof(text) + _KEY_BYTES


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
