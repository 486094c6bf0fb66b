"""Random operations on notes, on each page store, compared with the expected texts (P14)."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)

from memci.domain.pages.operations import (
    create_contents_page,
    create_detail_page,
    move_page,
    remove_page,
    restore_page,
    set_text,
)
from memci.domain.pages.page import Page
from memci.domain.pages.permission import Actor
from memci.domain.pages.tree import Tree
from memci.domain.pages.undo import Edit, pending_edits, redo_step, undo_step
from memci.errors import NotFoundError, RefusedError
from memci.storage.page_store.port import PageStore, TextKey
from memci.storage.page_store.wrappers import CachedPageStore, TextCache
from memci.storage.pages.texts import NoteTexts
from tests.support.examples import examples
from tests.support.page_stores import STORES, store_of

SEQUENCES = 2_000
# S3 needs an HTTP request for each operation, so its sequences are shorter.
STEPS = {"memory": 7, "files": 6, "postgres": 6, "s3": 4}
places = st.integers(0, 30)  # chooses a page, also a removed one, by its place
texts = st.text("ab \n页🎻", max_size=8)
agents = count()
Change = Callable[[Tree, NoteTexts], object]


class Notes(RuleBasedStateMachine):
    """An agent's notes in two processes with a cache each, and the expected texts.

    The tree stands for the database: a committed change replaces it.
    """

    store: PageStore

    @initialize()
    def plant(self) -> None:
        self.agent_id = f"agent-{next(agents)}"
        self.store_here = CachedPageStore(self.store, TextCache(2_000))
        self.other_store = CachedPageStore(self.store, TextCache(1_000_000))
        self.swept: TextKey | None = None
        self.begin()

    def begin(self) -> None:
        self.tree = Tree.new()
        self.expected: dict[str, str] = {}
        self.kept: set[TextKey] = set()
        self.done: list[tuple[list[Edit], dict[str, str]]] = []
        self.undone: list[tuple[list[Edit], dict[str, str]]] = []

    def page(self, which: int, *, notes: bool = False) -> str:
        every = list(self.expected) if notes else list(self.tree.pages)
        return every[which % len(every)]

    def opened(self) -> tuple[Tree, NoteTexts]:
        tree = self.tree
        return (
            Tree.from_stored(tree.segments, tree.pages, tree.counters),
            NoteTexts(self.agent_id, self.store_here),
        )

    def commit(self, change: Change, expected: dict[str, str]) -> None:
        """Change the tree; ``expected`` are the texts that it then should have."""
        tree, notes = self.opened()
        change(tree, notes)
        self.done.append((pending_edits(tree), self.expected))
        self.undone.clear()
        self.tree, self.expected = tree, expected

    def attempt(self, operation: Callable[[Tree], Page]) -> None:
        """Do the operation if the rules allow it. Another machine tests the rules."""
        tree, _ = self.opened()
        try:
            operation(tree)
        except RefusedError:
            return
        self.commit(lambda tree, _: operation(tree), self.expected)

    def write(self, tree: Tree, notes: NoteTexts, index: str, text: str) -> None:
        version = notes.write(tree[index], text)
        notes.save()
        self.kept.add(TextKey(self.agent_id, index, version))
        set_text(tree, index, version)

    def note(self, tree: Tree, notes: NoteTexts, parent: str, text: str) -> str:
        made = create_detail_page(tree, Actor.AGENT, name="Note", description="", parent=parent)
        self.write(tree, notes, made.index, text)
        return made.index

    @rule(text=texts)
    def create(self, text: str) -> None:
        tree, notes = self.opened()
        index = self.note(tree, notes, "usr-0", text)
        self.done.append((pending_edits(tree), self.expected))
        self.undone.clear()
        self.tree, self.expected = tree, {**self.expected, index: text}

    @precondition(lambda self: self.expected)
    @rule(which=places, text=texts)
    def rewrite(self, which: int, text: str) -> None:
        index = self.page(which, notes=True)
        self.commit(
            lambda tree, notes: self.write(tree, notes, index, text), {**self.expected, index: text}
        )

    @rule(text=texts)
    def write_and_fail(self, text: str) -> None:
        """Store a text without its page. The index is used again."""
        tree, notes = self.opened()
        self.note(tree, notes, "usr-0", text)

    @rule(which=places)
    def remove(self, which: int) -> None:
        self.attempt(lambda tree: remove_page(tree, Actor.AGENT, index=self.page(which)))

    @rule(which=places)
    def restore(self, which: int) -> None:
        index = self.page(which)
        self.attempt(lambda tree: restore_page(tree, Actor.AGENT, index=index, parent="usr-0"))

    @rule(which=places, into=places)
    def move(self, which: int, into: int) -> None:
        source, target = self.page(which), self.page(into)
        self.attempt(lambda tree: move_page(tree, Actor.AGENT, source=source, target=target))

    @rule(which=places)
    def file_away(self, which: int) -> None:
        children = [self.page(which)]
        self.attempt(
            lambda tree: create_contents_page(
                tree, Actor.AGENT, name="Old", description="", parent="usr-0", children=children
            )
        )

    @precondition(lambda self: self.done)
    @rule()
    def undo(self) -> None:
        step, before = self.done.pop()
        self.undone.append((step, self.expected))
        tree, _ = self.opened()
        undo_step(tree, step)
        # Undoing a creation removes the note with its text.
        self.tree, self.expected = tree, {**self.expected, **before}

    @precondition(lambda self: self.undone)
    @rule()
    def redo(self) -> None:
        step, after = self.undone.pop()
        self.done.append((step, self.expected))
        tree, _ = self.opened()
        redo_step(tree, step)
        self.tree, self.expected = tree, after

    def text_of(self, reader: PageStore, index: str) -> str | None:
        stored = NoteTexts(self.agent_id, reader).read(self.tree[index])
        return None if stored.lost else stored.text

    @precondition(lambda self: self.expected)
    @rule(which=places)
    def read(self, which: int) -> None:
        index = self.page(which, notes=True)
        assert self.text_of(self.other_store, index) == self.expected[index]

    @precondition(lambda self: self.kept)
    @rule()
    def sweep(self) -> None:
        """Delete the texts that no page and no step names."""
        steps = [edit for step, _ in [*self.done, *self.undone] for edit in step]
        named = {(page.index, page.text_version) for page in self.tree.pages.values()}
        named |= {
            (edit.index, side["text_version"])
            for edit in steps
            for side in (edit.was, edit.became)
            if "text_version" in side
        }
        for key in [each for each in self.kept if (each.page, each.version) not in named]:
            self.store_here.delete(key)
            self.kept.remove(key)
            self.swept = key

    @precondition(lambda self: self.expected)
    @rule()
    def erase_and_begin_anew(self) -> None:
        """Indexes are used again; the other process still caches the erased texts."""
        for key in self.kept:
            self.store_here.delete(key)
        self.begin()

    def teardown(self) -> None:
        if not hasattr(self, "tree"):
            return
        for reader in (self.store_here, self.other_store):
            assert {index: self.text_of(reader, index) for index in self.expected} == self.expected
        if self.swept is not None:
            with pytest.raises(NotFoundError):
                self.store_here.load(self.swept)
        assert set(self.store.list(self.agent_id)) == self.kept


@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", STORES)
def test_every_sequence_leaves_notes_with_the_expected_texts(
    name: str, request: pytest.FixtureRequest
) -> None:
    machine = type("NotesThere", (Notes,), {"store": store_of(name, request)})
    thorough = settings(
        max_examples=examples(SEQUENCES),
        stateful_step_count=STEPS[name],
        suppress_health_check=[HealthCheck.too_slow],
    )
    run_state_machine_as_test(machine, settings=thorough)
