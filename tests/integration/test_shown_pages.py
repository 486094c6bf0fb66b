"""Only the shown part of a tree is read for a window, with the same result (P12)."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from random import Random

import pytest

from memci.commands.pages.perform import ToolRequest
from memci.domain.pages.parameters import PageRules
from memci.domain.pages.permission import Actor
from memci.domain.pages.tree import Viewer
from memci.errors import MemciError
from memci.schemas.tools.table import BY_NAME
from memci.storage.page_store.postgres import PostgresPageStore
from memci.storage.pages.workspace import WindowSpec, Workspace, open_visible, open_workspace
from memci.storage.session import Connection
from tests.support.naming import COUNTER, PagesUnderTest
from tests.support.network import AgentUnderTest
from tests.support.plans import analyze
from tests.support.rows_read import rows_read

MANY = """
INSERT INTO page (agent_id, id, kind, segment, parent, place, name, description, expanded, named,
                  cold, text_version)
SELECT %s, 'usr-' || (1000 + n), 'detail', 'usr', %s, 1000 + n, 'Note ' || n, 'it', false, true,
       n > 10000, 1
FROM generate_series(1, 20000) AS n
"""
LONG = """
INSERT INTO message (agent_id, seq, id, role, content, session_id, said_at, remember, memory_state)
SELECT %s, n, 'm' || n, (ARRAY['assistant', 'user'])[1 + n %% 2], 'It rains.', 's', now(),
       'never', 'none'
FROM generate_series(1, 2000) AS n
"""


@pytest.fixture
def pages(database):
    rules = PageRules(active_pages=3, archive_unused=6, window_max_tokens=1_500)
    return PagesUnderTest(AgentUnderTest(database), rules)


def talk(pages: PagesUnderTest, random: Random) -> None:
    session = random.choice(["s1", "s2", None])
    pages.tell((f"Question {random.random()}?", "The answer. " * random.randint(1, 40)),
               session=session)  # fmt: skip


def change(pages: PagesUnderTest, random: Random, *excluded: str) -> None:
    """Run a random operation on pages, allowed or not."""
    rows = pages.ada.rows("SELECT id FROM page WHERE agent_id = %s")
    indexes = [row.id for row in rows if row.id not in excluded] or ["sys-0"]
    verb = random.choice(
        ["move_page", "expand_details", "hide_details", "remove_page", "recall_page", "pin_page",
         "create_contents_page", "create_detail_page", "restore_page"]
    )  # fmt: skip
    values = {
        "move_page": {"source": random.choice(indexes), "target": random.choice(indexes)},
        "create_contents_page": {
            "name": "Folder", "description": "", "parent": random.choice(["usr-0", *indexes]),
            "children": random.sample(indexes, min(2, len(indexes))),
        },
        "create_detail_page": {
            "name": "Note", "description": "d", "detail": "text", "parent": "usr-0",
        },
        "restore_page": {"index": random.choice(indexes), "parent": "usr-0"},
    }.get(verb, {"index": random.choice(indexes)})  # fmt: skip
    with suppress(MemciError):
        pages.do(verb, **values)


def open_whole(connection: Connection, pages: PagesUnderTest, session: str | None) -> Workspace:
    spec = WindowSpec(Viewer(session), COUNTER.count, pages.rules)
    return open_workspace(connection, "ada", PostgresPageStore(pages.ada.database), spec)


def open_part(connection: Connection, pages: PagesUnderTest, session: str | None) -> Workspace:
    spec = WindowSpec(Viewer(session), COUNTER.count, pages.rules)
    store = PostgresPageStore(pages.ada.database)
    workspace, messages = open_visible(connection, "ada", store, spec)
    workspace.settle(messages)
    if messages:
        workspace.enforce_limits()
    return workspace


@pytest.mark.parametrize("seed", range(4))
def test_the_part_shows_the_same_as_the_whole_tree(pages, seed):
    random = Random(seed)
    talk(pages, random)
    for _ in range(25):
        random.choice([talk, change, change])(pages, random)
        with pages.ada.database.agent_snapshot("ada") as connection:
            for session in ("s1", "s2", None):
                full = open_whole(connection, pages, session)
                part = open_part(connection, pages, session)
                assert part.rendering.window() == full.rendering.window()
                changed = {index: full.tree.pages[index] for index in full.tree.changed}
                assert {index: part.tree.pages[index] for index in part.tree.changed} == changed
                assert part.tree.counters == full.tree.counters


@pytest.mark.parametrize("seed", range(3))
def test_settling_in_the_lane_does_not_change_the_window(pages, seed):
    random = Random(seed)
    pages.most = 0  # names nothing
    for _ in range(8):
        talk(pages, random)
        change(pages, random, "usr-0")
        talk(pages, random)
        before = pages.window()
        assert pages.run()["settled"] > 0
        assert pages.window() == before
        assert pages.run()["settled"] == 0
        assert pages.window() == before


@pytest.mark.parametrize("closed", [False, True])
def test_the_guide_keeps_its_index(pages, closed):
    """It is created before pages of messages, whoever settles them (P1, P15)."""
    pages.rules = replace(pages.rules, attp=True)
    if closed:
        hide = ToolRequest(BY_NAME["hide_details"], BY_NAME["hide_details"].request(index="sys-0"))
        pages.ada.say("Hello?")
        pages.commands().run("ada", Actor.DEVELOPER, [hide])
    pages.ada.say("You are Ada.", role="system")
    talk(pages, Random(1))
    talk(pages, Random(2))
    before = pages.tree()
    assert [each for each in before if each[0] == "sys-1"] == [("sys-1", "Tools (ATTP)")]
    pages.most = 0
    assert pages.run()["settled"] > 0
    assert pages.tree() == before


def test_most_pages_of_a_large_tree_are_not_read(pages):
    random = Random(1)
    for _ in range(6):
        talk(pages, random)
    pages.do("create_contents_page", name="Notes", description="", parent="usr-0")
    folder = pages.ada.row("SELECT id FROM page WHERE agent_id = %s AND name = 'Notes'").id
    pages.run()
    pages.ada.execute(MANY, folder)
    pages.ada.execute("DELETE FROM job WHERE agent_id = %s")
    assert "10000 inside" in pages.shown()
    talk(pages, random)
    talk(pages, random)
    read = rows_read(pages.ada.database, "page")
    pages.run()
    # The pages of a hidden folder are counted in the index, once to read and once to write.
    assert sum(read) < 2 * 10_000 + 600


def test_a_long_session_is_not_read_again_to_find_its_user(pages):
    """Here no message names a user."""
    pages.ada.execute(LONG)
    pages.ada.execute("UPDATE lane SET message_seq = 2000 WHERE agent_id = %s")
    pages.commands().settle("ada")
    read = rows_read(pages.ada.database, "message")
    pages.shown()
    assert sum(read) < 100


def test_a_long_interaction_is_read_only_twice(pages):
    """Once to create its page and once to show it, not again for each 1,000 messages."""
    pages.ada.execute(LONG.replace("1 + n %% 2", "1 + (n = 1)::int").replace("2000", "4000"))
    pages.ada.execute("UPDATE lane SET message_seq = 4000 WHERE agent_id = %s")
    pages.ada.say("And so on.", role="assistant", session="s", user="mira")
    analyze(pages.ada.database, "message")
    read = rows_read(pages.ada.database, "message")
    pages.shown()
    assert sum(read) < 2 * 4_000 + 600
