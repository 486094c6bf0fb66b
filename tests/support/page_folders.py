"""Pages of an agent in tests, changed and looked at as the agent does."""

from __future__ import annotations

from typing import Any

from memci.commands.pages.perform import PageCommands, ToolRequest
from memci.domain.pages.parameters import PageRules
from memci.domain.pages.permission import Actor
from memci.reading.context_window import Windows
from memci.schemas.base import Answer
from memci.schemas.pages import StepAnswer, WindowAnswer, WindowRequest
from memci.schemas.tool_table import BY_NAME
from memci.smallmodel.offline.token_counter import OfflineTokenCounter
from memci.storage.page_store.port import PageStore
from memci.storage.session import Database
from tests.support.network import AgentUnderTest

COUNTER = OfflineTokenCounter()


class Folders:
    """What an agent does to its pages, wherever its notes' texts are."""

    def __init__(
        self,
        database: Database,
        store: PageStore,
        *,
        agent_id: str = "ada",
        rules: PageRules | None = None,
    ) -> None:
        self.agent_id = agent_id
        self.commands = PageCommands(database, store, COUNTER, rules or PageRules())
        self.windows = Windows(database, store, COUNTER, rules or PageRules())

    def do(self, verb: str, /, **values: Any) -> str:
        """Do it as the agent, and return the index that it was about."""
        answer: Any = self._ask(verb, **values)
        return str(answer.page.index)

    def prompt(self, text: str) -> None:
        """Write into ``sys``, as its developer."""
        tool = BY_NAME["create_detail_page"]
        request = tool.request(name="Prompt", detail=text, parent="sys-0")
        self.commands.run(self.agent_id, Actor.DEVELOPER, [ToolRequest(tool, request)])
        shown = BY_NAME["expand_details"]
        asked = ToolRequest(shown, shown.request(index="sys-1"))
        self.commands.run(self.agent_id, Actor.DEVELOPER, [asked])

    def rename(self, index: str, name: str) -> None:
        """Call a page of any session so, as its developer."""
        tool = BY_NAME["update_page"]
        asked = ToolRequest(tool, tool.request(index=index, name=name))
        self.commands.run(self.agent_id, Actor.DEVELOPER, [asked])

    def pin(self, text: str) -> None:
        """Pin a text as the agent."""
        self._ask("pin", text=text)

    def undo(self) -> StepAnswer:
        """Take back what the agent did last."""
        answer: Any = self._ask("undo")
        return answer

    def redo(self) -> StepAnswer:
        """Do again what was undone last."""
        answer: Any = self._ask("redo")
        return answer

    def do_all(self, *asked: tuple[str, dict[str, Any]]) -> None:
        """Do all of it in one step, as the agent."""
        tools = [(BY_NAME[verb], values) for verb, values in asked]
        requests = [ToolRequest(tool, tool.request(**values)) for tool, values in tools]
        self.commands.run(self.agent_id, Actor.AGENT, requests)

    def _ask(self, verb: str, **values: Any) -> Answer:
        tool = BY_NAME[verb]
        asked = ToolRequest(tool, tool.request(**values))
        return self.commands.run(self.agent_id, Actor.AGENT, [asked])[0]

    def note(self, name: str, detail: str, parent: str = "usr-0") -> str:
        return self.do("create_detail_page", name=name, detail=detail, parent=parent)

    def shown(self, session: str | None = None) -> WindowAnswer:
        return self.windows.show(self.agent_id, WindowRequest(session_id=session))

    def window(self, session: str | None = None) -> str:
        return "\n".join(str(each.content) for each in self.shown(session).messages)


def page(ada: AgentUnderTest, index: str) -> Any:
    """The row of a page; None where there is none."""
    found = ada.rows("SELECT * FROM page WHERE agent_id = %s AND id = %s", index)
    return found[0] if found else None
