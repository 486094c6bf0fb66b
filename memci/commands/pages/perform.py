"""Do operations on an agent's pages: all of them in one transaction, or none (P15, P16)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from memci.commands.pages.table import Operation
from memci.domain.pages.desk import Desk
from memci.domain.pages.permission import Actor
from memci.domain.pages.rules import PageRules
from memci.domain.pages.tree import Tree
from memci.domain.pages.undo import Edit, do_again, take_back
from memci.errors import RefusedError
from memci.shapes.base import Request
from memci.shapes.page_out import page_out
from memci.shapes.pages import PageChange, StepAnswer
from memci.smallmodel.ports import TokenCounter
from memci.storage.desks import OpenDesk, View, open_desk
from memci.storage.erasure.gone import check_there
from memci.storage.page_steps import (
    Step,
    add_step,
    mark_done,
    step_to_redo,
    step_to_undo,
)
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
        named = frozenset(index for each in asked for index in each.operation.names(each.request))
        with self._locked(agent_id) as connection:
            opened = self._open(connection, agent_id, named, session_id)
            done = [self._do(opened, actor, each) for each in asked]
            save_tree(connection, agent_id, opened.desk.tree, opened.version + 1)
            if actor is Actor.AGENT and opened.desk.steps:
                names = [each.operation.name for each in asked]
                add_step(connection, agent_id, names, opened.desk.steps)
        return done

    def undo(self, agent_id: str, *, session_id: str | None = None) -> StepAnswer:
        """Take back what the agent did last (P17).

        Raises ``RefusedError`` when there is nothing to undo, or its pages have changed since.
        """
        with self._locked(agent_id) as connection:
            step = step_to_undo(connection, agent_id)
            if step is None:
                raise RefusedError("there is nothing to undo")
            answer = self._turn(connection, agent_id, session_id, step, take_back)
            mark_done(connection, agent_id, step.number - 1)
        return answer

    def redo(self, agent_id: str, *, session_id: str | None = None) -> StepAnswer:
        """Do again what was undone last (P17).

        Raises ``RefusedError`` when there is nothing to redo, or its pages have changed since.
        """
        with self._locked(agent_id) as connection:
            step = step_to_redo(connection, agent_id)
            if step is None:
                raise RefusedError("there is nothing to redo")
            answer = self._turn(connection, agent_id, session_id, step, do_again)
            mark_done(connection, agent_id, step.number)
        return answer

    @contextmanager
    def _locked(self, agent_id: str) -> Iterator[Connection]:
        with self.database.agent_transaction(agent_id) as connection:
            lock_tree(connection, agent_id)
            # Then: an erasure may have held the lock until now.
            check_there(connection, agent_id)
            yield connection

    def _turn(
        self,
        connection: Connection,
        agent_id: str,
        session_id: str | None,
        step: Step,
        turn: Callable[[Tree, Sequence[Edit]], None],
    ) -> StepAnswer:
        named = frozenset(each.index for each in step.edits)
        opened = self._open(connection, agent_id, named, session_id)
        desk = opened.desk
        before = desk.rendering.tokens()
        desk.do(lambda: turn(desk.tree, step.edits))
        desk.finish()
        save_tree(connection, agent_id, desk.tree, opened.version + 1)
        return StepAnswer(
            operations=list(step.operations),
            changed=[each.index for each in step.edits],
            tokens_before=before,
            tokens_after=desk.rendering.tokens(),
            collapsed=list(desk.tree.clock.notice),
        )

    def _open(
        self, connection: Connection, agent_id: str, named: frozenset[str], session_id: str | None
    ) -> OpenDesk:
        session = session_id or latest_session(connection, agent_id)
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
        changed = [each.index for each in desk.steps[known:]]
        return _change(desk, page.index, changed, before)


def _change(desk: Desk, index: str, changed: Sequence[str], before: int) -> PageChange:
    return PageChange(
        page=page_out(desk.tree, index),
        changed=list(changed),
        tokens_before=before,
        tokens_after=desk.rendering.tokens(),
        collapsed=list(desk.tree.clock.notice),
    )
