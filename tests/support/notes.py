"""An agent that writes notes, on any page store."""

from __future__ import annotations

from typing import Any

from memci.commands.pages.perform import PageCommands, ToolRequest
from memci.domain.pages.parameters import PageRules
from memci.domain.pages.permission import Actor
from memci.reading.context_window import Windows
from memci.schemas.tools.table import BY_NAME
from memci.smallmodel.offline.token_counter import OfflineTokenCounter
from memci.storage.page_store.port import PageStore
from memci.storage.session import Database

COUNTER = OfflineTokenCounter()
ROOMY = PageRules(window_max_tokens=10_000_000)


def tool_request(verb: str, /, **values: Any) -> ToolRequest:
    tool = BY_NAME[verb]
    return ToolRequest(tool, tool.request(**values))


class NoteTaker:
    """Runs operations on an agent's pages, and reads its window."""

    def __init__(self, database: Database, store: PageStore, agent_id: str = "ada") -> None:
        self.store = store
        self.agent_id = agent_id
        self.commands = PageCommands(database, store, COUNTER, ROOMY)
        self.windows = Windows(database, store, COUNTER, ROOMY)

    def do(self, *operations: ToolRequest) -> list[Any]:
        return self.commands.run(self.agent_id, Actor.AGENT, list(operations))

    def note(self, text: str, *, expanded: bool = True) -> str:
        (made,) = self.do(
            tool_request("create_detail_page", name="Note", detail=text, parent="usr-0")
        )
        if expanded:
            self.do(tool_request("expand_details", index=made.page.index))
        return made.page.index

    def window(self) -> str:
        return "".join(each.content or "" for each in self.windows.show(self.agent_id).messages)
