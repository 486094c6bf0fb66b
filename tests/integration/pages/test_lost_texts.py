"""Lost texts, or a lost page store, are reported, and stop no other work (P14)."""

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
from memci.jobs.name_pages import PageNaming
from memci.smallmodel.offline.summarizer import OfflineSummarizer
from memci.storage.page_store.choose import choose_page_store, remove_texts
from memci.storage.page_store.local import FilePageStore, MemoryPageStore
from memci.storage.page_store.port import PageStore
from memci.storage.page_store.wrappers import CachedPageStore, TextCache
from memci.upkeep.duties import remove_orphans
from tests.support.erasing import Eraser
from tests.support.network import AgentUnderTest
from tests.support.notes import COUNTER, ROOMY, NoteTaker, tool_request

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


def delete_text(store: PageStore, index: str) -> None:
    (key,) = [each for each in store.list("ada") if each.page == index]
    store.delete(key)


def uncached(store: PageStore) -> CachedPageStore:
    return CachedPageStore(store, TextCache(0))


def note_taker(ada, folder: Path) -> NoteTaker:
    """Return a note taker whose store is chosen by settings, without a cache."""
    settings = Settings(page_store=f"files://{folder}")
    return NoteTaker(ada.database, choose_page_store(settings, ada.database, cache_bytes=0))


def test_all_page_commands_work_despite_a_lost_text(ada, page_store):
    taker = NoteTaker(ada.database, page_store)
    lost, kept = taker.note("This goes."), taker.note("This stays.")
    delete_text(page_store, lost)
    assert f"expanded)\n\n{MISSING}\n\n" in taker.window()
    assert "This stays." in taker.window()
    (read,) = taker.do(tool_request("get_page", index=lost))
    assert read.text == MISSING
    assert taker.windows.tree("ada").tokens_of[lost] > 0
    taker.do(tool_request("update_page", index=lost, name="Lost"))
    taker.do(tool_request("create_contents_page", name="Old", parent="usr-0", children=[lost]))
    taker.do(tool_request("auto_collapse", max_tokens=100))
    taker.do(tool_request("hide_details", index=lost))
    assert MISSING not in taker.window()
    taker.do(tool_request("expand_details", index=lost))
    taker.do(tool_request("remove_page", index=lost))
    taker.do(tool_request("undo"))
    assert MISSING in taker.window()
    taker.do(tool_request("expand_details", index=kept))
    assert "This stays." in taker.window()


def test_a_missing_text_is_reported_in_the_agents_language(database):
    ada = AgentUnderTest(database)
    ada.say("你好，请帮我写一首关于春天的诗。", session="s1")
    store = MemoryPageStore()
    taker = NoteTaker(database, store)
    delete_text(store, taker.note("笔记的内容"))
    assert "（页面存储中缺少其文本）" in taker.window()


def test_a_damaged_text_counts_as_missing(ada, folder):
    taker = NoteTaker(ada.database, FilePageStore(folder))
    taker.note("Whole")
    (file,) = folder.rglob("*.txt")
    file.write_bytes(b"\xff\xfe")
    assert MISSING in taker.window()


def test_pages_are_named_despite_a_lost_text(ada, page_store):
    taker = NoteTaker(ada.database, page_store)
    delete_text(page_store, taker.note("This goes."))
    ada.say("Hello to you", role="assistant", session="s1")
    ada.say("Where is Lima?", session="s1")
    naming = PageNaming(ada.database, OfflineSummarizer(), page_store, COUNTER, ROOMY)
    effect = naming.prepare(ada.job(0, 0))
    with ada.lease().effect() as connection:
        assert effect(connection) == {"settled": 2, "named": 1}
    assert naming.kind == JobKind.NAME_PAGES


def test_a_missing_text_is_logged_once(ada):
    store = MemoryPageStore()
    taker = NoteTaker(ada.database, uncached(store))
    lost = taker.note("This goes.")
    delete_text(store, lost)
    with capture_logs() as logs:
        for _ in range(3):
            assert MISSING in taker.window()
    assert [(each["log_level"], each["page"]) for each in logs] == [("warning", lost)]


def test_a_folder_with_texts_that_vanished_is_an_error(ada, folder):
    taker = note_taker(ada, folder)
    assert "Hello" in taker.window(), "there was none yet, and no text is looked for"
    taker.note("Kept")
    shutil.rmtree(folder)
    stranger = NoteTaker(ada.database, taker.store, "bob")
    for action in (taker.window, lambda: taker.note("Another"), lambda: stranger.note("Mine")):
        with pytest.raises(PageStoreError, match="is not there, though pages have texts in it"):
            action()
    assert not folder.exists()
    folder.mkdir()
    assert MISSING in taker.window(), "as its developer wants it"


def test_pins_are_listed_without_reading_pages(ada, folder):
    taker = note_taker(ada, folder)
    taker.note("Shown")
    taker.do(tool_request("pin", text="Never fly"))
    folder.rename(folder.with_name("unmounted"))
    sql = []
    event.listen(ada.database.engine, "before_cursor_execute", lambda *args: sql.append(args[2]))
    listed = taker.windows.pins("ada")
    assert [each.text for each in listed.pins] == ["Never fly"]
    assert not any("segments" in each or "SELECT * FROM page" in each for each in sql)


@pytest.mark.parametrize("moving_away", [False, True])
def test_an_erasure_fails_while_the_folder_is_away(ada, folder, client, broker_url, moving_away):
    written = note_taker(ada, folder).note("To be gone")
    files = f"files://{folder}"
    stores = {"page_store": "postgres", "page_store_reads_also": files} if moving_away else {}
    settings = Settings(**{"page_store": files, **stores})
    store = choose_page_store(settings, ada.database)
    away = folder.rename(folder.with_name("unmounted"))
    with make_app(broker_url) as app:
        eraser = Eraser(ada.database, Wakeups(app), client, texts=store)
        for action in (lambda: eraser.erase(pages=[written]), eraser.erase_agent):
            with pytest.raises(PageStoreError, match="mount the disk that it is on"):
                action()
        with pytest.raises(PageStoreError):
            remove_orphans(ada.database, store, grace_s=1e-9)
        away.rename(folder)
        assert len(list(store.list("ada"))) == 1
        eraser.erase(pages=[written])
    assert list(folder.rglob("*.txt")) == []


def test_a_folder_that_vanishes_during_an_erasure_does_not_count_as_empty(ada, folder):
    store = note_taker(ada, folder).store
    note_taker(ada, folder).note("To be gone")
    (key,) = store.list("ada")
    away = folder.rename(folder.with_name("unmounted"))
    ada.execute("DELETE FROM page WHERE agent_id = %s")  # no page has a text any more
    with pytest.raises(PageStoreError):
        remove_texts(store, "ada", [key])
    away.rename(folder)
    remove_texts(store, "ada", [key])
    assert list(folder.rglob("*.txt")) == []


def test_the_target_folder_of_a_migration_may_be_missing(ada, folder, monkeypatch):
    NoteTaker(ada.database, CachedPageStore(MemoryPageStore(), TextCache(0))).note("Elsewhere")
    settings = Settings(page_store=f"files://{folder}", page_store_reads_also="postgres")
    taker = NoteTaker(ada.database, choose_page_store(settings, ada.database, cache_bytes=0))
    taker.note("Here")
    assert "Here" in taker.window()


def test_the_doctor_names_missing_texts(ada, folder):
    taker = note_taker(ada, folder)

    def findings():
        return list(check_page_texts(ada.database, taker.store))

    (fine,) = findings()
    assert (fine.level, fine.text) == (Level.OK, "0 texts checked, none is missing")
    lost = taker.note("This goes.")
    taker.note("This stays.", expanded=False)
    delete_text(taker.store, lost)
    (wrong,) = findings()
    assert (wrong.level, wrong.text) == (Level.WRONG, f"1 of 2 texts cannot be read: {lost} of ada")
    assert "memci erase" in wrong.advice
    shutil.rmtree(folder)
    (wrong,) = findings()
    assert wrong.level is Level.WRONG
    assert "mount the disk" in wrong.text


def test_the_doctor_stops_after_its_longest_time(ada):
    taker = NoteTaker(ada.database, MemoryPageStore())
    taker.note("Kept")
    fine, unfinished = check_page_texts(ada.database, taker.store, longest_s=0)
    assert fine.level is Level.OK
    assert "not all agents" in unfinished.text


def test_a_migration_counts_missing_and_damaged_texts(ada, folder):
    source, target = FilePageStore(folder), MemoryPageStore()
    taker = NoteTaker(ada.database, source)
    lost, damaged = taker.note("This goes."), taker.note("This breaks.")
    taker.note("This stays.")
    delete_text(source, lost)
    (file,) = folder.rglob(f"{damaged}.*.txt")
    file.write_bytes(b"\xff")
    moved = TextMigration(ada.database, source, target).run(clear=False, report=lambda _: None)
    assert (moved.copied, moved.missing) == (1, 2)
