"""Commands store texts of notes in each store: all or nothing, and never another's (P14)."""

from __future__ import annotations

import pytest

from memci.broker.redis_queues import RedisAgentQueues
from memci.commands import erase
from memci.errors import NotFoundError, PageStoreError
from memci.storage.page_store.local import FilePageStore
from memci.storage.page_store.port import TextKey
from memci.storage.page_store.postgres import PostgresPageStore
from memci.storage.page_store.wrappers import CachedPageStore, TextCache
from memci.storage.session import Database
from memci.upkeep.duties import remove_orphans
from tests.support.network import AgentUnderTest
from tests.support.notes import NoteTaker, tool_request


@pytest.fixture
def ada(database):
    ada = AgentUnderTest(database)
    ada.say("Hello", session="s1")
    ada.execute("UPDATE lane SET written_at = now() WHERE agent_id = %s")
    return ada


def cached(store):
    return CachedPageStore(store, TextCache(1_000_000))


def test_a_stored_note_is_shown_by_every_process(ada, page_store):
    here = NoteTaker(ada.database, cached(page_store))
    there = NoteTaker(ada.database, cached(page_store))
    here.note("Ask first.\n先问再做。")
    assert "Ask first.\n先问再做。" in here.window()
    assert "Ask first.\n先问再做。" in there.window()
    assert here.window() == there.window()


class FailingStore:
    """A store that fails after it saved the text, before the commit."""

    def __init__(self, store):
        self._store = store

    def __getattr__(self, name):
        return getattr(self._store, name)

    def in_transaction(self, connection):
        return FailingStore(self._store.in_transaction(connection))

    def save(self, key, text):
        self._store.save(key, text)
        raise ConnectionAbortedError


def test_a_note_that_was_rolled_back_is_never_shown(ada, page_store):
    with pytest.raises(ConnectionAbortedError):
        NoteTaker(ada.database, cached(FailingStore(page_store))).note("It never was.")
    left = list(page_store.list("ada"))
    joins = isinstance(page_store, PostgresPageStore)
    assert len(left) == (0 if joins else 1), "in the database nothing is left over"
    taker = NoteTaker(ada.database, cached(page_store))
    index = taker.note("It is.")
    assert all(key.page == index for key in left), "the index came again"
    assert "It is." in taker.window()
    assert "It never was." not in NoteTaker(ada.database, cached(page_store)).window()


def test_a_late_write_of_a_crashed_writer_overwrites_nothing(ada, page_store):
    """It had begun to save a text; another process created the note of that index meanwhile."""
    saves = []

    class FailingStore:
        def __getattr__(self, name):
            return getattr(page_store, name)

        def in_transaction(self, connection):
            return self

        def save(self, key, text):
            saves.append((key, text))
            raise PageStoreError

    with pytest.raises(PageStoreError):
        NoteTaker(ada.database, FailingStore()).note("Of the crashed one")
    taker = NoteTaker(ada.database, page_store)
    index = taker.note("Of the other one")
    ((key, text),) = saves
    assert key.page == index
    page_store.save(key, text)
    assert "Of the other one" in taker.window()
    assert "Of the crashed one" not in taker.window()


def erase_agent(ada, client, store):
    class Nobody:
        def wake_lane(self, agent_id): ...

        def wake_compress(self, agent_id): ...

    erase.run_agent(ada.database, store, Nobody(), RedisAgentQueues(client), "ada")


def test_an_operation_that_fails_stores_nothing(ada, page_store):
    taker = NoteTaker(ada.database, page_store)
    with pytest.raises(NotFoundError):
        taker.do(
            tool_request(
                "create_detail_page", name="Never", detail="It never was.", parent="usr-0"
            ),
            tool_request("hide_details", index="usr-99"),
        )
    assert list(page_store.list("ada")) == []


def test_texts_of_an_erased_agent_are_deleted_and_never_shown_again(ada, client, page_store):
    here, there = cached(page_store), cached(page_store)
    old = NoteTaker(ada.database, here).note("Of the first life")
    assert "Of the first life" in NoteTaker(ada.database, there).window()
    page_store.save(TextKey("ada", "usr-9", 1), "an orphan")
    erase_agent(ada, client, here)
    assert list(page_store.list("ada")) == []
    with ada.database.agent_transaction("ada") as connection:
        connection.exec_driver_sql("UPDATE lane SET lease_owner = NULL WHERE agent_id = 'ada'")
    ada.say("Hello again", session="s1")
    taker = NoteTaker(ada.database, there)
    assert taker.note("Of the second life") == old, "the same index"
    for store in (here, there):
        window = NoteTaker(ada.database, store).window()
        assert "Of the second life" in window
        assert "Of the first life" not in window


def test_upkeep_removes_texts_that_an_erasure_could_not_delete(ada, client, tmp_path):
    class Away(FilePageStore):
        away = True

        def delete_many(self, keys):
            if self.away:
                raise PageStoreError
            super().delete_many(keys)

    store = Away(tmp_path / "notes")
    NoteTaker(ada.database, store).note("To be gone")
    with pytest.raises(PageStoreError, match="the agent is erased"):
        erase_agent(ada, client, store)
    assert len(list(store.list("ada"))) == 1
    store.away = False
    assert remove_orphans(ada.database, store, grace_s=1e-9).removed == 1
    assert list(store.list("ada")) == []


def test_nothing_is_erased_if_the_texts_cannot_be_listed(ada, client, tmp_path):
    class Away(FilePageStore):
        def list(self, agent_id, *, older_s=0.0):
            raise PageStoreError

    store = Away(tmp_path / "notes")
    taker = NoteTaker(ada.database, store)
    taker.note("Still there")
    with pytest.raises(PageStoreError):
        erase_agent(ada, client, store)
    assert "Still there" in taker.window()


def test_no_store_is_read_while_a_tree_is_locked(ada, tmp_path):
    """A read may take as long as a network request."""
    loaded = []

    class Watched(FilePageStore):
        def load(self, key):
            with ada.database.agent_transaction("ada") as other:
                other.exec_driver_sql("SELECT FROM page_tree FOR UPDATE NOWAIT")
            loaded.append(key.page)
            return super().load(key)

    store = Watched(tmp_path / "notes")
    writer = NoteTaker(ada.database, cached(store))
    shown, hidden = writer.note("Shown"), writer.note("Hidden", expanded=False)
    loaded.clear()
    other = NoteTaker(ada.database, cached(store))
    other.do(tool_request("update_page", index=shown, name="Better"))
    other.do(tool_request("expand_details", index=hidden))
    other.do(tool_request("undo"))
    assert loaded == [shown, hidden]


def test_one_connection_is_enough_for_a_note_in_the_database(ada, database_url):
    """With two, as many writers as connections would wait for each other."""
    database = Database(database_url, pool_size=1)
    database.engine.pool._max_overflow = 0
    taker = NoteTaker(database, cached(PostgresPageStore(database)))
    taker.note("By one connection")
    assert "By one connection" in NoteTaker(database, PostgresPageStore(database)).window()
    database.close()


def test_a_step_that_can_be_undone_keeps_its_pages_text(ada, page_store):
    taker = NoteTaker(ada.database, page_store)
    index = taker.note("Undone and redone", expanded=False)
    taker.do(tool_request("undo"))
    remove_orphans(ada.database, page_store, grace_s=1e-9)
    taker.do(tool_request("redo"))
    taker.do(tool_request("expand_details", index=index))
    assert "Undone and redone" in taker.window()
    page = ada.row("SELECT text_version FROM page WHERE agent_id = %s AND id = %s", index)
    assert list(page_store.list("ada")) == [TextKey("ada", index, page.text_version)]
