"""A page store loses texts, or is lost itself: all else goes on, and somebody is told (P14)."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from sqlalchemy import event
from structlog.testing import capture_logs

from memci.broker.app import make_app
from memci.broker.wakeup import Wakeups
from memci.cli.doctor.checks import check_page_texts
from memci.cli.doctor.findings import Level
from memci.commands.pages.move_texts import TextMigration
from memci.config.settings import Settings
from memci.domain.job import JobKind
from memci.errors import PageStoreError
from memci.jobs.name_pages import PageNaming, Pages
from memci.smallmodel.offline.summarizer import OfflineSummarizer
from memci.storage.page_store.choose import choose_page_store, remove_texts
from memci.storage.page_store.local import FilePageStore, MemoryPageStore
from memci.storage.page_store.port import PageStore
from memci.storage.page_store.wrappers import CachedPageStore, TextCache
from memci.upkeep.duties import remove_orphans
from tests.support.erasing import Eraser
from tests.support.network import AgentUnderTest
from tests.support.notes import COUNTER, ROOMY, NoteTaker, asked

MISSING = "(its text is missing in the page store)"


@pytest.fixture
def ada(database):
    ada = AgentUnderTest(database)
    ada.say("Hello", session="s1")
    ada.execute("UPDATE lane SET written_at = now() WHERE agent_id = %s")
    return ada


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "notes"


def lose(store: PageStore, index: str) -> None:
    (key,) = [each for each in store.list("ada") if each.page == index]
    store.delete(key)


def uncached(store: PageStore) -> CachedPageStore:
    return CachedPageStore(store, TextCache(0))


def taking(ada, folder: Path) -> NoteTaker:
    """An agent whose files are chosen by settings, with nothing in a cache."""
    settings = Settings(page_store=f"files://{folder}")
    return NoteTaker(ada.database, choose_page_store(settings, ada.database, cache_bytes=0))


def test_one_lost_text_hinders_nothing_else(ada, page_store):
    taker = NoteTaker(ada.database, page_store)
    lost, kept = taker.note("This goes."), taker.note("This stays.")
    lose(page_store, lost)
    assert f"expanded)\n\n{MISSING}\n\n" in taker.window()
    assert "This stays." in taker.window()
    (read,) = taker.do(asked("get_page", index=lost))
    assert read.text == MISSING
    assert taker.windows.tree("ada").tokens_of[lost] > 0
    taker.do(asked("update_page", index=lost, name="Lost"))
    taker.do(asked("create_contents_page", name="Old", parent="usr-0", children=[lost]))
    taker.do(asked("auto_collapse", max_tokens=100))
    taker.do(asked("hide_details", index=lost))
    assert MISSING not in taker.window()
    taker.do(asked("expand_details", index=lost))
    taker.do(asked("remove_page", index=lost))
    taker.do(asked("undo"))
    assert MISSING in taker.window()
    taker.do(asked("expand_details", index=kept))
    assert "This stays." in taker.window()


def test_it_is_said_in_the_agents_language(database):
    ada = AgentUnderTest(database)
    ada.say("你好，请帮我写一首关于春天的诗。", session="s1")
    store = MemoryPageStore()
    taker = NoteTaker(database, store)
    lose(store, taker.note("笔记的内容"))
    assert "（页面存储中缺少其文本）" in taker.window()


def test_a_text_that_is_damaged_is_as_lost(ada, folder):
    taker = NoteTaker(ada.database, FilePageStore(folder))
    taker.note("Whole")
    (file,) = folder.rglob("*.txt")
    file.write_bytes(b"\xff\xfe")
    assert MISSING in taker.window()


def test_pages_are_named_all_the_same(ada, page_store):
    taker = NoteTaker(ada.database, page_store)
    lose(page_store, taker.note("This goes."))
    ada.say("Hello to you", role="assistant", session="s1")
    ada.say("Where is Lima?", session="s1")
    naming = PageNaming(ada.database, OfflineSummarizer(), Pages(page_store, COUNTER, ROOMY))
    effect = naming.prepare(ada.job(0, 0))
    with ada.lease().effect() as connection:
        assert effect(connection) == {"settled": 2, "named": 1}
    assert naming.kind == JobKind.NAME_PAGES


def test_that_a_text_is_missing_is_logged_once(ada):
    store = MemoryPageStore()
    taker = NoteTaker(ada.database, uncached(store))
    lost = taker.note("This goes.")
    lose(store, lost)
    with capture_logs() as logs:
        for _ in range(3):
            assert MISSING in taker.window()
    assert [(each["log_level"], each["page"]) for each in logs] == [("warning", lost)]


def test_a_folder_that_vanished_is_no_new_one(ada, folder):
    taker = taking(ada, folder)
    assert "Hello" in taker.window(), "there was none yet, and no text is looked for"
    taker.note("Kept")
    shutil.rmtree(folder)
    stranger = NoteTaker(ada.database, taker.store, "bob")
    for act in (taker.window, lambda: taker.note("Another"), lambda: stranger.note("Mine")):
        with pytest.raises(PageStoreError, match="is not there, though pages have texts in it"):
            act()
    assert not folder.exists()
    folder.mkdir()
    assert MISSING in taker.window(), "as its developer wants it"


def test_what_is_pinned_is_listed_without_a_look_at_pages(ada, folder):
    taker = taking(ada, folder)
    taker.note("Shown")
    taker.do(asked("pin", text="Never fly"))
    folder.rename(folder.with_name("unmounted"))
    read = []
    event.listen(ada.database.engine, "before_cursor_execute", lambda *told: read.append(told[2]))
    listed = taker.windows.pins("ada")
    assert [each.text for each in listed.pins] == ["Never fly"]
    assert not any("segments" in each or "SELECT * FROM page" in each for each in read)


@pytest.mark.parametrize("moving_away", [False, True])
def test_nothing_is_said_to_be_erased_while_the_folder_is_away(
    ada, folder, client, broker_url, moving_away
):
    written = taking(ada, folder).note("To be gone")
    files = f"files://{folder}"
    stores = {"page_store": "postgres", "page_store_reads_also": files} if moving_away else {}
    settings = Settings(**{"page_store": files, **stores})
    store = choose_page_store(settings, ada.database)
    away = folder.rename(folder.with_name("unmounted"))
    with make_app(broker_url) as app:
        eraser = Eraser(ada.database, Wakeups(app), client, texts=store)
        for act in (lambda: eraser.erase(pages=[written]), eraser.erase_agent):
            with pytest.raises(PageStoreError, match="mount the disk that it is on"):
                act()
        with pytest.raises(PageStoreError):
            remove_orphans(ada.database, store, grace_s=1e-9)
        away.rename(folder)
        assert len(list(store.list("ada"))) == 1
        eraser.erase(pages=[written])
    assert list(folder.rglob("*.txt")) == []


def test_a_folder_that_goes_while_something_is_erased_is_not_taken_for_empty(ada, folder):
    store = taking(ada, folder).store
    taking(ada, folder).note("To be gone")
    (key,) = store.list("ada")
    away = folder.rename(folder.with_name("unmounted"))
    ada.execute("DELETE FROM page WHERE agent_id = %s")  # no page has a text any more
    with pytest.raises(PageStoreError):
        remove_texts(store, "ada", [key])
    away.rename(folder)
    remove_texts(store, "ada", [key])
    assert list(folder.rglob("*.txt")) == []


def test_a_folder_that_texts_are_still_moved_into_need_not_be_there(ada, folder, monkeypatch):
    NoteTaker(ada.database, CachedPageStore(MemoryPageStore(), TextCache(0))).note("Elsewhere")
    settings = Settings(page_store=f"files://{folder}", page_store_reads_also="postgres")
    taker = NoteTaker(ada.database, choose_page_store(settings, ada.database, cache_bytes=0))
    taker.note("Here")
    assert "Here" in taker.window()


def test_the_doctor_names_what_is_missing(ada, folder):
    taker = taking(ada, folder)

    def found():
        return list(check_page_texts(ada.database, taker.store))

    (fine,) = found()
    assert (fine.level, fine.text) == (Level.OK, "0 texts checked, none is missing")
    lost = taker.note("This goes.")
    taker.note("This stays.", expanded=False)
    lose(taker.store, lost)
    (wrong,) = found()
    assert (wrong.level, wrong.text) == (Level.WRONG, f"1 of 2 texts cannot be read: {lost} of ada")
    assert "memci erase" in wrong.advice
    shutil.rmtree(folder)
    (wrong,) = found()
    assert wrong.level is Level.WRONG
    assert "mount the disk" in wrong.text


def test_the_doctor_does_not_look_for_ever(ada):
    taker = NoteTaker(ada.database, MemoryPageStore())
    taker.note("Kept")
    fine, told = check_page_texts(ada.database, taker.store, longest_s=0)
    assert fine.level is Level.OK
    assert "not all agents" in told.text


def test_moving_tells_of_texts_that_are_nowhere(ada, folder):
    source, target = FilePageStore(folder), MemoryPageStore()
    taker = NoteTaker(ada.database, source)
    lost, damaged = taker.note("This goes."), taker.note("This breaks.")
    taker.note("This stays.")
    lose(source, lost)
    (file,) = folder.rglob(f"{damaged}.*.txt")
    file.write_bytes(b"\xff")
    moved = TextMigration(ada.database, source, target).run(clear=False, report=lambda _: None)
    assert (moved.copied, moved.missing) == (1, 2)
