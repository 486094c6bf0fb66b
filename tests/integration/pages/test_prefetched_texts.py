"""Texts in a far store are fetched before anything is locked, and only those that are shown (P14).

The cache keeps nothing here, as one that is too small: each text that is asked for is counted.
"""

from __future__ import annotations

import pytest

from memci.commands.tools.caller import Caller
from memci.commands.tools.memory_reads import summary_request
from memci.jobs.name_pages import PageNaming, Pages
from memci.schemas.memory_tools import Summarise
from memci.smallmodel.offline.summarizer import OfflineSummarizer
from memci.storage.page_store.local import MemoryPageStore
from memci.storage.page_store.port import TextKey
from memci.storage.page_store.wrappers import CachedPageStore, TextCache
from memci.storage.session import Database
from tests.support.network import AgentUnderTest
from tests.support.notes import COUNTER, ROOMY, NoteTaker, asked

_LOCKED = """
SELECT count(*) FROM pg_locks WHERE locktype = 'relation' AND mode = 'RowShareLock'
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND relation IN ('lane'::regclass, 'page_tree'::regclass)
"""


class Watched(MemoryPageStore):
    """Tells which texts were asked for, and which of them while rows were locked."""

    is_remote = True

    def __init__(self, database: Database) -> None:
        super().__init__()
        self._database = database
        self.asked: list[str] = []
        self.under_locks: list[str] = []

    def load(self, key: TextKey) -> str:
        self.asked.append(key.page)
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
        asked("create_contents_page", name="Box", parent="usr-0", children=list(children))
    )
    return str(made.page.index)


def test_no_text_is_fetched_under_a_lock(ada, taker, store):
    lost, kept, inside = taker.note("This goes."), taker.note("Stays."), taker.note("Inside.")
    box = folder(taker, inside)
    store.lose(lost)
    store.asked.clear()
    store.under_locks.clear()
    changes = [
        asked("update_page", index=lost, name="Lost"),
        asked("expand_details", index=box),
        asked("remove_page", index=box),
        asked("restore_page", index=box, parent="usr-0"),
        asked("pin", text="Mira likes tea."),
    ]
    for each in changes:
        taker.do(each)
    assert {lost, kept, inside} <= set(store.asked)
    taker.commands.settle("ada")
    assert store.under_locks == []


def test_pages_are_named_without_a_text_fetched_under_a_lock(ada, taker, store):
    lost = taker.note("This goes.")
    taker.note("This stays.")
    store.lose(lost)
    ada.say("Hello to you", role="assistant", session="s1")
    ada.say("Where is Lima?", session="s1")
    naming = PageNaming(ada.database, OfflineSummarizer(), Pages(taker.store, COUNTER, ROOMY))
    effect = naming.prepare(ada.job(0, 0))
    store.asked.clear()
    with ada.lease().effect() as connection:
        assert effect(connection) == {"settled": 2, "named": 1}
    assert store.asked == []


def test_what_lies_in_a_closed_folder_is_not_fetched(taker, store):
    shown, hidden = taker.note("Shown."), taker.note("Inside.")
    below = taker.note("Below.")
    inner = folder(taker, below)
    taker.do(asked("expand_details", index=inner))
    box = folder(taker, hidden, inner)
    store.asked.clear()
    assert "Shown." in taker.window()
    assert store.asked == [shown]
    taker.do(asked("expand_details", index=box))
    store.asked.clear()
    taker.window()
    assert sorted(store.asked) == sorted([shown, hidden, below])


def test_what_other_users_see_is_not_fetched(ada, taker, store):
    ada.say("Hello", session="b", user="bob")
    taker.note("Of Bob.")
    ada.say("Hello", session="m", user="mira")
    of_mira = taker.note("Of Mira.")
    store.asked.clear()
    assert "Of Mira." in taker.window()
    assert store.asked == [of_mira]


def test_a_folder_is_summed_up_by_its_newest_notes_with_no_transaction_open(taker, store):
    notes = [taker.note(f"{n}" * 60_000, expanded=False) for n in range(5)]
    box = folder(taker, *notes)
    store.lose(notes[4])
    store.asked.clear()
    place = Caller("ada", "s1", None)
    wanted = summary_request(taker.commands, place, Summarise(page=box))
    assert [(text[0], len(text)) for text in wanted.request.texts] == [
        ("0", 20_000), ("1", 60_000), ("2", 60_000), ("3", 60_000)
    ]  # fmt: skip
    assert wanted.is_partial
    assert store.asked == list(reversed(notes))
    assert not summary_request(taker.commands, place, Summarise(page=notes[0])).is_partial


def test_a_folder_is_summed_up_by_its_newest_messages(ada, taker, monkeypatch):
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
