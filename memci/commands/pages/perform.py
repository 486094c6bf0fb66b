"""Run page operations: all of one request in one transaction, or none (P15, P16)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import NamedTuple, TypeAlias, TypedDict, TypeVar
from uuid import uuid4

from memci.commands.pages.operations import OPERATION_HANDLERS
from memci.domain.pages.block import Format
from memci.domain.pages.page import Page
from memci.domain.pages.parameters import PageRules
from memci.domain.pages.permission import Actor
from memci.domain.pages.pins import Maker, Pin
from memci.domain.pages.render import Rendering
from memci.domain.pages.tree import Tree, no_page
from memci.domain.pages.undo import Edit, merged_edits
from memci.errors import ConflictError, NotFoundError, PageStoreError, RefusedError, TooLargeError
from memci.language.key_messages.rules import PinKind
from memci.message import Message
from memci.queue.job_requests import request_naming_by_read
from memci.schemas.base import Answer, Request
from memci.schemas.pages import PageChange, PageOut, page_out
from memci.schemas.tool_table import Tool
from memci.smallmodel.ports import TokenCounter
from memci.storage.agents import check_there, is_there, snapshot_of
from memci.storage.page_store.port import PageStore
from memci.storage.pages import texts, tree, undo_steps
from memci.storage.pages.workspace import (
    Workspace,
    is_batch,
    open_visible,
    open_workspace,
    window_spec,
)
from memci.storage.pins import save_pins
from memci.storage.session import Connection, Database


@dataclass
class PinChanges:
    """Changes of the pins of a window; nothing is written before ``save``."""

    rendering: Rendering
    rules: PageRules
    pins: Sequence[Pin]  # of all users
    last: int  # number given
    _added: dict[int, Pin] = field(default_factory=dict)
    _taken_down: set[int] = field(default_factory=set)
    _dropped: set[int] = field(default_factory=set)

    def add(self, kind: PinKind, by: Actor, content: str | Message) -> Pin:
        """Pin a text; raises ``RefusedError`` for too many pins and ``TooLargeError`` for too long.

        An agent pins for its current user, a developer for all users, a message for its own user.
        Pins of the detector are dropped to make room, oldest first. The limits hold for every user
        who sees the pin.
        """
        pin = self._new_pin(kind, by, content)
        for others in list(self._windows_of(pin)):
            self._check_room(self._with_room(others, pin), pin)
        if self.rendering.tree.viewer.sees(pin):
            self.rendering.pin((*self.rendering.pins, pin))
        self.last += 1
        self._added[pin.number] = pin
        return pin

    def take_down(self, number: int, by: Actor) -> None:
        """Unpin a text; raises ``RefusedError`` if an agent unpins a developer's pin."""
        visible = self.rendering.pins if by is Actor.AGENT else [*self.pins, *self._added.values()]
        pin = next((each for each in visible if each.number == number), None)
        if pin is None:
            raise NotFoundError(f"nothing is pinned as {number}")
        if by is Actor.AGENT and pin.by == Maker.DEVELOPER:
            raise RefusedError(f"pin {number} was set by the developer, and stays")
        self.rendering.pin(each for each in self.rendering.pins if each.number != number)
        self._taken_down.add(number)

    def save(self, connection: Connection, agent_id: str) -> None:
        """Write the changes. The tree must be locked."""
        save_pins(connection, agent_id, self._added.values(), self._taken_down, self._dropped)

    def _new_pin(self, kind: PinKind, by: Actor, content: str | Message) -> Pin:
        number, now = self.last + 1, datetime.now(UTC)
        user = self.rendering.tree.viewer.user_id if by is Actor.AGENT else None
        if isinstance(content, str):
            return Pin(number, kind, content, by.value, now, user_id=user)
        return Pin(number, kind, content.text, by.value, now, content.seq, user or content.user_id)

    def _windows_of(self, pin: Pin) -> Iterator[Sequence[Pin]]:
        """Yield the other pins of this window, then those of each user who will see the pin."""
        if self.rendering.tree.viewer.sees(pin):
            yield self.rendering.pins
        unpinned = self._taken_down | self._dropped
        left = [each for each in (*self.pins, *self._added.values()) if each.number not in unpinned]
        users = [pin.user_id] if pin.user_id else [each.user_id for each in left if each.user_id]
        for user in dict.fromkeys(users):
            yield [each for each in left if each.user_id in {None, user}]

    def _with_room(self, others: Sequence[Pin], pin: Pin) -> Sequence[Pin]:
        """Return the other pins after dropping as many of the detector's as necessary."""
        left = [each for each in others if each.number not in self._dropped]
        for old in [each for each in left if each.by == Maker.DETECTOR]:
            takes = self.rendering.tokens_of_pins((*left, pin))
            if len(left) < self.rules.max_pins and takes <= self.rules.pins_max_tokens:
                break
            left.remove(old)
            self._dropped.add(old.number)
            self.rendering.pin(each for each in self.rendering.pins if each is not old)
        return left

    def _check_room(self, others: Sequence[Pin], pin: Pin) -> None:
        if len(others) >= self.rules.max_pins:
            raise RefusedError(
                f"no more texts than {len(others)} can be pinned: unpin takes one down"
            )
        most = self.rules.pins_max_tokens
        takes = self.rendering.tokens_of_pins((*others, pin))
        if takes > most:
            raise TooLargeError(
                f"with it all pinned texts would take {takes} tokens, and"
                f" {most} is the most: pin something shorter, or take something down with unpin",
                field="text" if pin.message_seq is None else "message",
            )


T = TypeVar("T")


class TreeVersion(NamedTuple):
    """Identifies the state of a tree: equal versions mean equal trees."""

    version: int
    settled_seq: int


class Effect(TypedDict):
    """Effect on the window: tokens before, after and over the limit; collapsed pages (P13)."""

    tokens_before: int
    tokens_after: int
    over: int
    collapsed: list[str]


@dataclass
class OperationContext:
    """The state that operations work on. Nothing is written before ``save``."""

    connection: Connection
    agent_id: str
    actor: Actor
    workspace: Workspace
    operations: list[str] = field(default_factory=list)  # their names, for the undo step
    undone_steps: dict[int, bool] = field(default_factory=dict)  # by step number: undone now?
    _edits: list[Edit] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.tree: Tree = self.workspace.tree
        self.rendering: Rendering = self.workspace.rendering
        self.mark = TreeVersion(self.workspace.version, self.tree.counters.settled_seq)
        self.pins = PinChanges(self.rendering, self.workspace.rules, *self.workspace.pins)

    def load_visible(self, indexes: Sequence[str]) -> None:
        """Load pages; raises ``NotFoundError`` for those that the actor may not see."""
        self.load(indexes)
        for each in indexes:
            if each in self.tree.pages and not self.sees(self.tree[each]):
                raise no_page(each)

    def load(self, indexes: Sequence[str]) -> None:
        """Load pages that are not in the window: removed ones, and those of other sessions."""
        unknown = [each for each in indexes if each not in self.tree.pages]
        if unknown:
            tree.load_pages(self.connection, self.agent_id, self.tree, unknown)

    def sees(self, page: Page) -> bool:
        """Return True if the actor may see a page; a developer sees all."""
        return self.actor is Actor.DEVELOPER or self.tree.sees(page)

    def page(self, index: str) -> Page:
        """Return a page that the actor may see; an agent sees no removed page (P2)."""
        self.load_visible([index])
        page = self.tree[index]
        if page.cold and self.actor is Actor.AGENT:
            raise RefusedError(f"{index} was removed from the context: restore_page brings it back")
        return page

    def out(self, page: Page) -> PageOut:
        """Return a page in the form of answers."""
        return page_out(self.rendering, page.index)

    def do(self, operation: Callable[[], T]) -> tuple[T, list[Edit]]:
        """Run a change as part of the undo step; return its result and its edits."""
        result, edits = self.workspace.do(operation)
        self._edits += edits
        return result, edits

    def effect(self, before: int) -> Effect:
        """Return the effect on a window that took ``before`` tokens."""
        return Effect(
            tokens_before=before,
            tokens_after=self.rendering.tokens(),
            over=self.workspace.over,
            collapsed=list(self.rendering.collapsed()),
        )

    def save(self) -> None:
        """Write all changes; those of an agent become one undo step. The tree must be locked."""
        # The only request to a remote store under the lock, since the key contains the page index.
        # A store accepts or refuses each text within half a minute.
        self.workspace.texts.notes.save()
        self.pins.save(self.connection, self.agent_id)
        self.workspace.save(self.connection, self.agent_id)
        for number, undone in self.undone_steps.items():
            undo_steps.mark_undone(self.connection, self.agent_id, number, undone=undone)
        step = merged_edits(self.tree, self._edits)
        if self.actor is Actor.AGENT and step:
            user = self.tree.viewer.user_id
            undo_steps.add_step(self.connection, self.agent_id, user, self.operations, step)


# Request fields with the index of a page that the operation may expand.
_OPENED = ("index", "source")


@dataclass(frozen=True, slots=True)
class ToolRequest:
    """A call of a tool with its arguments; ``id`` is unique."""

    tool: Tool
    request: Request
    id: str = field(default_factory=lambda: uuid4().hex)


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
    ) -> list[Answer]:
        """Run the calls in order on the window of a session (None: that of the last message).

        Tokens are counted for a window in the format ``form``. Creating a page creates the agent
        if it does not exist.

        Raises ``NotFoundError`` for no such agent or page, ``RefusedError`` for a forbidden
        operation, ``PageStoreError`` if a text cannot be saved, and ``ConflictError`` if the tree
        is no longer at the version ``mark``.
        """
        prefetched = self._prefetched(agent_id, calls, session_id)
        if not any(each.tool.changes for each in calls):
            with snapshot_of(self.database, agent_id) as connection:
                context = prefetched.open(connection, agent_id, actor, session_id, form)
                answers = [performer(context, each) for each in calls]
            request_naming_by_read(self.database, agent_id, context.workspace.settled)
            return answers
        with self.database.agent_transaction(agent_id) as connection:
            begins = any(each.tool.begins for each in calls)
            is_new = begins and tree.begin_agent(connection, agent_id)
            # The lane's row before the tree: otherwise a new message's page could be shown with an
            # index that is given to another page here (P1).
            tree.lock_lane(connection, agent_id)
            tree.lock_tree(connection, agent_id)
            # Afterwards: an erasure that held the lock has ended by now.
            check_there(connection, agent_id)
            context = prefetched.open(connection, agent_id, actor, session_id, form)
            if mark not in {None, context.mark}:
                raise ConflictError("the pages have changed meanwhile: look at the window again")
            answers = [performer(context, each) for each in calls]
            context.save()
        if is_new:  # the id may be misspelt
            return [
                each.model_copy(update={"new_agent": True})
                if isinstance(each, PageChange)
                else each
                for each in answers
            ]
        return answers

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
        prefetched = self._prefetched(agent_id, (), session_id)
        with snapshot_of(self.database, agent_id) as connection:
            yield prefetched.open(connection, agent_id, actor, session_id, form)

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
        store = texts.prefetch_texts(self.database, self.store, agent_id)
        with self.database.agent_transaction(agent_id) as connection:
            if not is_there(connection, agent_id):
                return
            tree.lock_tree(connection, agent_id)
            # Afterwards once more: an erasure that held the lock has ended by now.
            if is_there(connection, agent_id):
                spec = window_spec(connection, agent_id, self.counter.count, self.rules)
                workspace = open_workspace(connection, agent_id, store, spec)
                if workspace.tree.changed:
                    workspace.save(connection, agent_id)

    def settle_before_erasing(self, agent_id: str) -> None:
        """Do as ``settle``, so that ``settle_in`` has little to do; ignores ``PageStoreError``."""
        with suppress(PageStoreError):
            self.settle(agent_id)

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
        store = texts.prefetch_texts(
            self.database, self.store, agent_id, session_id, [*filter(None, named)]
        )
        return replace(self, store=store)
