"""Random operations of an agent on its pages, compared with a simple model."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from memci.domain.pages.operations import (
    create_contents_page,
    create_detail_page,
    expand_details,
    hide_details,
    move_page,
    remove_page,
    restore_page,
)
from memci.domain.pages.page import Lifecycle, Page, Permission, Segment, SegmentKind
from memci.domain.pages.permission import Actor
from memci.domain.pages.render import Rendering
from memci.domain.pages.tree import Tree
from memci.domain.pages.undo import Edit, merged_edits, pending_edits, redo_step, undo_step
from memci.domain.pages.window_labels import labels_of
from memci.domain.pages.window_text import BlockWriter, Format, PageContent
from memci.errors import MemciError, NotFoundError, RefusedError
from memci.language.detection import Language
from memci.smallmodel.offline.token_counter import OfflineTokenCounter
from tests.support.examples import examples
from tests.support.simple_pages import SimpleTree

THOROUGH = settings(max_examples=examples(2_000), stateful_step_count=25)
count = OfflineTokenCounter().count
places = st.integers(0, 60)  # chooses a page, also a removed one, by its place
OPERATIONS = ("create", "move", "file_away", "expand", "hide", "remove", "restore")
several = st.lists(st.tuples(st.sampled_from(OPERATIONS), places, places), min_size=2, max_size=5)
names = st.text("ab #`\n页", min_size=1, max_size=12).filter(lambda text: text.strip())


class Operations(RuleBasedStateMachine):
    """An agent's page tree, and a simple model of it."""

    @initialize()
    def plant(self) -> None:
        self.tree, self.model = Tree.new(), SimpleTree()
        self.tree.add_segment(
            Segment("tool", SegmentKind.TOOL, Permission.READ_WRITE, name="Tools")
        )
        for segment in self.tree.segments.values():
            frozen = segment.permission is not Permission.READ_WRITE
            self.model.plant(segment.id, frozen=frozen)
        create_detail_page(self.tree, Actor.DEVELOPER, name="Rules", description="", parent="sys-0")
        self.model.add("sys-0", folder=False)
        self.tree.changed.clear()
        self.rendering = Rendering(
            self.tree,
            BlockWriter(Format.MARKDOWN, labels_of(Language.ENGLISH)),
            count,
            lambda page: PageContent(text=f"# What {page.index} says\n```\n"),
        )
        self.used_indexes: set[str] = set(self.tree.pages)

    def index(self, which: int) -> str:
        every = list(self.tree.pages)
        return every[which % len(every)]

    def perform(self, operation: Callable[[], Page], *, allowed: bool) -> Page | None:
        """Do an allowed operation; check that a forbidden one is refused and changes nothing."""
        before = dict(self.tree.pages)
        self.tree.changed.clear()
        if allowed:
            done = operation()
            self.rendering.refresh(self.tree.changed)
            self.step: list[Edit] = pending_edits(self.tree)
            self.before = before
            return done
        with pytest.raises(RefusedError):
            operation()
        assert self.tree.pages == before
        return None

    @rule(parent=places, name=names, folder=st.booleans())
    def create(self, parent: int, name: str, folder: bool) -> None:
        above = self.index(parent)
        living = self.model.living()
        allowed = above in living and living[above].folder and not self.model.is_frozen(above)
        make = create_contents_page if folder else create_detail_page
        made = self.perform(
            lambda: make(self.tree, Actor.AGENT, name=name, description=name, parent=above),
            allowed=allowed,
        )
        if made is not None:
            assert made.index not in self.used_indexes, "an index came back"
            assert made.index == self.model.add(above, folder=folder)
            self.used_indexes.add(made.index)

    @rule(source=places, into=places)
    def move(self, source: int, into: int) -> None:
        page, folder = self.index(source), self.index(into)
        allowed = self.model.may_move(page, folder)
        self.perform(
            lambda: move_page(self.tree, Actor.AGENT, source=page, target=folder),
            allowed=allowed,
        )
        if allowed:
            self.model.move(page, folder)

    @rule(children=st.lists(places, max_size=3), parent=places)
    def file_away(self, children: list[int], parent: int) -> None:
        above = self.index(parent)
        filed = list(dict.fromkeys(self.index(each) for each in children))
        living = self.model.living()
        allowed = (
            above in living
            and living[above].folder
            and not self.model.is_frozen(above)
            and all(self.model.may_move(each, above) for each in filed)
        )
        made = self.perform(
            lambda: create_contents_page(
                self.tree, Actor.AGENT, name="New", description="", parent=above, children=filed
            ),
            allowed=allowed,
        )
        if made is not None:
            new = self.model.add(above, folder=True)
            self.used_indexes.add(new)
            for each in filed:
                self.model.move(each, new)

    @rule(which=places)
    def expand(self, which: int) -> None:
        page = self.index(which)
        allowed = page in self.model.living()
        self.perform(lambda: expand_details(self.tree, Actor.AGENT, index=page), allowed=allowed)
        if allowed:
            self.model.expand(page)

    @rule(which=places)
    def hide_and_expand(self, which: int) -> None:
        """Check that the window is the same afterwards."""
        page = self.index(which)
        modelled = self.model.living().get(page)
        if modelled is None or self.model.is_frozen(page) or not modelled.expanded:
            return
        before = self.rendering.window()
        self.perform(lambda: hide_details(self.tree, Actor.AGENT, index=page), allowed=True)
        modelled.expanded = False
        self.both_agree()
        was_open = all(each.expanded for each in self.model.path(page))
        if was_open:
            self.expand(which)
            assert self.rendering.window() == before

    @rule(which=places)
    def hide(self, which: int) -> None:
        page = self.index(which)
        allowed = not self.model.is_frozen(page)
        self.perform(lambda: hide_details(self.tree, Actor.AGENT, index=page), allowed=allowed)
        if allowed:
            {**self.model.living(), **self.model.gone()}[page].expanded = False

    @rule(which=places)
    def remove(self, which: int) -> None:
        page = self.index(which)
        roots = {root.index for root in self.model.roots.values()}
        allowed = (
            page in self.model.living() and page not in roots and not self.model.is_frozen(page)
        )
        self.perform(lambda: remove_page(self.tree, Actor.AGENT, index=page), allowed=allowed)
        if allowed:
            self.model.remove(page)

    @rule(which=places, parent=places)
    def restore(self, which: int, parent: int) -> None:
        page, above = self.index(which), self.index(parent)
        living = self.model.living()
        allowed = (
            page in self.model.removed
            and above in living
            and living[above].folder
            and page.rsplit("-", 1)[0] == above.rsplit("-", 1)[0]
            and not self.model.is_frozen(above)
        )
        self.perform(
            lambda: restore_page(self.tree, Actor.AGENT, index=page, parent=above),
            allowed=allowed,
        )
        if allowed:
            self.model.restore(page, above)

    @rule(operations=several)
    def do_several(self, operations: list[tuple[str, int, int]]) -> None:
        """Do several operations as one step; some may be refused."""
        before, edits = dict(self.tree.pages), list[Edit]()
        for name, one, other in operations:
            self.step = []
            match name:
                case "create":
                    self.create(one, "New", bool(other % 2))
                case "file_away":
                    self.file_away([one, other], 0)
                case "move" | "restore":
                    getattr(self, name)(one, other)
                case _:
                    getattr(self, name)(one)
            edits += self.step
        self.step, self.before = merged_edits(self.tree, edits), before

    @precondition(lambda self: getattr(self, "step", None))
    @rule()
    def undo_and_redo(self) -> None:
        """Check that undo restores the pages before the step, and redo those after it."""
        after, window = dict(self.tree.pages), self.rendering.window()
        self.tree.changed.clear()
        undo_step(self.tree, self.step)
        self.rendering.refresh(self.tree.changed)
        assert len({edit.index for edit in self.step}) == len(self.step)
        for index, page in self.tree.pages.items():
            assert page == self.before.get(index, page)
            assert index in self.before or page.cold
        self.tree.changed.clear()
        redo_step(self.tree, self.step)
        self.rendering.refresh(self.tree.changed)
        assert self.tree.pages == after
        assert self.rendering.window() == window

    @rule(index=st.text(max_size=8))
    def expand_an_unknown_page(self, index: str) -> None:
        if index not in self.tree.pages:
            with pytest.raises(NotFoundError):
                expand_details(self.tree, Actor.AGENT, index=index)

    @invariant()
    def both_agree(self) -> None:
        if not hasattr(self, "model"):
            return
        living = {page.index: page for page in self.tree.pages.values() if not page.cold}
        assert {
            index: (
                page.is_folder,
                page.expanded,
                [each.index for each in self.tree.children(index)],
            )
            for index, page in living.items()
        } == self.model.shape()
        seen = [page.index for each in self.tree.segments.values() if self.tree.count(each.root)
                for page in self.rendering.visible.shown_pages(each)]  # fmt: skip
        assert seen == self.model.seen()
        active = {i for i in living if self.tree.lifecycle(i) is Lifecycle.ACTIVE}
        assert (
            active - {root.index for root in self.model.roots.values()} <= set(seen) <= set(living)
        )
        self.check_rendering()

    def check_rendering(self) -> None:
        """Check that the updated rendering equals a new one and that its tokens are exact."""
        window = self.rendering.window()
        new = Rendering(self.tree, self.rendering.writer, count, self.rendering.reads).window()
        assert window == new
        tokens = sum(count(each.content or "") + 4 for each in window.messages)
        assert window.tokens == (tokens + 3 if window.messages else 0) == self.rendering.tokens()


@pytest.mark.timeout(300)
def test_every_sequence_of_operations_ends_as_the_rules_say() -> None:
    run_state_machine_as_test(Operations, settings=THOROUGH)


def test_an_error_says_what_to_do() -> None:
    tree = Tree.new()
    with pytest.raises(MemciError, match="root of its segment"):
        remove_page(tree, Actor.AGENT, index="usr-0")
