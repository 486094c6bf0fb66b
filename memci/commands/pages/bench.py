"""An agent's pages, opened for some operations in a row (P4, P16, P17)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

from memci.commands.pages.pinning import Pinning
from memci.commands.tools.place import place_in
from memci.domain.message import Message
from memci.domain.pages.collapse import collapse_to
from memci.domain.pages.excess import room_for
from memci.domain.pages.finding import score, words_of
from memci.domain.pages.labels import Labels
from memci.domain.pages.operations import give_text
from memci.domain.pages.page import Lifecycle, Page
from memci.domain.pages.part import Part, part_of, rest_of
from memci.domain.pages.permission import Actor, shows_current
from memci.domain.pages.tree import Permission, Tree, no_page
from memci.domain.pages.undo import Edit, do_again, folders_of, take_back
from memci.domain.pages.viewer import ANYBODY
from memci.errors import NotFoundError, RefusedError
from memci.shapes import pins as shapes
from memci.shapes.page_out import page_out
from memci.shapes.pages import CollapseAnswer, PageChange, PageOut, StepAnswer
from memci.shapes.pins import PinChange
from memci.storage.desks import OpenDesk
from memci.storage.page_steps import Step, add_step, mark_undone, step_to_redo, step_to_undo
from memci.storage.pages import find_pages, know_pages, save_tree
from memci.storage.pins import said_as
from memci.storage.session import Connection

T = TypeVar("T")
_MOST_ENTRIES = 50


class Mark(NamedTuple):
    """What a tree was when it was opened: the same mark, the same tree."""

    version: int
    settled_seq: int


@dataclass
class Bench:
    """What operations work on. Nothing is written before ``save``."""

    connection: Connection
    agent_id: str
    actor: Actor
    opened: OpenDesk
    done: list[str] = field(default_factory=list)
    _edits: list[Edit] = field(default_factory=list)
    _turned: dict[int, bool] = field(default_factory=dict)  # steps, and whether they are undone now

    def __post_init__(self) -> None:
        self.mark = Mark(self.opened.version, self.tree.clock.settled_seq)
        desk = self.opened.desk
        self._pinning = Pinning(desk.rendering, desk.rules, *self.opened.pins)

    @property
    def tree(self) -> Tree:
        """The tree."""
        return self.opened.desk.tree

    @property
    def labels(self) -> Labels:
        """The words of the agent's language."""
        return self.opened.desk.rendering.writer.labels

    @property
    def tokens(self) -> int:
        """What the window takes."""
        return self.opened.desk.rendering.tokens()

    def know(self, indexes: Sequence[str]) -> None:
        """Have the pages that are spoken of; to an agent those of other users are none."""
        self._fetch(indexes)
        for each in indexes:
            if each in self.tree.pages and not self._sees(self.tree[each]):
                raise no_page(each)

    def _fetch(self, indexes: Sequence[str]) -> None:
        """Fetch pages that are not in the window: cold, or of other sessions."""
        unknown = [each for each in indexes if each not in self.tree.pages]
        if unknown:
            know_pages(self.connection, self.agent_id, self.tree, unknown)

    def _sees(self, page: Page) -> bool:
        return self.actor is Actor.DEVELOPER or self.tree.sees(page)

    def page(self, index: str) -> Page:
        """Return a page that the actor may see; agents see nothing of what was removed (P2)."""
        self.know([index])
        page = self.tree[index]
        if page.cold and self.actor is Actor.AGENT:
            raise RefusedError(f"{index} was removed from the context: restore_page brings it back")
        return page

    def children(self, page: Page) -> list[Page]:
        """Return what the session sees directly in a folder, however much of others was read."""
        rendering = self.opened.desk.rendering
        is_agent = self.actor is Actor.AGENT
        return list(rendering.inside(page) if is_agent else rendering.lying_in(page))

    def part(self, text: str, offset: int) -> Part:
        """Return a text from an offset on; for an agent as much of it as a model reads at once."""
        if self.actor is Actor.AGENT:
            return part_of(text, offset, self.opened.desk.rendering.count)
        return Part(rest_of(text, offset), None)

    def entries(self, page: Page) -> list[str]:
        """Return the lines of a page's messages; for an agent the first ones of very many."""
        return list(page.entries[: _MOST_ENTRIES if self.actor is Actor.AGENT else None])

    def found(self, query: str, limit: int) -> list[PageOut]:
        """Return pages that hold the words of a query, best first, removed ones too."""
        words, known = words_of(query), self.tree.pages
        shown = [page for page in known.values() if self._sees(page)]
        within = self.opened.texts.words_in(shown, words)
        here = [(score(page, words, within.get(page.index, ())), page.index) for page in shown]
        viewer = self.tree.viewer if self.actor is Actor.AGENT else ANYBODY
        others = find_pages(self.connection, self.agent_id, viewer, words, known, limit)
        scored = sorted([*here, *others], key=lambda hit: (hit[0], _number(hit[1])), reverse=True)
        indexes = [index for held, index in scored[:limit] if held]
        self._fetch(indexes)
        return [self.out(index) for index in indexes if self._sees(self.tree[index])]

    def out(self, index: str) -> PageOut:
        """Return a page as it is now."""
        return page_out(self.opened.desk.rendering, index)

    # Changing

    def change(
        self,
        operation: Callable[[Tree, Actor], Page],
        *named: str,
        text: str | None = None,
    ) -> PageChange:
        """Do an operation that speaks of these pages, and keep the window to its limits (P13)."""
        self.know(named)
        before = self.tokens
        page, edits = self._do(lambda: self._written(operation(self.tree, self.actor), text))
        self.opened.desk.look_after()
        return PageChange(
            page=self.out(page.index),
            changed=[each.index for each in edits],
            tokens_before=before,
            tokens_after=self.tokens,
            over=self.opened.desk.over,
            collapsed=list(self.opened.desk.rendering.collapsed()),
            new_session=self.tree.viewer.names_new_session,
        )

    def open(self, operation: Callable[[Tree, Actor], Page], index: str) -> PageChange:
        """Do an operation that opens a page; ``RefusedError`` when the window has no room for it.

        Then the bench must be thrown away.
        """
        self.know([index])
        over = self.opened.desk.over
        done = self.change(operation, index)
        if self._is_current(index) or (self._is_open(index) and done.over <= over):
            return done
        desk = self.opened.desk
        room = room_for(desk.rendering, desk.rules, index, desk.kept)
        raise RefusedError(
            f"{index} does not fit: it takes {room.takes:,} tokens, and at most {room.free:,} of"
            f" {room.most:,} can be free for it; "
            + ("get_children lists" if self.tree[index].is_folder else "get_page reads")
            + " what it holds without opening it"
        )

    def _is_open(self, index: str) -> bool:
        is_active = self.tree.lifecycle(index) is Lifecycle.ACTIVE
        return self.tree[index].expanded and is_active

    def _is_current(self, index: str) -> bool:
        """Tell whether it is what is being answered, or a folder above it: both stay open."""
        current = self.tree.latest(self.tree.viewer.session_id)
        if current is None:
            return False
        above = (each.index for each in self.tree.ancestors(current.index))
        return index in {current.index, *above}

    def pin(self, asked: shapes.Pin) -> PinChange:
        """Pin a text, and keep the window to its limits (P13)."""
        said = self._said(asked)
        return self._pinned(lambda: self._pinning.add(asked.kind, self.actor, said).number)

    def unpin(self, number: int) -> PinChange:
        """Take a text down."""

        def take_down() -> int:
            self._pinning.take_down(number, self.actor)
            return number

        return self._pinned(take_down)

    def _said(self, asked: shapes.Pin) -> str | Message:
        if asked.message is None:
            return asked.text or ""
        if self.actor is Actor.AGENT:
            session = self.opened.desk.rendering.session_id
            place_in(self.connection, self.agent_id, session).seqs(self.connection, [asked.message])
        said = said_as(self.connection, self.agent_id, asked.message)
        if said is None or not said.text.strip():
            raise NotFoundError("there is no message of this id that says something")
        return said

    def _pinned(self, act: Callable[[], int]) -> PinChange:
        before = self.tokens
        number, _ = self._do(act)
        self.opened.desk.look_after()
        return PinChange(
            pin=number,
            tokens_before=before,
            tokens_after=self.tokens,
            over=self.opened.desk.over,
            collapsed=list(self.opened.desk.rendering.collapsed()),
        )

    def collapse(self, max_tokens: int) -> CollapseAnswer:
        """Hide pages until the window takes at most so many tokens, where that is possible."""
        desk = self.opened.desk
        kept, before = {*desk.kept, *self._not_to_hide()}, self.tokens
        done, _ = self._do(lambda: collapse_to(desk.rendering, max_tokens, kept))
        desk.say_excess()
        return CollapseAnswer(
            collapsed=list(done.hidden),
            tokens_before=before,
            tokens_after=self.tokens,
            over=max(0, self.tokens - max_tokens),
        )

    def _not_to_hide(self) -> Iterator[str]:
        """Yield what the actor may not hide one by one either, the archive aside (P5)."""
        if self.actor is Actor.AGENT:
            for page in self.tree.pages.values():
                if self.tree.segment_of(page).permission is not Permission.READ_WRITE:
                    yield page.index

    def undo(self) -> StepAnswer:
        """Take back what the agent did last; ``RefusedError`` when that cannot be done (P17)."""
        step = step_to_undo(self.connection, self.agent_id, self.tree.viewer.user_id)
        if step is None:
            raise RefusedError("there is nothing to undo")
        return self._turn(step, take_back, undone=True)

    def redo(self) -> StepAnswer:
        """Do again what was undone last; ``RefusedError`` when that cannot be done (P17)."""
        step = step_to_redo(self.connection, self.agent_id, self.tree.viewer.user_id)
        if step is None:
            raise RefusedError("there is nothing to redo")
        return self._turn(step, do_again, undone=False)

    def save(self) -> None:
        """Write what was ``done``; what an agent did is one step. The tree must be locked."""
        # All that a far store is asked under the lock: the key of a text has its page's index in
        # it. Each text is kept, or refused, within half a minute.
        self.opened.texts.save()
        self._pinning.save(self.connection, self.agent_id)
        save_tree(self.connection, self.agent_id, self.tree, self.opened.version + 1)
        for number, undone in self._turned.items():
            mark_undone(self.connection, self.agent_id, number, undone=undone)
        if self.actor is Actor.AGENT and self._edits:
            user = self.tree.viewer.user_id
            add_step(self.connection, self.agent_id, user, self.done, self._edits)

    def _written(self, page: Page, text: str | None) -> Page:
        if text is None:
            return page
        takes = self.opened.desk.rendering.count(text)
        return give_text(self.tree, page.index, self.opened.texts.write(page, text), takes)

    def _do(self, act: Callable[[], T]) -> tuple[T, list[Edit]]:
        desk = self.opened.desk
        known = len(desk.steps)
        done = desk.do(act)
        edits = desk.steps[known:]
        self._edits += edits
        return done, edits

    def _turn(
        self, step: Step, turn: Callable[[Tree, Sequence[Edit]], None], *, undone: bool
    ) -> StepAnswer:
        self.know([each.index for each in step.edits])
        self._fetch(folders_of(step.edits))
        desk, before = self.opened.desk, self.tokens
        was_shown = shows_current(self.tree)
        desk.do(lambda: turn(self.tree, step.edits))
        if was_shown and not shows_current(self.tree):
            raise RefusedError(
                "that would hide the interaction that you are answering: try after the user's next"
                " message"
            )
        desk.look_after()
        self._turned[step.number] = undone
        return StepAnswer(
            operations=list(step.operations),
            changed=[each.index for each in step.edits],
            tokens_before=before,
            tokens_after=self.tokens,
            over=self.opened.desk.over,
            collapsed=list(self.opened.desk.rendering.collapsed()),
        )


def _number(index: str) -> int:
    """Return the number within an index: newer pages have higher ones."""
    return int(index.rpartition("-")[2])
