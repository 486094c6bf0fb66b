"""A window is in the language of its session's user, whatever pages and other users do."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from memci.commands.pages.perform import PageCommands, ToolRequest
from memci.domain.pages.parameters import PageRules
from memci.domain.pages.permission import Actor
from memci.reading.context_window import Windows
from memci.schemas.pages import WindowRequest
from memci.schemas.tools.table import BY_NAME
from memci.smallmodel.offline.token_counter import OfflineTokenCounter
from memci.storage.page_store.postgres import PostgresPageStore
from tests.support.naming import PagesUnderTest
from tests.support.network import AgentUnderTest

COUNTER = OfflineTokenCounter()
RULES = PageRules(attp=True, window_max_tokens=1_600)
FOLDER = {"en": "# [usr-0] Conversation (folder", "zh": "# [usr-0] 对话（目录"}


class World:
    def __init__(self, database: Any) -> None:
        self.ada = AgentUnderTest(database)
        store = PostgresPageStore(database)
        self.windows = Windows(database, store, COUNTER, RULES)
        self.pages = PageCommands(database, store, COUNTER, RULES)

    def say(self, session: str, question: str, answer: str | None = None, **fields: Any) -> None:
        self.ada.say(question, session=session, **fields)
        if answer is not None:
            self.ada.say(answer, role="assistant", session=session, **fields)

    def window(self, session: str) -> Any:
        return self.windows.show("ada", WindowRequest(session_id=session))

    def text(self, session: str) -> str:
        return "".join(each.content or "" for each in self.window(session).messages)

    def do(self, session: str | None, tool: str, actor: Actor = Actor.AGENT, **fields: Any) -> Any:
        request = ToolRequest(BY_NAME[tool], BY_NAME[tool].request(**fields))
        return self.pages.run("ada", actor, [request], session_id=session)[0]


@pytest.fixture
def world(database: Any) -> World:
    return World(database)


@pytest.mark.parametrize("users", [{"en": "anna", "zh": "chen"}, {"en": None, "zh": None}])
def test_each_session_has_its_users_language(world: World, users: dict[str, str | None]):
    for number in range(4):
        world.say("en", f"How deep is the river at bridge {number}?", "9 m.", user=users["en"])
        for _ in range(3):
            world.say("zh", "杭州的天气怎么样？西湖边上有什么好吃的？", "晴天。", user=users["zh"])
        for session, folder in FOLDER.items():
            assert folder in world.text(session)


def test_a_word_of_another_language_changes_nothing(world: World):
    for number in range(3):
        world.say("zh", f"第 {number} 个问题：西湖边上有什么好吃的？", "藕粉。")
    world.say("zh", "OK", "a_function() returns 3")
    assert FOLDER["zh"] in world.text("zh")


def test_without_messages_the_window_has_the_language_of_its_pages(world: World):
    fields = {"name": "规则", "detail": "回答要简短。", "parent": "sys-0"}
    world.do(None, "create_detail_page", Actor.DEVELOPER, **fields)
    assert "（目录" in world.text("new")


@pytest.mark.parametrize("name", ["西湖边上好吃的东西有很多很多很多很多很多很多很多", "Boats"])
def test_tokens_of_a_change_are_those_of_the_next_window(world: World, name: str):
    """Names and messages in another language do not change the language of the window."""
    world.say("en", "How deep is the river?", "21 metres.")
    world.say("en", "And how wide?", "A hundred.")
    world.say("zh", "杭州的天气怎么样？" * 20)
    for tool, given in (
        ("update_page", {"index": "usr-1", "name": name, "description": name}),
        ("remove_page", {"index": "usr-1"}),
        ("undo", {}),
        ("pin_page", {"index": "usr-2"}),
    ):
        shown = world.window("en").tokens
        done = world.do("en", tool, **given)
        assert (done.tokens_before, done.tokens_after) == (shown, world.window("en").tokens), tool


def test_a_page_is_summarised_in_its_own_language(database: Any):
    pages = PagesUnderTest(AgentUnderTest(database), replace(RULES, active_pages=1))
    pages.tell(("API 用 REST 还是 GraphQL？", "推荐使用 REST，缓存简单。"))
    pages.tell(
        (
            "写一个 quicksort 函数。",
            "def sort(values): return sorted(values, key=lambda one: one.x)",
        )
    )
    pages.tell(("Which is the longest river of Portugal?", "The Tagus, with 1,007 km."))
    pages.tell(("What next?", "Rest."))
    pages.run()
    prefixes = [{line.partition(" ")[0][:3] for line in each.entries} for each in pages.pages()[:3]]
    assert prefixes == [{"用户：", "助手："}, {"用户：", "助手："}, {"use", "ass"}]
