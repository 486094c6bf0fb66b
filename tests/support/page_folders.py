"""Changes and reads the pages of an agent as the agent does."""

from __future__ import annotations

from typing import Any

from memci.commands.pages.perform import PageCommands, ToolRequest
from memci.domain.pages.parameters import PageRules
from memci.domain.pages.permission import Actor
from memci.reading.context_window import Windows
from memci.schemas.base import Answer
from memci.schemas.pages import StepAnswer, WindowAnswer, WindowRequest
from memci.schemas.tools.table import BY_NAME
from memci.smallmodel.offline.token_counter import OfflineTokenCounter
from memci.storage.page_store.port import PageStore
from memci.storage.session import Database
from tests.support.network import AgentUnderTest

COUNTER = OfflineTokenCounter()


class Folders:
    """Operations of an agent on its pages, with any page store."""

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
        """Run a tool as the agent; return the index of its page."""
        answer: Any = self._ask(verb, **values)
        return str(answer.page.index)

    def prompt(self, text: str) -> None:
        """Write a page in the segment ``sys``, as the developer."""
        tool = BY_NAME["create_detail_page"]
        request = tool.request(name="Prompt", detail=text, parent="sys-0")
        self.commands.run(self.agent_id, Actor.DEVELOPER, [ToolRequest(tool, request)])
        expand = BY_NAME["expand_details"]
        asked = ToolRequest(expand, expand.request(index="sys-1"))
        self.commands.run(self.agent_id, Actor.DEVELOPER, [asked])

    def rename(self, index: str, name: str) -> None:
        """Rename a page of any session, as the developer."""
        tool = BY_NAME["update_page"]
        asked = ToolRequest(tool, tool.request(index=index, name=name))
        self.commands.run(self.agent_id, Actor.DEVELOPER, [asked])

    def pin(self, text: str) -> None:
        """Pin a text as the agent."""
        self._ask("pin", text=text)

    def undo(self) -> StepAnswer:
        """Undo the agent's last step."""
        answer: Any = self._ask("undo")
        return answer

    def redo(self) -> StepAnswer:
        """Redo the step that was undone last."""
        answer: Any = self._ask("redo")
        return answer

    def do_all(self, *asked: tuple[str, dict[str, Any]]) -> None:
        """Run several tools in one step, as the agent."""
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
    """The row of a page, or None."""
    found = ada.rows("SELECT * FROM page WHERE agent_id = %s AND id = %s", index)
    return found[0] if found else None
