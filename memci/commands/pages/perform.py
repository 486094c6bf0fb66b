"""Run page operations: all of one request in one transaction, or none (P15, P16)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from uuid import uuid4

from memci.commands.pages.operations import OPERATION_HANDLERS
from memci.commands.pages.workspace import OperationContext, TreeVersion
from memci.domain.pages.block import Format
from memci.domain.pages.chapters import settle
from memci.domain.pages.parameters import PageRules
from memci.domain.pages.permission import Actor
from memci.errors import ConflictError, PageStoreError, RefusedError
from memci.queue.job_requests import request_naming_by_read
from memci.schemas.base import Answer, Request
from memci.schemas.pages import PageChange
from memci.schemas.tools import Tool
from memci.smallmodel.ports import TokenCounter
from memci.storage.agents import check_there, is_there, page_rules_of, snapshot_of
from memci.storage.page_store.port import PageStore
from memci.storage.pages.texts import prefetch_texts
from memci.storage.pages.tree import begin_agent, lock_lane, lock_tree, save_tree
from memci.storage.pages.visible_pages import session_viewer
from memci.storage.pages.workspace import WindowSpec, is_batch, open_visible, open_workspace
from memci.storage.session import Connection, Database

# Request fields with the index of a page that the operation may expand.
_OPENED = ("index", "source")


@dataclass(frozen=True, slots=True)
class ToolRequest:
    """A call of a tool with its arguments; ``id`` is unique."""

    tool: Tool
    request: Request
    id: str = field(default_factory=lambda: uuid4().hex)


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
        asked: Sequence[ToolRequest],
        *,
        session_id: str | None = None,
        mark: TreeVersion | None = None,
        form: Format = Format.MARKDOWN,
    ) -> list[Answer]:
        """Run the calls in order on the window of a session (None: that of the last message).

        Tokens are counted for a window in the format ``form``. Creating a page creates the agent
        if it does not exist.

        Raises ``NotFoundError`` for no such agent or page, ``RefusedError`` for a forbidden
        operation, ``PageStoreError`` if a text cannot be saved, and ``ConflictError`` if the tree
        is no longer at the version ``mark``.
        """
        prefetched = self.prefetched(agent_id, asked, session_id)
        if not any(each.tool.changes for each in asked):
            with prefetched.reading(agent_id, actor, session_id, form) as context:
                seen = [perform(context, each) for each in asked]
            request_naming_by_read(self.database, agent_id, context.opened.settled)
            return seen
        with self.database.agent_transaction(agent_id) as connection:
            begins = any(each.tool.begins for each in asked)
            is_new = begins and begin_agent(connection, agent_id)
            whose = prefetched.editing(
                connection, agent_id, actor, session_id, mark=mark, form=form
            )
            with whose as context:
                done = [perform(context, each) for each in asked]
        return [_first(each) for each in done] if is_new else done

    def prefetched(
        self, agent_id: str, asked: Iterable[ToolRequest] = (), session_id: str | None = None
    ) -> PageCommands:
        """Return a copy for one request that has fetched the texts it will show.

        Call this before anything is locked; raises ``PageStoreError``.
        """
        named = [getattr(each.request, name, "") for each in asked for name in _OPENED]
        named = [*filter(None, named)]
        return replace(
            self, store=prefetch_texts(self.database, self.store, agent_id, session_id, named)
        )

    def settle(self, agent_id: str) -> None:
        """Put new messages onto pages by the present rules (P1); no error for an unknown agent."""
        store = prefetch_texts(self.database, self.store, agent_id)
        with self.database.agent_transaction(agent_id) as connection:
            if not is_there(connection, agent_id):
                return
            lock_tree(connection, agent_id)
            # Afterwards once more: an erasure that held the lock has ended by now.
            if is_there(connection, agent_id):
                spec = self._window_spec(connection, agent_id, None)
                opened = open_workspace(connection, agent_id, store, spec)
                context = OperationContext(connection, agent_id, Actor.DEVELOPER, opened)
                if context.tree.changed:
                    context.save()

    def settle_before_erasing(self, agent_id: str) -> None:
        """Do as ``settle``, so that ``settle_in`` has little to do; ignores ``PageStoreError``."""
        with suppress(PageStoreError):
            self.settle(agent_id)

    def settle_in(self, connection: Connection, agent_id: str) -> None:
        """Put new messages onto pages, in a transaction that has locked the tree.

        Reads no texts of notes and collapses nothing: the next reader of the window does.
        """
        while self._settle_some(connection, agent_id):
            pass

    def _settle_some(self, connection: Connection, agent_id: str) -> bool:
        """Settle one batch; return True if there may be more."""
        spec = self._window_spec(connection, agent_id, None)
        opened, said = open_visible(connection, agent_id, self.store, spec)
        workspace, shown = opened.workspace, opened.workspace.rendering
        workspace.apply_system_change(
            lambda: settle(workspace.tree, said, spec.rules, shown.own_tokens, shown.count)
        )
        if said:
            save_tree(connection, agent_id, workspace.tree, opened.version + 1)
        return is_batch(said)

    @contextmanager
    def editing(
        self,
        connection: Connection,
        agent_id: str,
        actor: Actor,
        session_id: str | None,
        *,
        mark: TreeVersion | None = None,
        form: Format = Format.MARKDOWN,
    ) -> Iterator[OperationContext]:
        """Yield a context and save it at the end, in a transaction of the caller; as ``run``.

        The lane's row is locked before the tree: otherwise a new message's page could be shown with
        an index that is given to another page here (P1).
        """
        lock_lane(connection, agent_id)
        lock_tree(connection, agent_id)
        # Afterwards: an erasure that held the lock has ended by now.
        check_there(connection, agent_id)
        context = self._open_context(connection, agent_id, actor, session_id, form)
        if mark not in {None, context.mark}:
            raise ConflictError("the pages have changed meanwhile: look at the window again")
        yield context
        context.save()

    @contextmanager
    def dry_run(
        self,
        agent_id: str,
        actor: Actor,
        *,
        session_id: str | None = None,
        form: Format = Format.MARKDOWN,
    ) -> Iterator[OperationContext]:
        """Yield a context that is never saved; raises ``NotFoundError`` for no agent."""
        prefetched = self.prefetched(agent_id, (), session_id)
        with prefetched.reading(agent_id, actor, session_id, form) as context:
            yield context

    @contextmanager
    def reading(
        self, agent_id: str, actor: Actor, session_id: str | None, form: Format
    ) -> Iterator[OperationContext]:
        """Do as ``dry_run`` without fetching texts first."""
        with snapshot_of(self.database, agent_id) as connection:
            yield self._open_context(connection, agent_id, actor, session_id, form)

    def _open_context(
        self,
        connection: Connection,
        agent_id: str,
        actor: Actor,
        session_id: str | None,
        form: Format,
    ) -> OperationContext:
        """Return a context whose window is collapsed as readers see it."""
        spec = self._window_spec(connection, agent_id, session_id, form)
        opened = open_workspace(connection, agent_id, self.store, spec)
        opened.workspace.enforce_if_over()
        return OperationContext(connection, agent_id, actor, opened)

    def _window_spec(
        self,
        connection: Connection,
        agent_id: str,
        session_id: str | None,
        form: Format = Format.MARKDOWN,
    ) -> WindowSpec:
        rules = page_rules_of(connection, agent_id, self.rules)
        viewer = session_viewer(connection, agent_id, session_id)
        return WindowSpec(viewer, self.counter.count, rules, form)


def _first(done: Answer) -> Answer:
    """Mark the answer as one that created the agent: its id may be misspelt."""
    is_change = isinstance(done, PageChange)
    return done.model_copy(update={"new_agent": True}) if is_change else done


def perform(context: OperationContext, asked: ToolRequest) -> Answer:
    """Run one call; discard the context after an error."""
    if context.actor is Actor.AGENT and not asked.tool.for_agents:
        raise RefusedError(f"{asked.tool.name} is for developers alone")
    answer = OPERATION_HANDLERS[asked.tool.request](context, asked.request)
    if asked.tool.changes and asked.tool.undone:
        context.done.append(asked.tool.name)
    return answer
