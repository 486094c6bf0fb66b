"""Page stores around others: a cache, prefetched texts, and two stores at once (P14)."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from sys import getsizeof
from threading import Lock

import structlog

from memci.errors import NotFoundError
from memci.storage.page_store.port import (
    PageStore,
    TextKey,
    delete_many,
    in_transaction,
    load_many,
    no_text_error,
)
from memci.storage.session import Connection


class MovingPageStore:
    """Two stores, while texts are copied from one to the other.

    New texts go into ``now``; reads try ``now``, then ``also``, so that processes with the old and
    the new settings find all texts.
    """

    def __init__(
        self, now: PageStore, also: PageStore, *, whole: tuple[PageStore, PageStore] | None = None
    ) -> None:
        """Take both; ``whole`` are the same stores outside of the transaction."""
        self._now = now
        self._also = also
        self._whole = whole or (now, also)

    def in_transaction(self, connection: Connection) -> MovingPageStore:
        """Do as ``TransactionalStore.in_transaction``."""
        return MovingPageStore(
            in_transaction(self._now, connection),
            in_transaction(self._also, connection),
            whole=self._whole,
        )

    def save(self, key: TextKey, text: str) -> None:
        """Do as ``PageStore.save``."""
        self._now.save(key, text)

    def load(self, key: TextKey) -> str:
        """Do as ``PageStore.load``."""
        for store in self._looks():
            try:
                return store.load(key)
            except NotFoundError:
                continue
        raise no_text_error(key)

    def delete(self, key: TextKey) -> None:
        """Do as ``PageStore.delete``.

        In this order: ``Migration`` checks after each copy whether the source still has the text,
        so it notices the deletion, or its copy is deleted here.
        """
        self._also.delete(key)
        self._now.delete(key)

    def load_many(self, keys: Sequence[TextKey]) -> dict[TextKey, str]:
        """Do as ``BatchStore.load_many``."""
        texts: dict[TextKey, str] = {}
        for store in self._looks():
            missing = [key for key in keys if key not in texts]
            if not missing:
                break
            texts |= load_many(store, missing)
        return texts

    def delete_many(self, keys: Sequence[TextKey]) -> None:
        """Do as ``BatchStore.delete_many``, in the order of ``delete``."""
        delete_many(self._also, keys)
        delete_many(self._now, keys)

    def exists(self, key: TextKey) -> bool:
        """Do as ``PageStore.exists``."""
        return any(store.exists(key) for store in self._looks())

    def list(self, agent_id: str, *, older_s: float = 0.0) -> Iterator[TextKey]:
        """Do as ``PageStore.list``. The age of what is in both is that of either."""
        listed = dict.fromkeys(self._also.list(agent_id, older_s=older_s))
        listed.update(dict.fromkeys(self._now.list(agent_id, older_s=older_s)))
        return iter(listed)

    def _looks(self) -> Iterator[PageStore]:
        """Yield the stores to read in order; repeated, since a text may be moved meanwhile."""
        now, also = self._whole
        yield from (self._now, self._also, now, also, now)


_log = structlog.get_logger(__name__)
# So many missing texts are remembered, to log each once.
_MOST_MISSED = 1_000
# Memory of the key and its place in the order.
_KEY_BYTES = 400


class TextCache:
    """LRU cache of texts with a limit in bytes; thread-safe. Texts are immutable: never stale."""

    def __init__(self, most_bytes: int) -> None:
        """Start empty; with ``most_bytes`` 0 nothing is cached."""
        self._most = most_bytes
        self._held = 0
        self._texts: OrderedDict[TextKey, str] = OrderedDict()
        self._missed: OrderedDict[TextKey, None] = OrderedDict()
        self._lock = Lock()

    @property
    def held_bytes(self) -> int:
        """How much memory the texts take."""
        return self._held

    def get(self, key: TextKey) -> str | None:
        """Return a cached text or None; marks it as the most recently used."""
        with self._lock:
            text = self._texts.get(key)
            if text is not None:
                self._texts.move_to_end(key)
            return text

    def put(self, key: TextKey, text: str) -> None:
        """Cache a text unless it alone exceeds the limit; evicts the least recently used."""
        if _bytes_of(text) > self._most:
            return
        with self._lock:
            self._remove(key)
            self._texts[key] = text
            self._held += _bytes_of(text)
            while self._held > self._most:
                self._remove(next(iter(self._texts)))

    def drop(self, key: TextKey) -> None:
        """Forget a text."""
        with self._lock:
            self._remove(key)

    def miss(self, key: TextKey) -> bool:
        """Remember that a text is missing; return True the first time."""
        with self._lock:
            if key in self._missed:
                return False
            self._missed[key] = None
            if len(self._missed) > _MOST_MISSED:
                self._missed.popitem(last=False)
            return True

    def _remove(self, key: TextKey) -> None:
        text = self._texts.pop(key, None)
        if text is not None:
            self._held -= _bytes_of(text)


class CachedPageStore:
    """Reads and writes another store through a cache."""

    def __init__(
        self,
        store: PageStore,
        cache: TextCache,
        *,
        far: bool = False,
        check: Callable[[], None] = lambda: None,
    ) -> None:
        """Wrap ``store``; ``far``: it is not in the database, so fetch texts before locking.

        ``check`` raises ``PageStoreError`` if the store has vanished.
        """
        self._store = store
        self._cache = cache
        self._far = far
        self.check = check

    def in_transaction(self, connection: Connection) -> CachedPageStore:
        """Do as ``TransactionalStore.in_transaction``.

        A text of a rolled-back transaction may stay in the cache: no page refers to it.
        """
        return CachedPageStore(
            in_transaction(self._store, connection), self._cache, far=self._far, check=self.check
        )

    @property
    def far(self) -> bool:
        """Whether its texts are better fetched before something is locked."""
        return self._far

    def fetch(self, keys: Iterable[TextKey]) -> dict[TextKey, str | None]:
        """Return texts; None for each missing one."""
        texts: dict[TextKey, str | None] = {}
        for key in keys:
            texts[key] = None
            with suppress(NotFoundError):
                texts[key] = self.load(key)
        return texts

    def save(self, key: TextKey, text: str) -> None:
        """Do as ``PageStore.save``."""
        self._store.save(key, text)
        self._cache.put(key, text)

    def load(self, key: TextKey) -> str:
        """Do as ``PageStore.load``; a missing text is logged once."""
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

    def delete(self, key: TextKey) -> None:
        """Do as ``PageStore.delete``."""
        try:
            self._store.delete(key)
        finally:
            self._cache.drop(key)

    def load_many(self, keys: Sequence[TextKey]) -> dict[TextKey, str]:
        """Do as ``BatchStore.load_many``, without caching what is fetched."""
        texts = {key: text for key in keys if (text := self._cache.get(key)) is not None}
        return texts | load_many(self._store, [key for key in keys if key not in texts])

    def delete_many(self, keys: Sequence[TextKey]) -> None:
        """Do as ``BatchStore.delete_many``."""
        try:
            delete_many(self._store, keys)
        finally:
            for key in keys:
                self._cache.drop(key)

    def exists(self, key: TextKey) -> bool:
        """Do as ``PageStore.exists``."""
        return self._store.exists(key)

    def list(self, agent_id: str, *, older_s: float = 0.0) -> Iterator[TextKey]:
        """Do as ``PageStore.list``."""
        return self._store.list(agent_id, older_s=older_s)


def _bytes_of(text: str) -> int:
    return getsizeof(text) + _KEY_BYTES


class PrefetchedPageStore:
    """Another store with prefetched texts for one request; None: the store has no such text."""

    def __init__(self, store: PageStore, texts: Mapping[TextKey, str | None]) -> None:
        """Answer from ``texts`` first."""
        self._store = store
        self._texts = texts

    def in_transaction(self, connection: Connection) -> PrefetchedPageStore:
        """Do as ``TransactionalStore.in_transaction``."""
        return PrefetchedPageStore(in_transaction(self._store, connection), self._texts)

    def save(self, key: TextKey, text: str) -> None:
        """Do as ``PageStore.save``."""
        self._store.save(key, text)

    def load(self, key: TextKey) -> str:
        """Do as ``PageStore.load``."""
        if key not in self._texts:
            return self._store.load(key)
        text = self._texts[key]
        if text is None:
            raise no_text_error(key)
        return text

    def delete(self, key: TextKey) -> None:
        """Do as ``PageStore.delete``."""
        self._store.delete(key)

    def exists(self, key: TextKey) -> bool:
        """Do as ``PageStore.exists``."""
        return self._store.exists(key)

    def list(self, agent_id: str, *, older_s: float = 0.0) -> Iterator[TextKey]:
        """Do as ``PageStore.list``."""
        return self._store.list(agent_id, older_s=older_s)
