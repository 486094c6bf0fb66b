"""Removed pages are listed, whoever removed them, and before the removal is stored."""

from __future__ import annotations

import pytest

from memci.commands.pages.perform import PageCommands, ToolRequest
from memci.domain.pages.page import Lifecycle
from memci.domain.pages.parameters import PageRules
from memci.domain.pages.permission import Actor
from memci.errors import InvalidInputError, NotFoundError
from memci.reading.context_window import Windows
from memci.schemas.tools.table import BY_NAME
from memci.smallmodel.offline.token_counter import OfflineTokenCounter
from memci.storage.page_store.postgres import PostgresPageStore
from tests.support.network import AgentUnderTest

COUNTER = OfflineTokenCounter()
RULES = PageRules(active_pages=2, archive_unused=2)


@pytest.fixture
def ada(database):
    return AgentUnderTest(database)


@pytest.fixture
def windows(database):
    return Windows(database, PostgresPageStore(database), COUNTER, RULES)


@pytest.fixture
def do(windows):
    commands = PageCommands(windows.database, windows.store, COUNTER, RULES)

    def run(verb, /, **values):
        tool = BY_NAME[verb]
        return commands.run("ada", Actor.DEVELOPER, [ToolRequest(tool, tool.request(**values))])[0]

    return run


def talk(ada, turns):
    for number in range(turns):
        ada.say(f"第 {number} 个问题？", session="s1")
        ada.say("好的。", role="assistant", session="s1")


def removed(windows, limit=100):
    """Return the indexes of all removed pages, read in parts."""
    found, cursor = [], None
    while True:
        part = windows.removed("ada", cursor=cursor, limit=limit)
        assert len(part.pages) <= limit
        assert all(each.lifecycle is Lifecycle.COLD_ARCHIVED for each in part.pages)
        found += [each.index for each in part.pages]
        cursor = part.next_cursor
        if cursor is None:
            return found


def test_pages_that_left_the_archive_are_listed_before_it_is_stored(ada, windows, do):
    do("create_detail_page", name="Note", detail="x", parent="usr-0")
    do("remove_page", index="usr-1")
    talk(ada, 8)
    unstored = removed(windows)
    assert (unstored[-1], len(unstored) > 2) == ("usr-1", True)
    do("pin_page", index="usr-0")
    assert removed(windows) == unstored
    talk(ada, 3)
    assert removed(windows)[-len(unstored) :] == unstored
    for limit in (1, 2, 3):
        assert removed(windows, limit) == removed(windows)


def test_a_removed_folder_is_listed_with_the_number_of_its_pages(windows, do):
    for number in (1, 2):
        do("create_detail_page", name=f"Note {number}", detail="x", parent="usr-0")
    do("create_contents_page", name="Folder", parent="usr-0", children=["usr-1", "usr-2"])
    do("remove_page", index="usr-3")
    (page,) = windows.removed("ada").pages
    assert (page.index, page.children, page.parent) == ("usr-3", 2, None)
    do("restore_page", index="usr-3", parent="usr-0")
    assert removed(windows) == []
    do("remove_page", index="usr-1")
    do("remove_page", index="usr-3")
    assert removed(windows) == ["usr-3", "usr-1"]


def test_a_tree_has_its_pages_and_their_tokens(ada, windows, do):
    talk(ada, 3)
    tree = windows.tree("ada")
    assert tree.archive in {each.index for each in tree.pages}
    assert tree.tokens == windows.show("ada").tokens
    assert sum(tree.tokens_of.values()) + 7 == tree.tokens
    hot = windows.tree("ada", lifecycle=Lifecycle.HOT_ARCHIVED)
    assert [each.index for each in hot.pages] == ["usr-1"]
    assert hot.tokens == tree.tokens


def test_a_wrong_cursor_and_an_unknown_agent_are_refused(ada, windows):
    with pytest.raises(NotFoundError):
        windows.removed("nobody")
    talk(ada, 1)
    for cursor in ("x", "1.2", "-1", ""):
        with pytest.raises(InvalidInputError):
            windows.removed("ada", cursor=cursor)
    assert windows.removed("ada", cursor="0").pages == []
