"""Pages of an agent that comes to another server are the pages that they were, with their texts."""

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
    arrived,
    exported,
    forged,
    imported,
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


def test_its_window_is_the_same_there_byte_by_byte(
    ada: AgentUnderTest, elsewhere: Database
) -> None:
    imported(elsewhere, exported(ada.database))
    here, there = folders_of(ada.database), folders_of(elsewhere)
    assert "Count ships" in here.window("sorted")
    for session in ("sorted", None):
        assert there.shown(session) == here.shown(session)
    assert "Count ships" in there.window("sorted")


def test_what_was_done_to_its_pages_is_undone_and_redone_there(
    ada: AgentUnderTest, elsewhere: Database
) -> None:
    imported(elsewhere, exported(ada.database))
    here, there = folders_of(ada.database), folders_of(elsewhere)
    for turn in ("redo", "undo", "undo", "undo", "undo"):
        done = [getattr(each, turn)() for each in (here, there)]
        assert done[0] == done[1]
        assert there.shown("sorted") == here.shown("sorted")


def test_a_page_that_was_changed_twice_in_a_step_is_so_there(
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
    imported(elsewhere, exported(ada.database))
    for each in (here, folders_of(elsewhere)):
        assert each.undo().changed == [note]
        assert each.shown("sorted") == before


def test_its_pages_go_on_as_they_would_have(ada: AgentUnderTest, elsewhere: Database) -> None:
    imported(elsewhere, exported(ada.database))
    made = []
    for database in (ada.database, elsewhere):
        folders = folders_of(database)
        arrived(ada, database).say("And now?", session="sorted", remember="never")
        made.append((folders.note("New", "said later"), folders.do("recall_page", index="usr-2")))
        made.append((folders.window("sorted"),))
    assert made[:2] == made[2:]


def test_texts_come_from_one_kind_of_store_into_another(
    ada: AgentUnderTest, elsewhere: Database, tmp_path: Path
) -> None:
    use_model(elsewhere, ada)
    files = FilePageStore(tmp_path)
    archive = exported(ada.database)
    imported(elsewhere, archive, store=files)
    assert len(list(files.list("ada"))) == 2
    assert list(PostgresPageStore(elsewhere).list("ada")) == []
    there = folders_of(elsewhere, files)
    assert there.shown("sorted") == folders_of(ada.database).shown("sorted")
    assert tables_of(exported(elsewhere, store=files)) == tables_of(archive)


def test_a_refused_archive_leaves_no_text(
    ada: AgentUnderTest, elsewhere: Database, tmp_path: Path
) -> None:
    archive = exported(ada.database)
    files = FilePageStore(tmp_path)
    with pytest.raises(InvalidInputError, match="every note has its text"):
        imported(elsewhere, forged(archive, "page_text", lambda rows: rows.pop()), store=files)
    assert list(files.list("ada")) == []

    class Full(MemoryPageStore):
        def save(self, key: TextKey, text: str) -> None:
            if self.exists(TextKey("ada", "usr-900", 1)):
                raise PageStoreError
            super().save(key, text)
            super().save(TextKey("ada", "usr-900", 1), "full")

    full = Full()
    with pytest.raises(PageStoreError):
        imported(elsewhere, archive, store=full)
    assert [key.page for key in full.list("ada")] == ["usr-900"]
    imported(elsewhere, archive, store=files)


def test_a_note_whose_text_is_lost_is_not_left_out_unsaid(ada: AgentUnderTest) -> None:
    store = PostgresPageStore(ada.database)
    keys = sorted(store.list("ada"))
    for number, key in enumerate(keys, 1):
        store.delete(key)
        with pytest.raises(ConflictError, match="no text of page") as raised:
            exported(ada.database)
        assert all(lost.page in str(raised.value) for lost in keys[:number])


def test_where_an_agent_was_erased_no_text_takes_the_place_of_an_old_one(
    ada: AgentUnderTest, elsewhere: Database, client: redis.Redis
) -> None:
    """Somebody may still hold a text of the life that was."""
    was = AgentUnderTest(elsewhere)
    was.say("Something else", remember="never")
    was.execute("UPDATE lane SET written_at = now() WHERE agent_id = %s")
    store = PostgresPageStore(elsewhere)
    for number in range(12):
        folders_of(elsewhere).note(f"Note {number}", "of an erased life")
    old = set(store.list("ada"))
    wakeups: Any = RecordedWakeups()
    erase.run_agent(elsewhere, store, wakeups, RedisAgentQueues(client), "ada")
    archive = exported(ada.database)
    imported(elsewhere, archive)
    assert old.isdisjoint(store.list("ada"))
    there = folders_of(elsewhere)
    assert there.shown("sorted") == folders_of(ada.database).shown("sorted")
    there.note("New", "of this life")
    assert old.isdisjoint(store.list("ada"))


def test_an_agent_whose_pages_were_erased_in_part_can_be_moved(
    ada: AgentUnderTest, elsewhere: Database
) -> None:
    ids = ada.rows(
        "SELECT id FROM message WHERE agent_id = %s AND session_id = 'sorted' AND seq %% 3 = 0"
    )
    wakeups: Any = RecordedWakeups()
    here = folders_of(ada.database)
    (note,) = (row.id for row in ada.rows(
        "SELECT id FROM page WHERE agent_id = %s AND name = 'A plan'"))  # fmt: skip
    which = ErasureSelection([row.id for row in ids], page_indexes=[note])
    erase.run(ada.database, PostgresPageStore(ada.database), wakeups, "ada", which)
    imported(elsewhere, exported(ada.database))
    assert folders_of(elsewhere).shown("sorted") == here.shown("sorted")


def test_an_agent_that_has_pages_and_no_message_yet_can_be_moved(
    database: Database, elsewhere: Database
) -> None:
    here = folders_of(database)
    here.prompt("You are kind.")
    imported(elsewhere, exported(database))
    assert "You are kind." in folders_of(elsewhere).window()
    assert folders_of(elsewhere).shown() == here.shown()
