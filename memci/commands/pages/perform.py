"""Do operations on an agent's pages: all of them in one transaction, or none (P15, P16)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from memci.commands.pages.table import Operation
from memci.domain.pages.desk import Desk
from memci.domain.pages.permission import Actor
from memci.domain.pages.rules import PageRules
from memci.shapes.base import Request
from memci.shapes.page_out import page_out
from memci.shapes.pages import PageChange
from memci.smallmodel.ports import TokenCounter
from memci.storage.desks import OpenDesk, View, open_desk
from memci.storage.erasure.gone import check_there
from memci.storage.page_store.port import PageStore
from memci.storage.pages import latest_session, lock_tree, save_tree
from memci.storage.session import Connection, Database


@dataclass(frozen=True, slots=True)
class Asked:
    """An operation, and what is asked of it."""

    operation: Operation[Any]
    request: Request


@dataclass(frozen=True, slots=True)
class PageCommands:
    """Changes pages. A failed operation leaves everything as it was."""

    database: Database
    store: PageStore
    counter: TokenCounter
    rules: PageRules

    def run(
        self,
        agent_id: str,
        actor: Actor,
        asked: Sequence[Asked],
        *,
        session_id: str | None = None,
    ) -> list[PageChange]:
        """Do what is asked, in order, on the window of a session (None: that of the last message).

        Raises ``NotFoundError`` for no agent or no such page, ``RefusedError`` for what may not be
        done, and ``PageStoreError`` when a note's text cannot be kept.
        """
        with self.database.agent_transaction(agent_id) as connection:
            check_there(connection, agent_id)
            lock_tree(connection, agent_id)
            opened = self._open(connection, agent_id, asked, session_id)
            done = [self._do(opened, actor, each) for each in asked]
            save_tree(connection, agent_id, opened.desk.tree, opened.version + 1)
        return done

    def _open(
        self, connection: Connection, agent_id: str, asked: Sequence[Asked], session_id: str | None
    ) -> OpenDesk:
        session = session_id or latest_session(connection, agent_id)
        named = frozenset(index for each in asked for index in each.operation.names(each.request))
        view = View(session, self.counter.count, self.rules, named=named)
        return open_desk(connection, agent_id, self.store, view)

    def _do(self, opened: OpenDesk, actor: Actor, asked: Asked) -> PageChange:
        desk, operation = opened.desk, asked.operation
        before = desk.rendering.tokens()
        known = len(desk.steps)
        page = desk.do(lambda: operation.run(desk.tree, actor, asked.request))
        if operation.text is not None:
            opened.texts.write(page, operation.text(asked.request))
        desk.finish()
        changed = [each.after.index for each in desk.steps[known:]]
        return _change(desk, page.index, changed, before)


def _change(desk: Desk, index: str, changed: Sequence[str], before: int) -> PageChange:
    return PageChange(
        page=page_out(desk.tree, index),
        changed=list(changed),
        tokens_before=before,
        tokens_after=desk.rendering.tokens(),
        collapsed=list(desk.tree.clock.notice),
    )
