"""Texts in a remote store are fetched before rows are locked, and only if they are shown (P14).

The cache holds nothing here, so the store counts each text that is loaded.
"""

from __future__ import annotations

import pytest

from memci.commands.tools.caller import Caller
from memci.commands.tools.memory_reads import summary_request
from memci.jobs.name_pages import PageNaming
from memci.schemas.tools.memory import Summarise
from memci.smallmodel.offline.summarizer import OfflineSummarizer
from memci.storage.page_store.local import MemoryPageStore
from memci.storage.page_store.port import TextKey
from memci.storage.page_store.wrappers import CachedPageStore, TextCache
from memci.storage.session import Database
from tests.support.network import AgentUnderTest
from tests.support.notes import COUNTER, ROOMY, NoteTaker, tool_request

_LOCKED = """
SELECT count(*) FROM pg_locks WHERE locktype = 'relation' AND mode = 'RowShareLock'
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND relation IN ('lane'::regclass, 'page_tree'::regclass)
"""


class Watched(MemoryPageStore):
    """Records which texts were loaded, and which of them while rows were locked."""

    is_remote = True

    def __init__(self, database: Database) -> None:
        super().__init__()
        self._database = database
        self.requests: list[str] = []
        self.under_locks: list[str] = []

    def load(self, key: TextKey) -> str:
        self.requests.append(key.page)
        with self._database.upkeep_transaction() as connection:
            if connection.exec_driver_sql(_LOCKED).scalar_one():
                self.under_locks.append(key.page)
        return super().load(key)

    def lose(self, index: str) -> None:
        (key,) = [each for each in self.list("ada") if each.page == index]
        self.delete(key)


@pytest.fixture
def ada(database):
    ada = AgentUnderTest(database)
    ada.say("Hello", session="s1")
    return ada


@pytest.fixture
def store(ada):
    return Watched(ada.database)


@pytest.fixture
def taker(ada, store):
    return NoteTaker(ada.database, CachedPageStore(store, TextCache(0)))


def folder(taker: NoteTaker, *children: str) -> str:
    (made,) = taker.do(
        tool_request("create_contents_page", name="Box", parent="usr-0", children=list(children))
    )
    return str(made.page.index)


def test_no_text_is_fetched_under_a_lock(ada, taker, store):
    lost, kept, inside = taker.note("This goes."), taker.note("Stays."), taker.note("Inside.")
    box = folder(taker, inside)
    store.lose(lost)
    store.requests.clear()
    store.under_locks.clear()
    changes = [
        tool_request("update_page", index=lost, name="Lost"),
        tool_request("expand_details", index=box),
        tool_request("remove_page", index=box),
        tool_request("restore_page", index=box, parent="usr-0"),
        tool_request("pin", text="Mira likes tea."),
    ]
    for each in changes:
        taker.do(each)
    assert {lost, kept, inside} <= set(store.requests)
    taker.commands.settle("ada")
    assert store.under_locks == []


def test_pages_are_named_without_a_text_fetched_under_a_lock(ada, taker, store):
    lost = taker.note("This goes.")
    taker.note("This stays.")
    store.lose(lost)
    ada.say("Hello to you", role="assistant", session="s1")
    ada.say("Where is Lima?", session="s1")
    naming = PageNaming(ada.database, OfflineSummarizer(), taker.store, COUNTER, ROOMY)
    effect = naming.prepare(ada.job(0, 0))
    store.requests.clear()
    with ada.lease().effect() as connection:
        assert effect(connection) == {"settled": 2, "named": 1}
    assert store.requests == []


def test_texts_in_a_hidden_folder_are_not_fetched(taker, store):
    shown, hidden = taker.note("Shown."), taker.note("Inside.")
    below = taker.note("Below.")
    inner = folder(taker, below)
    taker.do(tool_request("expand_details", index=inner))
    box = folder(taker, hidden, inner)
    store.requests.clear()
    assert "Shown." in taker.window()
    assert store.requests == [shown]
    taker.do(tool_request("expand_details", index=box))
    store.requests.clear()
    taker.window()
    assert sorted(store.requests) == sorted([shown, hidden, below])


def test_texts_of_other_users_are_not_fetched(ada, taker, store):
    ada.say("Hello", session="b", user="bob")
    taker.note("Of Bob.")
    ada.say("Hello", session="m", user="mira")
    of_mira = taker.note("Of Mira.")
    store.requests.clear()
    assert "Of Mira." in taker.window()
    assert store.requests == [of_mira]


def test_a_folder_is_summarised_from_its_newest_notes_outside_transactions(taker, store):
    notes = [taker.note(f"{n}" * 60_000, expanded=False) for n in range(5)]
    box = folder(taker, *notes)
    store.lose(notes[4])
    store.requests.clear()
    place = Caller("ada", "s1", None)
    wanted = summary_request(taker.commands, place, Summarise(page=box))
    assert [(text[0], len(text)) for text in wanted.request.texts] == [
        ("0", 20_000), ("1", 60_000), ("2", 60_000), ("3", 60_000)
    ]  # fmt: skip
    assert wanted.is_partial
    assert store.requests == list(reversed(notes))
    assert not summary_request(taker.commands, place, Summarise(page=notes[0])).is_partial


def test_a_folder_is_summarised_from_its_newest_messages(ada, taker, monkeypatch):
    monkeypatch.setattr("memci.commands.tools.memory_reads._MOST", 5)
    monkeypatch.setattr("memci.commands.tools.memory_reads._PAGES_AT_ONCE", 2)
    for n in range(6):
        ada.say(f"Question {n}?", session="s1")
        ada.say(f"Answer {n}.", role="assistant", session="s1")
    place = Caller("ada", "s1", None)
    wanted = summary_request(taker.commands, place, Summarise(page="usr-0"))
    assert (wanted.request.seqs, wanted.is_partial) == ((13, 12, 11, 10, 9), True)
    wanted = summary_request(taker.commands, place, Summarise(page="usr-3"))
    assert (wanted.request.seqs, wanted.is_partial) == ((7, 6), False)
