"""An import on another server gives the same pages with their texts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import redis

from memci.broker.redis_queues import RedisAgentQueues
from memci.commands import erase
from memci.commands.erase import ErasureSelection
from memci.errors import ConflictError, InvalidInputError, PageStoreError
from memci.storage.page_store.local import FilePageStore, MemoryPageStore
from memci.storage.page_store.port import PageStore, TextKey
from memci.storage.page_store.postgres import PostgresPageStore
from memci.storage.session import Database
from tests.support.archives import (
    RecordedWakeups,
    export_agent,
    forged,
    import_agent,
    imported_agent,
    tables_of,
    use_model,
)
from tests.support.complete_agent import SORTING
from tests.support.network import AgentUnderTest
from tests.support.page_folders import Folders


def folders_of(
    database: Database, store: PageStore | None = None, agent_id: str = "ada"
) -> Folders:
    return Folders(database, store or PostgresPageStore(database), agent_id=agent_id, rules=SORTING)


def test_windows_of_an_imported_agent_are_the_same(
    ada: AgentUnderTest, elsewhere: Database
) -> None:
    import_agent(elsewhere, export_agent(ada.database))
    here, there = folders_of(ada.database), folders_of(elsewhere)
    assert "Count ships" in here.window("sorted")
    for session in ("sorted", None):
        assert there.shown(session) == here.shown(session)
    assert "Count ships" in there.window("sorted")


def test_an_imported_agent_can_undo_and_redo(ada: AgentUnderTest, elsewhere: Database) -> None:
    import_agent(elsewhere, export_agent(ada.database))
    here, there = folders_of(ada.database), folders_of(elsewhere)
    for turn in ("redo", "undo", "undo", "undo", "undo"):
        done = [getattr(each, turn)() for each in (here, there)]
        assert done[0] == done[1]
        assert there.shown("sorted") == here.shown("sorted")


def test_an_imported_step_with_two_changes_of_a_page_is_undone(
    ada: AgentUnderTest, elsewhere: Database
) -> None:
    here = folders_of(ada.database)
    note, folder = here.note("Twice", "changed"), here.do(
        "create_contents_page", name="Of it", parent="usr-0"
    )  # fmt: skip
    before = here.shown("sorted")
    moved = {"source": note, "target": folder}
    here.do_all(("expand_details", {"index": note}), ("move_page", moved),
                ("update_page", {"index": note, "name": "Two"}))  # fmt: skip
    import_agent(elsewhere, export_agent(ada.database))
    for each in (here, folders_of(elsewhere)):
        assert each.undo().changed == [note]
        assert each.shown("sorted") == before


def test_later_pages_of_an_import_are_the_same(ada: AgentUnderTest, elsewhere: Database) -> None:
    import_agent(elsewhere, export_agent(ada.database))
    made = []
    for database in (ada.database, elsewhere):
        folders = folders_of(database)
        imported_agent(ada, database).say("And now?", session="sorted", remember="never")
        made.append((folders.note("New", "said later"), folders.do("recall_page", index="usr-2")))
        made.append((folders.window("sorted"),))
    assert made[:2] == made[2:]


def test_texts_are_imported_into_another_kind_of_store(
    ada: AgentUnderTest, elsewhere: Database, tmp_path: Path
) -> None:
    use_model(elsewhere, ada)
    files = FilePageStore(tmp_path)
    archive = export_agent(ada.database)
    import_agent(elsewhere, archive, store=files)
    assert len(list(files.list("ada"))) == 2
    assert list(PostgresPageStore(elsewhere).list("ada")) == []
    there = folders_of(elsewhere, files)
    assert there.shown("sorted") == folders_of(ada.database).shown("sorted")
    assert tables_of(export_agent(elsewhere, store=files)) == tables_of(archive)


def test_a_refused_archive_leaves_no_text(
    ada: AgentUnderTest, elsewhere: Database, tmp_path: Path
) -> None:
    archive = export_agent(ada.database)
    files = FilePageStore(tmp_path)
    with pytest.raises(InvalidInputError, match="every note has its text"):
        import_agent(elsewhere, forged(archive, "page_text", lambda rows: rows.pop()), store=files)
    assert list(files.list("ada")) == []

    class Full(MemoryPageStore):
        def save(self, key: TextKey, text: str) -> None:
            if self.exists(TextKey("ada", "usr-900", 1)):
                raise PageStoreError
            super().save(key, text)
            super().save(TextKey("ada", "usr-900", 1), "full")

    full = Full()
    with pytest.raises(PageStoreError):
        import_agent(elsewhere, archive, store=full)
    assert [key.page for key in full.list("ada")] == ["usr-900"]
    import_agent(elsewhere, archive, store=files)


def test_an_export_fails_if_the_text_of_a_note_is_lost(ada: AgentUnderTest) -> None:
    store = PostgresPageStore(ada.database)
    keys = sorted(store.list("ada"))
    for number, key in enumerate(keys, 1):
        store.delete(key)
        with pytest.raises(ConflictError, match="no text of page") as raised:
            export_agent(ada.database)
        assert all(lost.page in str(raised.value) for lost in keys[:number])


def test_an_import_over_an_erased_agent_reuses_no_text_key(
    ada: AgentUnderTest, elsewhere: Database, client: redis.Redis
) -> None:
    """A cache may still have texts of the erased agent."""
    former = AgentUnderTest(elsewhere)
    former.say("Something else", remember="never")
    former.execute("UPDATE lane SET written_at = now() WHERE agent_id = %s")
    store = PostgresPageStore(elsewhere)
    for number in range(12):
        folders_of(elsewhere).note(f"Note {number}", "of an erased life")
    old = set(store.list("ada"))
    wakeups: Any = RecordedWakeups()
    erase.run_agent(elsewhere, store, wakeups, RedisAgentQueues(client), "ada")
    archive = export_agent(ada.database)
    import_agent(elsewhere, archive)
    assert old.isdisjoint(store.list("ada"))
    there = folders_of(elsewhere)
    assert there.shown("sorted") == folders_of(ada.database).shown("sorted")
    there.note("New", "of this life")
    assert old.isdisjoint(store.list("ada"))


def test_an_agent_with_partly_erased_pages_can_be_moved(
    ada: AgentUnderTest, elsewhere: Database
) -> None:
    ids = ada.rows(
        "SELECT id FROM message WHERE agent_id = %s AND session_id = 'sorted' AND seq %% 3 = 0"
    )
    wakeups: Any = RecordedWakeups()
    here = folders_of(ada.database)
    (note,) = (row.id for row in ada.rows(
        "SELECT id FROM page WHERE agent_id = %s AND name = 'A plan'"))  # fmt: skip
    selection = ErasureSelection([row.id for row in ids], page_indexes=[note])
    erase.run(ada.database, PostgresPageStore(ada.database), wakeups, "ada", selection)
    import_agent(elsewhere, export_agent(ada.database))
    assert folders_of(elsewhere).shown("sorted") == here.shown("sorted")


def test_an_agent_with_pages_and_no_message_can_be_moved(
    database: Database, elsewhere: Database
) -> None:
    here = folders_of(database)
    here.prompt("You are kind.")
    import_agent(elsewhere, export_agent(database))
    assert "You are kind." in folders_of(elsewhere).window()
    assert folders_of(elsewhere).shown() == here.shown()
