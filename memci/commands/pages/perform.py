"""Run page operations: all of one request in one transaction, or none (P15, P16)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TypeAlias
from uuid import uuid4

from memci.commands.pages.operations import OPERATION_HANDLERS
from memci.commands.pages.workspace import OperationContext, TreeVersion
from memci.domain.pages.parameters import PageRules
from memci.domain.pages.permission import Actor
from memci.domain.pages.window_text import Format
from memci.errors import ConflictError, RefusedError
from memci.queue.job_requests import request_naming_by_read
from memci.schemas.base import Answer, Request
from memci.schemas.tools.table import About, Tool
from memci.smallmodel.ports import TokenCounter
from memci.storage.agents import check_there, is_there, snapshot_of
from memci.storage.key_usage import Charge, charge
from memci.storage.page_store.port import PageStore
from memci.storage.pages.texts import prefetch_texts
from memci.storage.pages.tree import begin_agent, lock_lane, lock_tree
from memci.storage.pages.workspace import is_batch, open_visible, open_workspace, window_spec
from memci.storage.session import Connection, Database

# Request fields with the index of a page that the operation may expand.
_OPENED = ("index", "source")


@dataclass(frozen=True, slots=True)
class ToolRequest:
    """A call of a tool with its arguments; ``id`` is unique."""

    tool: Tool
    request: Request
    id: str = field(default_factory=lambda: uuid4().hex)

    @property
    def writes(self) -> bool:
        """True if the tool changes memory, in a transaction that others can share."""
        return self.tool.about is About.MEMORY and self.tool.changes and self.tool.in_code


def charge_calls(
    connection: Connection, paying: Charge | None, agent_id: str, calls: Sequence[ToolRequest]
) -> None:
    """Count what calls store, and the agent that they create; raises as ``charge``.

    Call it before the lane is locked.
    """
    notes = [each.request.model_dump_json().encode() for each in calls if each.writes]
    if notes or any(each.tool.begins for each in calls):
        charge(connection, paying, agent_id, messages=len(notes), size=sum(map(len, notes)))


def perform(context: OperationContext, call: ToolRequest) -> Answer:
    """Run one call on pages; discard the context after an error."""
    if context.actor is Actor.AGENT and not call.tool.for_agents:
        raise RefusedError(f"{call.tool.name} is for developers alone")
    answer = OPERATION_HANDLERS[call.tool.request](context, call.request)
    if call.tool.changes and call.tool.undone:
        context.operations.append(call.tool.name)
    return answer


Performer: TypeAlias = Callable[[OperationContext, ToolRequest], Answer]


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
        calls: Sequence[ToolRequest],
        *,
        session_id: str | None = None,
        mark: TreeVersion | None = None,
        form: Format = Format.MARKDOWN,
        performer: Performer = perform,
        paying: Charge | None = None,
    ) -> list[Answer]:
        """Run the calls in order on the window of a session (None: that of the last message).

        Tokens are counted for a window in the format ``form``. Creating a page creates the agent
        if it does not exist.

        Raises ``NotFoundError`` for no such agent or page, ``RefusedError`` for a forbidden
        operation, ``PageStoreError`` if a text cannot be saved, ``ConflictError`` if the tree is no
        longer at the version ``mark``, and ``QuotaError``.
        """
        prefetched = self._prefetched(agent_id, calls, session_id)
        if not any(each.tool.changes for each in calls):
            with snapshot_of(self.database, agent_id) as connection:
                context = prefetched.open(connection, agent_id, actor, session_id, form)
                answers = [performer(context, each) for each in calls]
            request_naming_by_read(self.database, agent_id, context.workspace.settled)
            return answers
        with self.database.agent_transaction(agent_id) as connection:
            charge_calls(connection, paying, agent_id, calls)
            begins = any(each.tool.begins for each in calls)
            is_new = begins and begin_agent(connection, agent_id)
            # The lane's row before the tree: otherwise a new message's page could be shown with an
            # index that is given to another page here (P1).
            lock_lane(connection, agent_id)
            lock_tree(connection, agent_id)
            # Afterwards: an erasure that held the lock has ended by now.
            check_there(connection, agent_id)
            context = prefetched.open(connection, agent_id, actor, session_id, form)
            context.is_new_agent = is_new
            if mark not in {None, context.mark}:
                raise ConflictError("the pages have changed meanwhile: look at the window again")
            answers = [performer(context, each) for each in calls]
            context.save()
        return answers

    @contextmanager
    def dry_run(
        self, agent_id: str, actor: Actor, *, session_id: str | None = None
    ) -> Iterator[OperationContext]:
        """Yield a context that is never saved; raises ``NotFoundError`` for no agent."""
        prefetched = self._prefetched(agent_id, (), session_id)
        with snapshot_of(self.database, agent_id) as connection:
            yield prefetched.open(connection, agent_id, actor, session_id)

    def open(
        self,
        connection: Connection,
        agent_id: str,
        actor: Actor,
        session_id: str | None = None,
        form: Format = Format.MARKDOWN,
    ) -> OperationContext:
        """Return a context whose window is collapsed as readers see it."""
        spec = window_spec(
            connection, agent_id, self.counter.count, self.rules, session_id=session_id, form=form
        )
        workspace = open_workspace(connection, agent_id, self.store, spec)
        workspace.enforce_if_over()
        return OperationContext(connection, agent_id, actor, workspace)

    def settle(self, agent_id: str) -> None:
        """Put new messages onto pages by the present rules (P1); no error for an unknown agent."""
        store = prefetch_texts(self.database, self.store, agent_id)
        with self.database.agent_transaction(agent_id) as connection:
            if not is_there(connection, agent_id):
                return
            lock_tree(connection, agent_id)
            # Afterwards once more: an erasure that held the lock has ended by now.
            if is_there(connection, agent_id):
                spec = window_spec(connection, agent_id, self.counter.count, self.rules)
                workspace = open_workspace(connection, agent_id, store, spec)
                if workspace.tree.changed:
                    workspace.save(connection, agent_id)

    def settle_in(self, connection: Connection, agent_id: str) -> None:
        """Put new messages onto pages, in a transaction that has locked the tree.

        Reads no texts of notes and collapses nothing: the next reader of the window does.
        """
        while True:
            spec = window_spec(connection, agent_id, self.counter.count, self.rules)
            workspace, messages = open_visible(connection, agent_id, self.store, spec)
            workspace.settle(messages)
            if messages:
                workspace.save(connection, agent_id)
            if not is_batch(messages):
                return

    def _prefetched(
        self, agent_id: str, calls: Iterable[ToolRequest], session_id: str | None
    ) -> PageCommands:
        """Return a copy for one request that has fetched the texts it will show.

        Call this before anything is locked; raises ``PageStoreError``.
        """
        named = [getattr(each.request, name, None) for each in calls for name in _OPENED]
        store = prefetch_texts(
            self.database, self.store, agent_id, session_id, [*filter(None, named)]
        )
        return replace(self, store=store)
