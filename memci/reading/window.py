"""The context window of an agent: its tree as a message list (P11, P12)."""

from __future__ import annotations

from dataclasses import dataclass

from memci.domain.pages.collapse import Collapse, collapse_to
from memci.domain.pages.desk import Desk
from memci.domain.pages.rules import PageRules
from memci.reading.pins import list_pins
from memci.shapes.page_out import page_out, segment_out
from memci.shapes.pages import PageTree, WindowAnswer, WindowRequest
from memci.shapes.pins import PinList
from memci.shapes.read import ContextMessage
from memci.smallmodel.ports import TokenCounter
from memci.storage.desks import View, open_desk
from memci.storage.erasure.gone import snapshot_of
from memci.storage.page_store.port import PageStore
from memci.storage.page_texts import warm
from memci.storage.pages import latest_session
from memci.storage.parameters import page_rules_of
from memci.storage.session import Database

LATEST = WindowRequest()


@dataclass(frozen=True, slots=True)
class Windows:
    """Renders windows. Nothing is written: what it collapses is collapsed in the answer alone."""

    database: Database
    store: PageStore
    counter: TokenCounter
    rules: PageRules

    def show(self, agent_id: str, asked: WindowRequest = LATEST) -> WindowAnswer:
        """Return the window of a session (None: that of the last message).

        ``budget_tokens`` holds it to so many, where what must stay allows that (P13); None: to the
        agent's own limit. Raises ``NotFoundError`` for no agent.
        """
        warm(self.database, self.store, agent_id)
        with snapshot_of(self.database, agent_id) as connection:
            session = asked.session_id or latest_session(connection, agent_id)
            rules = page_rules_of(connection, agent_id, self.rules)
            view = View(session, self.counter.count, rules, asked.format)
            desk = open_desk(connection, agent_id, self.store, view).desk
            done = _held_to(desk, asked.budget_tokens)
            window = desk.rendering.window()
        return WindowAnswer(
            messages=[ContextMessage.of(each) for each in window.messages],
            tokens=window.tokens,
            by_segment=window.by_segment,
            collapsed=list(window.collapsed),
            over=done.over if done is not None else 0,
            session_id=session,
            tokenizer=self.counter.tokenizer,
        )

    def pins(self, agent_id: str) -> PinList:
        """Return what is pinned; raises ``NotFoundError`` for no agent."""
        return list_pins(self.database, self.store, self.counter, self.rules, agent_id)

    def tree(self, agent_id: str, *, session_id: str | None = None) -> PageTree:
        """Return the tree of a session (None: that of the last message), without its texts.

        Raises ``NotFoundError`` for no agent.
        """
        warm(self.database, self.store, agent_id)
        with snapshot_of(self.database, agent_id) as connection:
            session = session_id or latest_session(connection, agent_id)
            rules = page_rules_of(connection, agent_id, self.rules)
            view = View(session, self.counter.count, rules)
            rendering = open_desk(connection, agent_id, self.store, view).desk.rendering
        tree = rendering.tree
        return PageTree(
            segments=[segment_out(each) for each in tree.segments.values()],
            pages=[
                page_out(tree, page.index)
                for segment in tree.segments.values()
                for page in rendering.within(segment)
            ],
            session_id=session,
        )


def _held_to(desk: Desk, budget_tokens: int | None) -> Collapse | None:
    if budget_tokens is None:
        if desk.rendering.tokens() > desk.rules.window_max_tokens:
            desk.look_after()
        return desk.collapsed
    return collapse_to(desk.rendering, budget_tokens, desk.kept)
