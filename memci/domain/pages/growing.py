"""Lines of messages on their way to pages that go on (P6, P7)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from memci.domain.pages.page import Page
from memci.domain.pages.tree import Tree


@dataclass(frozen=True, slots=True)
class Growing:
    """Gathers lines, and gives a page all of its own at once.

    One by one, a page of very many messages would be copied as often as it has messages.
    """

    tree: Tree
    _lines: dict[str, list[str]] = field(default_factory=dict)

    def add(self, index: str, line: str) -> None:
        """Have a line for a page."""
        self._lines.setdefault(index, []).append(line)

    def give(self, is_due: Callable[[Page], bool] = lambda _: True) -> None:
        """Give their lines to the pages that need them now."""
        for index in list(self._lines):
            page = self.tree[index]
            if is_due(page):
                lines = self._lines.pop(index)
                self.tree.put(replace(page, entries=(*page.entries, *lines)))
