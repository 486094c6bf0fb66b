"""Rebuilding, switching and restoring change no page (M24)."""

from __future__ import annotations

from typing import Any

from memci.storage.page_store.postgres import PostgresPageStore
from memci.storage.session import Database
from tests.support.complete_agent import SORTING, complete_agent
from tests.support.mailbox import Mailbox
from tests.support.network import AgentUnderTest
from tests.support.page_folders import Folders
from tests.support.rebuilding import Rebuilding

TABLES = ("page_tree", "page", "page_step", "page_text")


def stored(ada: AgentUnderTest) -> dict[str, list[Any]]:
    return {
        table: [tuple(row) for row in ada.rows(f"SELECT * FROM {table} WHERE agent_id = %s")]
        for table in TABLES
    }


def test_a_rebuild_and_a_switch_change_no_page(database: Database) -> None:
    ada = complete_agent(database)
    Mailbox(ada).run()
    folders = Folders(database, PostgresPageStore(database), rules=SORTING)
    before, window = stored(ada), folders.shown("sorted")
    assert all(before.values())
    rebuilding = Rebuilding(ada)
    rebuilding.rebuilt()
    assert folders.shown("sorted") == window
    rebuilding.switch()
    assert stored(ada) == before
    assert folders.shown("sorted") == window


def test_restoring_a_memory_changes_no_page(database: Database) -> None:
    ada = complete_agent(database)
    Mailbox(ada).run()
    before = stored(ada)
    rebuilding = Rebuilding(ada)
    (forgotten,) = ada.rows(
        "SELECT min(node_id) AS node_id FROM trail WHERE agent_id = %s AND event = 'forgotten'"
        " AND NOT EXISTS (SELECT FROM trail AS made WHERE made.node_id = trail.node_id"
        " AND (made.details->>'kind' = 'entity' OR made.event = 'restored'))"
    )
    if forgotten.node_id is not None:
        rebuilding.restore(forgotten.node_id)
    rebuilding.run()
    assert stored(ada) == before
