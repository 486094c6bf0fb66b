"""An agent's pages, opened for some operations in a row (P4, P16, P17)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypedDict, TypeVar

from memci.commands.pages.pinning import Pinning
from memci.domain.pages.desk import Desk
from memci.domain.pages.labels import Labels
from memci.domain.pages.page import Page
from memci.domain.pages.permission import Actor
from memci.domain.pages.tree import Tree, no_page
from memci.domain.pages.undo import Edit, step_of
from memci.errors import RefusedError
from memci.shapes.page_out import page_out
from memci.shapes.pages import PageOut
from memci.storage.desks import OpenDesk
from memci.storage.page_saving import save_tree
from memci.storage.page_steps import add_step, mark_undone
from memci.storage.pages import know_pages
from memci.storage.session import Connection

T = TypeVar("T")


class Mark(NamedTuple):
    """What a tree was when it was opened: the same mark, the same tree."""

    version: int
    settled_seq: int


class Effect(TypedDict):
    """What was done to the window: its tokens, those over a limit, and what was hidden (P13)."""

    tokens_before: int
    tokens_after: int
    over: int
    collapsed: list[str]


@dataclass
class Bench:
    """What operations work on. Nothing is written before ``save``.

    ``turned``: steps, and whether they are undone now.
    """

    connection: Connection
    agent_id: str
    actor: Actor
    opened: OpenDesk
    done: list[str] = field(default_factory=list)
    turned: dict[int, bool] = field(default_factory=dict)
    _edits: list[Edit] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.mark = Mark(self.opened.version, self.tree.clock.settled_seq)
        self.pinning = Pinning(self.desk.rendering, self.desk.rules, *self.opened.pins)

    @property
    def desk(self) -> Desk:
        """The desk."""
        return self.opened.desk

    @property
    def tree(self) -> Tree:
        """The tree."""
        return self.desk.tree

    @property
    def labels(self) -> Labels:
        """The words of the agent's language."""
        return self.desk.rendering.writer.labels

    @property
    def tokens(self) -> int:
        """What the window takes."""
        return self.desk.rendering.tokens()

    def know(self, indexes: Sequence[str]) -> None:
        """Have the pages that are spoken of; to an agent those of other users are none."""
        self.fetch(indexes)
        for each in indexes:
            if each in self.tree.pages and not self.sees(self.tree[each]):
                raise no_page(each)

    def fetch(self, indexes: Sequence[str]) -> None:
        """Fetch pages that are not in the window: cold, or of other sessions."""
        unknown = [each for each in indexes if each not in self.tree.pages]
        if unknown:
            know_pages(self.connection, self.agent_id, self.tree, unknown)

    def sees(self, page: Page) -> bool:
        """Tell whether the actor may see a page: a developer sees all."""
        return self.actor is Actor.DEVELOPER or self.tree.sees(page)

    def page(self, index: str) -> Page:
        """Return a page that the actor may see; agents see nothing of what was removed (P2)."""
        self.know([index])
        page = self.tree[index]
        if page.cold and self.actor is Actor.AGENT:
            raise RefusedError(f"{index} was removed from the context: restore_page brings it back")
        return page

    def out(self, index: str) -> PageOut:
        """Return a page as it is now."""
        return page_out(self.desk.rendering, index)

    def do(self, act: Callable[[], T]) -> tuple[T, list[Edit]]:
        """Do something, as part of the step that is saved; return what it has changed, too."""
        known = len(self.desk.steps)
        done = self.desk.do(act)
        edits = self.desk.steps[known:]
        self._edits += edits
        return done, edits

    def effect(self, before: int) -> Effect:
        """Return what was done to a window that took so many tokens ``before``."""
        return Effect(
            tokens_before=before,
            tokens_after=self.tokens,
            over=self.desk.over,
            collapsed=list(self.desk.rendering.collapsed()),
        )

    def save(self) -> None:
        """Write what was ``done``; what an agent did is one step. The tree must be locked."""
        # All that a far store is asked under the lock: the key of a text has its page's index in
        # it. Each text is kept, or refused, within half a minute.
        self.opened.texts.save()
        self.pinning.save(self.connection, self.agent_id)
        save_tree(self.connection, self.agent_id, self.tree, self.opened.version + 1)
        for number, undone in self.turned.items():
            mark_undone(self.connection, self.agent_id, number, undone=undone)
        step = step_of(self.tree, self._edits)
        if self.actor is Actor.AGENT and step:
            user = self.tree.viewer.user_id
            add_step(self.connection, self.agent_id, user, self.done, step)
