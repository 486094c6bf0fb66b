"""Pages in the conversation of another session can be read, but changed only there (P5)."""

from __future__ import annotations

from typing import Any

import pytest

from memci.commands.pages.perform import PageCommands, ToolRequest
from memci.domain.pages.parameters import PageRules
from memci.domain.pages.permission import Actor
from memci.errors import RefusedError
from memci.reading.context_window import Windows
from memci.schemas.pages import WindowRequest
from memci.schemas.tools.pages import answer_for_model
from memci.schemas.tools.table import BY_NAME
from memci.smallmodel.offline.token_counter import OfflineTokenCounter
from memci.storage.page_store.postgres import PostgresPageStore
from tests.support.network import AgentUnderTest

COUNTER = OfflineTokenCounter()
HOTEL, BOATS, RIVER = "usr-2", "usr-3", "usr-4"
STATE = "in another session"


class TwoSessions:
    """An agent with the sessions s1 (usr-1) and s2 (usr-2 to usr-4)."""

    def __init__(self, database) -> None:
        self.agent = AgentUnderTest(database)
        store = PostgresPageStore(database)
        rules = PageRules(active_pages=3)
        self.commands = PageCommands(database, store, COUNTER, rules)
        self.windows = Windows(database, store, COUNTER, rules)
        self.talk("s1", "Where is the blue umbrella?")
        self.talk("s2", "Old talk about the hotel Azul")
        self.talk("s2", "Second talk about boats")
        self.agent.say("How deep is the Douro?", session="s2")

    def talk(self, session: str, question: str) -> None:
        self.agent.say(question, session=session)
        self.agent.say("Fine.", role="assistant", session=session)

    def do(self, session: str, tool: str, actor: Actor = Actor.AGENT, /, **fields: Any) -> Any:
        request = ToolRequest(BY_NAME[tool], BY_NAME[tool].request(**fields))
        return self.commands.run("ada", actor, [request], session_id=session)[0]

    def window(self, session: str) -> str:
        shown = self.windows.show("ada", WindowRequest(session_id=session))
        return "\n".join(str(each.content) for each in shown.messages)


@pytest.fixture
def world(database):
    return TwoSessions(database)


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("expand_details", {"index": HOTEL}),
        ("hide_details", {"index": HOTEL}),
        ("hide_details", {"index": RIVER}),
        ("pin_page", {"index": HOTEL}),
        ("unpin_page", {"index": HOTEL}),
        ("move_page", {"source": HOTEL, "target": "usr-0"}),
        ("move_page", {"source": RIVER, "target": "usr-0"}),
        ("remove_page", {"index": HOTEL}),
        ("recall_page", {"index": HOTEL}),
        ("update_page", {"index": HOTEL, "name": "Mine"}),
        ("create_contents_page", {"name": "Old", "parent": "usr-0", "children": [HOTEL]}),
    ],
)
def test_an_agent_changes_nothing_in_the_conversation_of_another_session(world, tool, given):
    there, here = world.window("s2"), world.window("s1")
    with pytest.raises(RefusedError, match=r"another session: get_page reads it.*recall_page"):
        world.do("s1", tool, **given)
    assert (world.window("s2"), world.window("s1")) == (there, here)


def test_an_agent_reads_it_and_sees_where_it_is(world):
    assert "the hotel" in world.do("s1", "get_page", index=HOTEL).text
    (found,) = answer_for_model(world.do("s1", "find_pages", query="hotel"))["pages"]
    assert (found["index"], found["state"]) == (HOTEL, STATE)
    assert world.do("s1", "get_page", Actor.DEVELOPER, index=HOTEL).page.state == STATE
    assert world.do("s2", "get_page", index=HOTEL).page.state == "expanded"
    world.do("s1", "hide_details", index="usr-0")
    assert world.do("s1", "get_page", index=HOTEL).page.state == STATE, "opening it is no help"


def test_developers_may_change_it(world):
    world.do("s1", "hide_details", Actor.DEVELOPER, index=HOTEL)
    assert f"[{HOTEL}] Old talk about the hotel Azul (page, hidden" in world.window("s2")
    world.do("s1", "remove_page", Actor.DEVELOPER, index=HOTEL)
    assert HOTEL not in world.window("s2")


def test_an_archived_page_is_recalled_into_the_calling_session(world):
    world.talk("s2", "Thirdly, trains")
    assert world.do("s1", "get_page", index=HOTEL).page.state == STATE
    world.talk("s2", "Fourthly, trams")
    assert world.do("s1", "get_page", index=HOTEL).page.state == "archived"
    assert world.do("s1", "recall_page", index=HOTEL).page.state == "expanded"
    assert world.do("s2", "get_page", index=HOTEL).page.state == STATE
    with pytest.raises(RefusedError, match="another session"):
        world.do("s2", "hide_details", index=HOTEL)
    world.do("s1", "hide_details", index=HOTEL)


def test_pages_in_a_folder_of_another_session_may_be_changed(world):
    made = world.do("s2", "create_contents_page", name="Old", parent="usr-0", children=[HOTEL])
    assert world.do("s1", "expand_details", index=HOTEL).page.state == "expanded"
    moved = world.do("s1", "move_page", source=HOTEL, target="usr-0")
    assert moved.page.state == "expanded", "it is of this conversation now"
    assert world.do("s2", "get_page", index=HOTEL).page.state == STATE
    world.do("s2", "hide_details", index=made.page.index)


def test_a_step_is_not_undone_or_redone_from_another_session(world):
    world.do("s2", "hide_details", index=HOTEL)
    there = world.window("s2")
    with pytest.raises(RefusedError, match=f"about {HOTEL}, in the conversation of another sess"):
        world.do("s1", "undo")
    assert world.window("s2") == there
    assert world.do("s2", "undo").changed == [HOTEL]
    there = world.window("s2")
    with pytest.raises(RefusedError, match="another session"):
        world.do("s1", "redo")
    assert world.window("s2") == there
    assert world.do("s2", "redo").changed == [HOTEL]


def test_a_step_that_would_move_a_page_into_another_session_is_not_undone(world):
    made = world.do("s2", "create_contents_page", name="Old", parent="usr-0", children=[HOTEL])
    there = world.window("s2")
    with pytest.raises(RefusedError, match=f"about {HOTEL}, in the conversation of another sess"):
        world.do("s1", "undo")
    assert world.window("s2") == there
    world.do("s2", "undo")
    assert made.page.index not in world.window("s2")


def test_steps_on_pages_of_all_sessions_are_undone_from_any(world):
    made = world.do("s2", "create_detail_page", name="Lesson", detail="Be brief.", parent="usr-0")
    assert world.do("s1", "undo").changed == [made.page.index]
    assert world.do("s1", "redo").changed == [made.page.index]
