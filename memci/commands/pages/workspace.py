"""The context of page operations: the workspace, changed pins, and saving (P16, P17, R7)."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import NamedTuple, TypeVar

from memci.domain.pages.page import Page
from memci.domain.pages.parameters import PageRules
from memci.domain.pages.permission import Actor
from memci.domain.pages.pins import Maker, Pin, PinKind
from memci.domain.pages.render import Rendering
from memci.domain.pages.tree import Tree, no_page
from memci.domain.pages.undo import Edit, merged_edits
from memci.errors import NotFoundError, RefusedError, TooLargeError
from memci.message import Message
from memci.schemas.pages import PageOut, WindowEffect, page_out
from memci.storage.pages.tree import load_pages
from memci.storage.pages.undo_steps import add_step, mark_undone
from memci.storage.pages.workspace import Workspace
from memci.storage.pins import save_pins
from memci.storage.session import Connection


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

    def take_down(self, number: int, by: Actor) -> int:
        """Unpin a text, and return its number.

        Raises ``RefusedError`` if an agent unpins a developer's pin.
        """
        visible = self.rendering.pins if by is Actor.AGENT else [*self.pins, *self._added.values()]
        pin = next((each for each in visible if each.number == number), None)
        if pin is None:
            raise NotFoundError(f"nothing is pinned as {number}")
        if by is Actor.AGENT and pin.by == Maker.DEVELOPER:
            raise RefusedError(f"pin {number} was set by the developer, and stays")
        self.rendering.pin(each for each in self.rendering.pins if each.number != number)
        self._taken_down.add(number)
        return number

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


@dataclass
class OperationContext:
    """The state that operations work on. Nothing is written before ``save``."""

    connection: Connection
    agent_id: str
    actor: Actor
    workspace: Workspace
    is_new_agent: bool = False  # created by this request: its id may be misspelt
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
            load_pages(self.connection, self.agent_id, self.tree, unknown)

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

    def effect(self, before: int) -> WindowEffect:
        """Return the effect on a window that took ``before`` tokens (P13)."""
        return WindowEffect(
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
            mark_undone(self.connection, self.agent_id, number, undone=undone)
        step = merged_edits(self.tree, self._edits)
        if self.actor is Actor.AGENT and step:
            user = self.tree.viewer.user_id
            add_step(self.connection, self.agent_id, user, self.operations, step)
