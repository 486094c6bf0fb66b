"""One change of an agent's pages from beginning to end (P6 to P8, P13, P16).

What waits is settled, something is done to the tree, and the window is brought back inside its
budget.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
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
    """A tree that is worked on, and the window of one session over it.

    ``kept`` is what must stay open beside what is pinned. ``steps`` are
    what was asked for, change by change; what the system does itself is in ``tree.changed`` alone.
    ``over``: tokens by which what must stay is over a limit; 0: the window fits.
    """

    rendering: Rendering
    rules: PageRules
    kept: Collection[str] = ()
    steps: list[Edit] = field(default_factory=list)
    collapsed: Collapse | None = None
    over: int = 0

    @property
    def tree(self) -> Tree:
        """The tree."""
        return self.rendering.tree

    def settle(self, said: Iterable[Message]) -> None:
        """Put messages onto pages that are on none yet; then the window is to be looked after."""
        shown = self.rendering
        self.apply_system_change(
            lambda: settle(self.tree, said, self.rules, shown.own_tokens, shown.count)
        )

    def do(self, operation: Callable[[], T]) -> T:
        """Do what was asked; an error leaves the tree half changed, and it must be thrown away."""
        self.tree.counters = replace(self.tree.counters, notice=())
        with _watching(self.tree) as changed:
            done = operation()
            self.steps += pending_edits(self.tree)
        self.rendering.refresh(changed)
        return done

    def apply_system_change(self, change: Callable[[], None]) -> None:
        """Do what nobody asked for: no step, and nothing to undo (P17)."""
        with _watching(self.tree) as changed:
            change()
        self.rendering.refresh(changed)

    def enforce_limits(self) -> None:
        """Collapse what the window has no room for.

        Chapters are kept to their length when an interaction begins (P7), and not by what is done
        in one: a recall that is undone has changed nothing.
        """
        touched = dict.fromkeys(each.index for each in reversed(self.steps))
        opened = [index for index in reversed(touched) if self.tree[index].expanded]
        with _watching(self.tree):
            done = auto_collapse(self.rendering, self.rules, self.kept, opened)
        self.collapsed = done or self.collapsed
        self.report_excess()

    def enforce_if_over(self) -> int:
        """Collapse a window that is over a limit, as it is shown; return by how much it still is.

        Whoever works on it begins with what was seen.
        """
        if self.over:
            self.enforce_limits()
        return self.over

    def report_excess(self) -> None:
        """Have the window say by how much it is over its limit, if it is (P13)."""
        over = [
            self.rendering.tokens_of(each) - each.max_tokens
            for each in self.tree.segments.values()
            if each.max_tokens
        ]
        self.over = max(0, report_excess(self.rendering, self.rules.window_max_tokens), *over)


@contextmanager
def _watching(tree: Tree) -> Iterator[dict[str, Page | None]]:
    """Collect what changes in a tree meanwhile, and add it to what had changed before."""
    before, tree.changed = tree.changed, {}
    changed = tree.changed
    try:
        yield changed
    finally:
        tree.changed = {**changed, **before}
