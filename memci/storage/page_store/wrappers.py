"""Page stores around others: a cache, prefetched texts, and two stores at once (P14)."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from sys import getsizeof
from threading import Lock

import structlog

from memci.errors import NotFoundError
from memci.storage.page_store.port import PageStore, TextKey
from memci.storage.session import Connection

_log = structlog.get_logger(__name__)


class WrappedPageStore(PageStore):
    """Passes everything on to another store."""

    def __init__(self, store: PageStore) -> None:
        self._store = store
        self.is_remote = store.is_remote

    def save(self, key: TextKey, text: str) -> None:
        self._store.save(key, text)

    def load(self, key: TextKey) -> str:
        return self._store.load(key)

    def delete_many(self, keys: Sequence[TextKey]) -> None:
        self._store.delete_many(keys)

    def list(self, agent_id: str, *, older_s: float = 0.0) -> Iterator[TextKey]:
        return self._store.list(agent_id, older_s=older_s)

    def check(self) -> None:
        self._store.check()


class MovingPageStore(PageStore):
    """Two stores, while texts are copied from one to the other.

    New texts go into ``now``; reads try ``now``, then ``also``, so that processes with the old and
    the new settings find all texts.
    """

    def __init__(
        self, now: PageStore, also: PageStore, *, outside: tuple[PageStore, PageStore] | None = None
    ) -> None:
        """Take both; ``outside`` are the same stores outside of the transaction."""
        self._now = now
        self._also = also
        self._outside = outside or (now, also)
        self.is_remote = now.is_remote or also.is_remote

    def in_transaction(self, connection: Connection) -> MovingPageStore:
        now, also = self._now.in_transaction(connection), self._also.in_transaction(connection)
        return MovingPageStore(now, also, outside=self._outside)

    def save(self, key: TextKey, text: str) -> None:
        self._now.save(key, text)

    def load(self, key: TextKey) -> str:
        texts = self.load_many([key.checked()])
        if key not in texts:
            raise key.not_found()
        return texts[key]

    def delete_many(self, keys: Sequence[TextKey]) -> None:
        # In this order: ``TextMigration`` checks after each copy whether the source still has the
        # text, so it notices the deletion, or its copy is deleted here.
        self._also.delete_many(keys)
        self._now.delete_many(keys)

    def load_many(self, keys: Sequence[TextKey]) -> dict[TextKey, str]:
        texts: dict[TextKey, str] = {}
        for store in self._readers():
            missing = [key for key in keys if key not in texts]
            if not missing:
                break
            texts |= store.load_many(missing)
        return texts

    def list(self, agent_id: str, *, older_s: float = 0.0) -> Iterator[TextKey]:
        """Do as ``PageStore.list``. A text in both stores is old if it is old in one of them."""
        listed = dict.fromkeys(self._also.list(agent_id, older_s=older_s))
        return iter(listed | dict.fromkeys(self._now.list(agent_id, older_s=older_s)))

    def _readers(self) -> Iterator[PageStore]:
        """Yield the stores to read in order; repeated, since a text may be moved meanwhile."""
        now, also = self._outside
        yield from (self._now, self._also, now, also, now)


# Missing texts that are remembered, to log each once.
_MOST_MISSED = 1_000
# Memory of the key and its place in the order.
_KEY_BYTES = 400


class TextCache:
    """LRU cache of texts with a limit in bytes; thread-safe. Texts are immutable: never stale."""

    def __init__(self, max_bytes: int) -> None:
        """Start empty; with ``max_bytes`` 0 nothing is cached."""
        self._max_bytes = max_bytes
        self.held_bytes = 0
        self._texts: OrderedDict[TextKey, str] = OrderedDict()
        self._lock = Lock()
        # Logs each missing text once.
        self.warn_missing = lru_cache(_MOST_MISSED)(_warn_missing)

    def get(self, key: TextKey) -> str | None:
        """Return a cached text or None; marks it as the most recently used."""
        with self._lock:
            text = self._texts.get(key)
            if text is not None:
                self._texts.move_to_end(key)
            return text

    def put(self, key: TextKey, text: str) -> None:
        """Cache a text unless it alone exceeds the limit; evicts the least recently used."""
        if _bytes_of(text) > self._max_bytes:
            return
        with self._lock:
            self._remove(key)
            self._texts[key] = text
            self.held_bytes += _bytes_of(text)
            while self.held_bytes > self._max_bytes:
                self._remove(next(iter(self._texts)))

    def drop(self, keys: Collection[TextKey]) -> None:
        """Forget texts."""
        with self._lock:
            for key in keys:
                self._remove(key)

    def _remove(self, key: TextKey) -> None:
        text = self._texts.pop(key, None)
        if text is not None:
            self.held_bytes -= _bytes_of(text)


def _bytes_of(text: str) -> int:
    return getsizeof(text) + _KEY_BYTES


def _warn_missing(key: TextKey, why: str) -> None:
    _log.warning("a page's text is missing", agent=key.agent_id, page=key.page, why=why)


class CachedPageStore(WrappedPageStore):
    """Reads and writes another store through a cache."""

    def __init__(self, store: PageStore, cache: TextCache) -> None:
        super().__init__(store)
        self._cache = cache

    def in_transaction(self, connection: Connection) -> CachedPageStore:
        # A text of a rolled-back transaction may stay in the cache: no page refers to it.
        return CachedPageStore(self._store.in_transaction(connection), self._cache)

    def save(self, key: TextKey, text: str) -> None:
        self._store.save(key, text)
        self._cache.put(key, text)

    def load(self, key: TextKey) -> str:
        """Do as ``PageStore.load``; a missing text is logged once."""
        text = self._cache.get(key)
        if text is not None:
            return text
        try:
            text = self._store.load(key)
        except NotFoundError as error:
            self._cache.warn_missing(key, str(error))
            raise
        self._cache.put(key, text)
        return text

    def load_many(self, keys: Sequence[TextKey]) -> dict[TextKey, str]:
        """Do as ``PageStore.load_many``, without caching the loaded texts."""
        texts = {key: text for key in keys if (text := self._cache.get(key)) is not None}
        return texts | self._store.load_many([key for key in keys if key not in texts])

    def delete_many(self, keys: Sequence[TextKey]) -> None:
        try:
            self._store.delete_many(keys)
        finally:
            self._cache.drop(keys)


class PrefetchedPageStore(WrappedPageStore):
    """Another store with prefetched texts for one request; None: the store has no such text."""

    def __init__(self, store: PageStore, texts: Mapping[TextKey, str | None]) -> None:
        super().__init__(store)
        self._texts = texts

    def in_transaction(self, connection: Connection) -> PrefetchedPageStore:
        return PrefetchedPageStore(self._store.in_transaction(connection), self._texts)

    def load(self, key: TextKey) -> str:
        if key not in self._texts:
            return self._store.load(key)
        text = self._texts[key]
        if text is None:
            raise key.not_found()
        return text


def prefetch(store: PageStore, keys: Collection[TextKey]) -> PrefetchedPageStore:
    """Load texts now; return a store for one request that has them."""

    def load(key: TextKey) -> str | None:
        try:
            return store.load(key)
        except NotFoundError:
            return None

    return PrefetchedPageStore(store, {key: load(key) for key in keys})
