"""An agent with two users in separate sessions, and the windows of each."""

from __future__ import annotations

from typing import Any

from memci.commands.tools.tools import Tools
from memci.domain.pages.parameters import PageRules
from memci.domain.pages.permission import Actor
from memci.domain.pages.window_text import Format
from memci.reading.context_window import Windows
from memci.schemas.pages import WindowRequest
from memci.smallmodel.offline.token_counter import OfflineTokenCounter
from tests.support.network import AgentUnderTest

COUNTER = OfflineTokenCounter()
RULES = PageRules(active_pages=2)
SAYS = {
    "en": {"a": "The safe opens with swordfish", "b": "My sister is called Winifred"},
    "zh": {"a": "保险箱的密码是海马", "b": "我妹妹叫小桃"},
}
WORDS = {"en": {"a": "swordfish", "b": "Winifred"}, "zh": {"a": "海马", "b": "小桃"}}


class World:
    """An agent that talked with two users in separate sessions."""

    def __init__(self, database: Any, tools: Tools, language: str = "en") -> None:
        self.ada = AgentUnderTest(database)
        self.tools, self.pages = tools, tools.pages
        self.language = language
        for number in range(5):
            for session, user in (("a", "alice"), ("b", "bob")):
                text = f"{SAYS[language][session]} {number}"
                self.ada.say(text, session=session, user=user)
                self.ada.say(f"{text}.", role="assistant", session=session, user=user)

    def do(self, session: str | None, tool: str, actor: Actor = Actor.AGENT, **given: Any) -> Any:
        return self.tools.run("ada", actor, tool, given, session_id=session)

    def note(self, session: str | None, name: str = "", actor: Actor = Actor.AGENT) -> str:
        text = SAYS[self.language][session] if session else "For all"
        made = self.do(
            session, "create_detail_page", actor, name=name or text, detail=text, parent="usr-0"
        )
        return str(made.page.index)

    def folder(self, session: str | None, *children: str, actor: Actor = Actor.AGENT) -> str:
        given = {"name": "Folder", "parent": "usr-0", "children": list(children)}
        return str(self.do(session, "create_contents_page", actor, **given).page.index)

    def window(self, session: str | None, form: Format = Format.MARKDOWN) -> str:
        windows = Windows(self.pages.database, self.pages.store, COUNTER, RULES)
        window = windows.show("ada", WindowRequest(session_id=session, format=form))
        return "\n".join(each.content or "" for each in window.messages)

    def of(self, session: str) -> list[str]:
        """The pages of a user, as a developer sees them."""
        word = WORDS[self.language][session]
        found = self.do(None, "find_pages", Actor.DEVELOPER, query=word, limit=50).pages
        return [each.index for each in found]
