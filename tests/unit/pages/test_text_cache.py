"""The cache of note texts is bounded; the least recently used text is dropped first."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from memci.errors import NotFoundError, PageStoreError
from memci.storage.page_store.local import MemoryPageStore
from memci.storage.page_store.port import TextKey
from memci.storage.page_store.wrappers import CachedPageStore, TextCache, prefetch

KEY = TextKey("ada", "usr-1", 1)


def keys(number: int) -> list[TextKey]:
    return [KEY._replace(version=version) for version in range(1, number + 1)]


class Counted(MemoryPageStore):
    """Counts its loads."""

    loads = 0

    def load(self, key: TextKey) -> str:
        self.loads += 1
        return super().load(key)


def test_a_text_is_fetched_once():
    store = Counted()
    store.save(KEY, "…")
    cached = CachedPageStore(store, TextCache(10_000))
    assert [cached.load(KEY) for _ in range(3)] == ["…"] * 3
    assert store.loads == 1


def test_a_saved_text_is_in_the_cache():
    store = Counted()
    cached = CachedPageStore(store, TextCache(10_000))
    cached.save(KEY, "…")
    assert cached.load(KEY) == "…"
    assert store.loads == 0


def test_a_text_that_cannot_be_saved_is_not_in_the_cache():
    class Full(MemoryPageStore):
        def save(self, key: TextKey, text: str) -> None:
            raise PageStoreError

    cached = CachedPageStore(Full(), TextCache(10_000))
    with pytest.raises(PageStoreError):
        cached.save(KEY, "…")
    with pytest.raises(NotFoundError):
        cached.load(KEY)


def test_a_deleted_text_is_dropped_even_if_the_store_fails():
    class Away(MemoryPageStore):
        def delete_many(self, keys: Sequence[TextKey]) -> None:
            super().delete_many(keys)
            raise PageStoreError  # deleted, but the answer was lost

    cached = CachedPageStore(Away(), TextCache(10_000))
    cached.save(KEY, "…")
    with pytest.raises(PageStoreError):
        cached.delete(KEY)
    with pytest.raises(NotFoundError):
        cached.load(KEY)


def test_the_least_recently_used_text_is_dropped():
    cache = TextCache(5 * 1_500)
    first, second, *rest = keys(6)
    for key in (first, second, *rest[:-1]):
        cache.put(key, "x" * 1_000)
    assert cache.get(first) is not None
    cache.put(rest[-1], "x" * 1_000)
    assert cache.get(second) is None
    assert cache.get(first) is not None


def test_the_cache_never_exceeds_its_limit():
    cache = TextCache(20_000)
    for number, key in enumerate(keys(500)):
        cache.put(key, "页" * (number % 700))
        cache.put(keys(1)[0], "x" * number)
        assert 0 < cache.held_bytes <= 20_000
    for key in keys(500):
        cache.drop([key])
    assert cache.held_bytes == 0


def test_a_text_as_large_as_the_cache_is_not_kept():
    cache = TextCache(1_000)
    cache.put(KEY, "…")
    cache.put(KEY._replace(version=2), "x" * 1_000)
    assert cache.get(KEY._replace(version=2)) is None
    assert cache.get(KEY) == "…"
    TextCache(0).put(KEY, "")
    assert TextCache(0).get(KEY) is None


def test_many_threads_can_use_the_cache():
    cache = TextCache(30_000)
    every = keys(60)

    def work(seed: int) -> None:
        for step in range(400):
            key = every[(seed * 7 + step * 13) % len(every)]
            if cache.get(key) is None:
                cache.put(key, str(key.version) * 200)
            elif step % 5 == 0:
                cache.drop([key])

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(work, range(6)))
    assert 0 <= cache.held_bytes <= 30_000
    for key in every:
        assert cache.get(key) in {None, str(key.version) * 200}
        cache.drop([key])
    assert cache.held_bytes == 0


def test_prefetch_skips_missing_texts():
    store = Counted()
    store.save(KEY, "…")
    cached = CachedPageStore(store, TextCache(10_000))
    missing = KEY._replace(version=9)
    fetched = prefetch(cached, [missing, KEY])
    assert fetched.load(KEY) == "…"
    with pytest.raises(NotFoundError):
        fetched.load(missing)
    assert store.loads == 2
    assert cached.load(KEY) == "…"
    assert store.loads == 2
