"""Names for the pages of one agent, made by jobs run on a real database."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sqlalchemy import Row

from memci.commands.pages.perform import PageCommands, ToolRequest
from memci.domain.job import Job, JobKind
from memci.domain.pages.interaction_outline import Outline
from memci.domain.pages.parameters import PageRules
from memci.domain.pages.permission import Actor
from memci.domain.token_counts import Count
from memci.jobs.name_pages import MOST_NAMED, PageNaming
from memci.language.detection import Language
from memci.message import Message
from memci.queue.runner import Effect
from memci.reading.context_window import Windows
from memci.schemas.pages import WindowAnswer, WindowRequest
from memci.schemas.tools.table import BY_NAME
from memci.smallmodel.offline.summarizer import OfflineSummarizer
from memci.smallmodel.offline.token_counter import OfflineTokenCounter
from memci.smallmodel.ports import Summarizer
from memci.storage.page_store.postgres import PostgresPageStore
from tests.support.network import AgentUnderTest

COUNTER = OfflineTokenCounter()
ROOM = (
    "Hello! I hope you are well. Could you book the blue meeting room for Thursday at ten?",
    "Done: the blue meeting room is booked for Thursday, 10:00 to 11:00, for eight people.",
)
BACKUP = (
    "Why did the nightly backup to Frankfurt fail?",
    "The disk in Frankfurt is full. I suggest to delete the snapshots of March.",
)
LUNCH = ("Where do we have lunch?", "At Luigi's, at noon.")
TRAIN = ("你好！明天去上海的高铁票订好了吗？", "订好了，明天上午九点的G2次，二等座，553元。")


@dataclass
class Meanwhile:
    """Gives every page the same name, and runs a callback meanwhile."""

    does: Callable[[], object] = lambda: None
    requests: int = 0

    def outline(self, messages: Sequence[Message], language: Language, count: Count) -> Outline:
        self.requests += 1
        self.does()
        return Outline("A title", "A description.", tuple(f"line {m.seq}" for m in messages))

    def summarize(self, messages: Sequence[Message], previous: str, target: int) -> str:
        raise AssertionError("nobody asks for this")


@dataclass
class PagesUnderTest:
    ada: AgentUnderTest
    rules: PageRules = field(default_factory=PageRules)
    summarizer: Summarizer = field(default_factory=OfflineSummarizer)
    most: int = MOST_NAMED
    clock: Callable[[], float] = lambda: 0.0

    def tell(self, *exchanges: tuple[str, str], session: str | None = "s1") -> None:
        for question, answer in exchanges:
            self.ada.say(question, session=session)
            self.ada.say(answer, role="assistant", session=session)

    @property
    def handler(self) -> PageNaming:
        store = PostgresPageStore(self.ada.database)
        return PageNaming(
            self.ada.database,
            self.summarizer,
            store,
            COUNTER,
            self.rules,
            most=self.most,
            clock=self.clock,
        )

    @property
    def job(self) -> Job:
        return replace(self.ada.job(0, 0), kind=JobKind.NAME_PAGES)

    def write(self, effect: Effect) -> Mapping[str, Any]:
        with self.ada.lease().effect() as connection:
            return effect(connection)

    def run(self) -> Mapping[str, Any]:
        """Run one job, as the lane would."""
        return self.write(self.handler.prepare(self.job))

    def waiting(self) -> int:
        """The number of queued jobs of this kind."""
        query = "SELECT FROM job WHERE agent_id = %s AND kind = %s AND state = 'queued'"
        return len(self.ada.rows(query, JobKind.NAME_PAGES))

    def pages(self) -> list[Row[Any]]:
        """Pages of interactions, in the order of their creation."""
        return self.ada.rows(
            "SELECT * FROM page WHERE agent_id = %s AND number > 0 ORDER BY number"
        )

    def commands(self) -> PageCommands:
        store = PostgresPageStore(self.ada.database)
        return PageCommands(self.ada.database, store, COUNTER, self.rules)

    def do(self, verb: str, /, **values: object) -> None:
        asked = ToolRequest(BY_NAME[verb], BY_NAME[verb].request(**values))
        self.commands().run(self.ada.agent_id, Actor.AGENT, [asked])

    @property
    def windows(self) -> Windows:
        store = PostgresPageStore(self.ada.database)
        return Windows(self.ada.database, store, COUNTER, self.rules)

    def window(self, **how: Any) -> WindowAnswer:
        return self.windows.show(self.ada.agent_id, WindowRequest(**how))

    def tree(self) -> list[tuple[str, str]]:
        """Indexes and names of all pages in the tree."""
        return [(each.index, each.name) for each in self.windows.tree(self.ada.agent_id).pages]

    def shown(self, **how: Any) -> str:
        return "\n".join(each.content or "" for each in self.window(**how).messages)
