"""A tree that is being edited, with the window over it (P6 to P8, P13, P16).

First new messages are put onto pages, then operations change the tree, then the window is brought
back inside its token limits.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TypeVar

from memci.domain.pages.chapters import settle
from memci.domain.pages.collapse import Collapse, auto_collapse, report_excess
from memci.domain.pages.page import Page
from memci.domain.pages.parameters import PageRules
from memci.domain.pages.render import Rendering
from memci.domain.pages.tree import Tree
from memci.domain.pages.undo import Edit, pending_edits
from memci.message import Message

T = TypeVar("T")


@dataclass
class PageWorkspace:
    """A tree that is being edited, and the window of one session over it."""

    rendering: Rendering
    rules: PageRules
    kept: Collection[str] = ()  # indexes of pages that must stay open, beside pinned ones
    steps: list[Edit] = field(default_factory=list)  # requested changes, without the system's own
    collapsed: Collapse | None = None
    over: int = 0  # tokens by which the window exceeds a limit; 0: it fits

    @property
    def tree(self) -> Tree:
        """The tree that is edited."""
        return self.rendering.tree

    def settle(self, said: Iterable[Message]) -> None:
        """Put new messages onto pages; call ``enforce_limits`` afterwards."""
        shown = self.rendering
        self.apply_system_change(
            lambda: settle(self.tree, said, self.rules, shown.own_tokens, shown.count)
        )

    def settle_all(self, batches: Iterable[Sequence[Message]], fetch: Callable[[], None]) -> int:
        """Put batches of new messages onto pages, then enforce the limits once.

        ``fetch`` is called in between, to load the content of open pages. Returns the number of
        messages.
        """
        settled = 0
        for messages in batches:
            self.settle(messages)
            settled += len(messages)
        fetch()
        if settled:
            self.enforce_limits()
        else:
            self.report_excess()
        return settled

    def do(self, operation: Callable[[], T]) -> T:
        """Run a requested change and record its edits; after an error discard the workspace."""
        self.tree.counters = replace(self.tree.counters, notice=())
        with _watching(self.tree) as changed:
            done = operation()
            self.steps += pending_edits(self.tree)
        self.rendering.refresh(changed)
        return done

    def apply_system_change(self, change: Callable[[], None]) -> None:
        """Run a change of the system, which cannot be undone (P17)."""
        with _watching(self.tree) as changed:
            change()
        self.rendering.refresh(changed)

    def enforce_limits(self) -> None:
        """Collapse pages until the window fits its limits (P13).

        Chapters are cut to their length only when an interaction begins (P7).
        """
        touched = dict.fromkeys(each.index for each in reversed(self.steps))
        opened = [index for index in reversed(touched) if self.tree[index].expanded]
        with _watching(self.tree):
            done = auto_collapse(self.rendering, self.rules, self.kept, opened)
        self.collapsed = done or self.collapsed
        self.report_excess()

    def enforce_if_over(self) -> int:
        """Collapse a window that exceeds a limit; return the tokens by which it still does."""
        if self.over:
            self.enforce_limits()
        return self.over

    def report_excess(self) -> None:
        """Set ``over``, and let the window say by how much it exceeds its limit (P13)."""
        over = [
            self.rendering.tokens_of(each) - each.max_tokens
            for each in self.tree.segments.values()
            if each.max_tokens
        ]
        self.over = max(0, report_excess(self.rendering, self.rules.window_max_tokens), *over)


@contextmanager
def _watching(tree: Tree) -> Iterator[dict[str, Page | None]]:
    """Collect the changes made within the block, and add them to the earlier ones."""
    before, tree.changed = tree.changed, {}
    changed = tree.changed
    try:
        yield changed
    finally:
        tree.changed = {**changed, **before}
