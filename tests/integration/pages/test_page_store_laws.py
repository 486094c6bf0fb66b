"""All page stores have the same behaviour (P14)."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

from memci.errors import InvalidInputError, NotFoundError
from memci.storage.page_store.local import MemoryPageStore
from memci.storage.page_store.port import TextKey, new_version
from memci.storage.page_store.wrappers import CachedPageStore, MovingPageStore, TextCache
from tests.support.page_stores import STORES, store_of

KEY = TextKey("ada", "usr-1", 7)
AGENTS = ("ada", "Ada", "ADA", "..a", "a..", "@", "-", "a:b", "a" * 128, "A" * 128, "a.b", "a_b",
          "a%b", "CON", "ada.")  # fmt: skip
NO_PAGES = ("", "usr", "../usr-1", "usr-1/../../x", "usr-1\n", "USR-1", "usr-1.1", "usr--1", "页-1")
TEXTS = (
    "", " ", "One line", "Two\nlines\n", "Windows\r\nlines\r", "你好，世界。\n第二行",
    "e\u0301 and \u00e9", "🎻", "\ufeffmark", "\u2028\u202e", "\x01\x7f\x85", "'; DROP --",
    '%s %(agent)s \\ "', "x" * (1024 * 1024), "页" * (1024 * 1024 // 3),
)  # fmt: skip


@pytest.fixture(params=[*STORES, "cached", "moving"])
def store(request):
    """Return each store, one with a cache, and one during a migration."""
    if request.param == "cached":
        return CachedPageStore(store_of("postgres", request), TextCache(1024 * 1024))
    if request.param == "moving":
        return MovingPageStore(MemoryPageStore(), store_of("files", request))
    return store_of(request.param, request)


def test_a_saved_text_is_loaded_unchanged(store):
    keys = [TextKey("ada", f"usr-{number}", new_version()) for number in range(len(TEXTS))]
    for key, text in zip(keys, TEXTS, strict=True):
        store.save(key, text)
    assert [store.load(key) for key in keys] == list(TEXTS)
    assert sorted(store.list("ada")) == sorted(keys)


def test_all_stores_refuse_texts_that_some_cannot_hold(store):
    for text in ("a\0b", "\ud800", "a\udfff", "\udc80"):
        with pytest.raises(InvalidInputError, match=r"cannot hold") as refused:
            store.save(KEY, text)
        assert refused.value.field == "detail"
    assert not store.exists(KEY)


def test_an_unknown_key_is_not_found(store):
    store.save(KEY, "…")
    for key in (KEY._replace(version=8), KEY._replace(page="usr-2"), KEY._replace(agent_id="eve")):
        assert not store.exists(key)
        with pytest.raises(NotFoundError):
            store.load(key)
    assert store.exists(KEY)
    assert list(store.list("eve")) == []


def test_only_the_deleted_text_is_removed(store):
    other = KEY._replace(version=70)
    store.save(KEY, "Mine")
    store.save(other, "Another")
    store.delete(KEY)
    store.delete(KEY)
    assert not store.exists(KEY)
    with pytest.raises(NotFoundError):
        store.load(KEY)
    assert list(store.list("ada")) == [other]
    assert store.load(other) == "Another"


def test_many_texts_are_loaded_and_deleted_at_once(store):
    keys = [TextKey("ada", f"usr-{number}", new_version()) for number in range(30)]
    for key in keys:
        store.save(key, f"Text of {key.page}")
    unknown = [keys[0]._replace(version=8), keys[0]._replace(page="usr-99")]
    assert store.load_many([*unknown, *keys]) == {key: f"Text of {key.page}" for key in keys}
    assert store.load_many(unknown) == store.load_many([]) == {}
    store.delete_many([*unknown, *keys[5:]])
    store.delete_many([])
    assert sorted(store.list("ada")) == sorted(keys[:5])
    assert store.load_many(keys).keys() == set(keys[:5])


def test_saving_again_is_no_error(store):
    store.save(KEY, "The same")
    store.save(KEY, "The same")
    assert store.load(KEY) == "The same"
    assert list(store.list("ada")) == [KEY]


def test_agents_with_similar_names_have_separate_texts(store):
    for agent_id in AGENTS:
        store.save(KEY._replace(agent_id=agent_id), f"Of {agent_id}")
    for agent_id in AGENTS:
        assert store.load(KEY._replace(agent_id=agent_id)) == f"Of {agent_id}"
        assert list(store.list(agent_id)) == [KEY._replace(agent_id=agent_id)]


def test_an_invalid_page_index_is_not_found(store):
    for page in NO_PAGES:
        for verb in (store.load, store.exists, store.delete):
            with pytest.raises(NotFoundError):
                verb(KEY._replace(page=page))
        with pytest.raises(NotFoundError):
            store.save(KEY._replace(page=page), "…")


def test_the_longest_names_fit(store):
    key = TextKey("a" * 128, "s" * 32 + "-" + "9" * 15, 10**18 - 1)
    store.save(key, "…")
    assert list(store.list(key.agent_id)) == [key]
    assert store.load(key) == "…"


def test_a_listing_of_old_texts_omits_new_ones(store):
    store.save(KEY, "…")
    assert list(store.list("ada", older_s=3600)) == []
    assert list(store.list("ada")) == [KEY]


def test_a_concurrent_reader_finds_the_whole_text_or_none(store):
    text = "whole " * 20_000
    keys = [KEY._replace(version=version) for version in range(1, 9)]

    def read(key):
        found = []
        for _ in range(20):
            with suppress(NotFoundError):
                found.append(store.load(key))
        return found

    with ThreadPoolExecutor(4) as pool:
        reads = [pool.submit(read, key) for key in keys]
        saves = [pool.submit(store.save, key, text) for key in keys]
        assert all(save.result() is None for save in saves)
        assert {each for found in reads for each in found.result()} <= {text}
    assert all(store.load(key) == text for key in keys)


def test_versions_are_unique_and_below_10_to_the_18():
    made = {new_version() for _ in range(10_000)}
    assert len(made) == 10_000
    assert all(0 < version < 10**18 for version in made)
