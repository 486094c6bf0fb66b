"""Tools of memory beside those of pages, all from one table (R20)."""

from __future__ import annotations

import pytest

from memci.broker.app import make_producer
from memci.broker.call import RedisReads
from memci.broker.token import RedisTokens
from memci.commands.pages.perform import PageCommands
from memci.commands.tools.arguments import asked_of
from memci.commands.tools.memory import MemoryTools
from memci.commands.tools.tools import Tools
from memci.commands.tools.writes import MemoryWrites
from memci.domain.memory.parameters import MemoryParameters
from memci.domain.message import AppendLimits
from memci.domain.pages.permission import Actor
from memci.domain.pages.rules import PageRules
from memci.errors import InvalidInputError, NotFoundError, RefusedError
from memci.smallmodel.offline.tokens import OfflineTokenCounter
from memci.storage.page_store.postgres import PostgresPageStore
from tests.support.network import AgentUnderTest

LIMITS = AppendLimits(request_bytes=1 << 20, message_bytes=4_096, messages=10)


@pytest.fixture
def ada(database):
    return AgentUnderTest(database)


@pytest.fixture
def tools(database, broker_url):
    celery = make_producer(broker_url)
    reads, tokens = RedisReads(celery, broker_url, 500), RedisTokens(celery, broker_url)
    counter = OfflineTokenCounter()
    yield Tools(
        PageCommands(database, PostgresPageStore(database), counter, PageRules()),
        MemoryTools(database, reads, tokens),
        MemoryWrites(MemoryParameters(), LIMITS),
        tokens,
    )
    reads.close()
    tokens.close()


def use(tools, name, actor=Actor.AGENT, /, **arguments):
    return tools.run("ada", actor, name, arguments)


def test_a_tool_of_pages_is_used_by_its_name(ada, tools):
    ada.say("What is the budget?")
    assert use(tools, "get_page", index="usr-1").page.index == "usr-1"
    assert use(tools, "hide_details", index="usr-1").changed == ["usr-1"]


def test_what_a_tool_does_not_take_is_named(ada, tools):
    ada.say("Hello there")
    with pytest.raises(InvalidInputError, match="remember: text: must say something") as wrong:
        use(tools, "remember", text="  ")
    assert wrong.value.field == "text"
    with pytest.raises(InvalidInputError, match="page: there is no such field"):
        use(tools, "move_page", source="usr-1", target="usr-0", page=3)
    with pytest.raises(NotFoundError, match="no tool 'rm'"):
        use(tools, "rm", path="/")
    with pytest.raises(RefusedError, match="for developers alone"):
        use(tools, "create_segment", id="notes", name="Notes")


def test_what_is_remembered_is_a_message_of_the_session(ada, tools, database):
    ada.say("What is the budget?", session="s1")
    noted = use(tools, "remember", text="The budget is 500 euros.")
    found = use(tools, "filter", what="messages", role="assistant").found
    assert [(each.messages, each.text) for each in found] == [
        ([noted.message], "The budget is 500 euros.")
    ]
    assert use(tools, "filter", what="messages", session="s1", limit=1).more == 2


def test_changes_of_pages_and_of_memory_are_made_together_or_not_at_all(ada, tools):
    ada.say("What is the budget?")
    wanted = [
        asked_of("remember", {"text": "The budget is 500 euros."}, Actor.AGENT),
        asked_of("hide_details", {"index": "usr-99"}, Actor.AGENT),
    ]
    with pytest.raises(NotFoundError):
        tools.run_all("ada", Actor.AGENT, wanted)
    assert len(use(tools, "filter", what="messages").found) == 1
    good = asked_of("hide_details", {"index": "usr-1"}, Actor.AGENT)
    noted, change = tools.run_all("ada", Actor.AGENT, [wanted[0], good])
    assert change.changed == ["usr-1"]
    assert use(tools, "filter", what="messages").found[0].messages == [noted.message]
