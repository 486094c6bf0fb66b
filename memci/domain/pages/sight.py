"""What one session sees of a tree, and in which order (P3, P11)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from memci.domain.pages.page import Page, session_key
from memci.domain.pages.segment import USER, Segment
from memci.domain.pages.tree import Tree


@dataclass(frozen=True, slots=True)
class Sight:
    """A tree as it is seen in a session (None: in that of what was said in none)."""

    tree: Tree
    session_id: str | None = None

    def segments(self) -> list[Segment]:
        """Return the segments in which there is something to see."""
        tree = self.tree
        return [each for each in tree.segments.values() if self.size(tree[each.root])]

    def seen(self, segment: Segment) -> Iterator[Page]:
        """Yield the pages of a segment that can be seen, in order."""
        return (page for page, _ in self.walk(segment))

    def within(self, segment: Segment) -> Iterator[Page]:
        """Yield all pages of a segment in order, hidden ones and what they hold, too."""
        return self.below(self.tree[segment.root])

    def below(self, page: Page) -> Iterator[Page]:
        """Yield a page and what can be seen below it, were all folders open."""
        return (each for each, _ in self._walk(page, 1, hidden=True))

    def walk(self, segment: Segment) -> Iterator[tuple[Page, int]]:
        """Yield the pages of a segment that can be seen, in order, each with its level from 1."""
        return self._walk(self.tree[segment.root], 1)

    def inside(self, page: Page) -> Iterator[Page]:
        """Yield what can be seen in a folder: of interactions only those of this session.

        And of no user but its own (``Viewer``).
        """
        return filter(self.tree.viewer.sees, self.lying_in(page))

    def lying_in(self, page: Page) -> Iterator[Page]:
        """Yield what lies in a folder, whoever's it is: of interactions those of this session."""
        return (each for each in self.tree.children(page.index) if self._is_of_session(each))

    def has(self, page: Page) -> bool:
        """Tell whether a page can be seen, were all folders open."""
        above = (page, *self.tree.ancestors(page.index))
        return not page.cold and self.tree.sees(page) and all(map(self._is_of_session, above))

    def size(self, page: Page) -> int:
        """Return how many pages there are to see directly in a folder."""
        if page.index == self.tree.segments[USER].root:
            return sum(1 for _ in self.inside(page))
        return self.tree.count(page.index)

    def level(self, page: Page) -> int:
        """Return at which level a page is seen; a root is at 1."""
        return 1 + sum(1 for _ in self.tree.ancestors(page.index))

    def is_current(self, page: Page) -> bool:
        """Tell whether it is the interaction that goes on."""
        latest = self.tree.latest(self.session_id)
        return latest is not None and page.index == latest.index

    def _is_of_session(self, page: Page) -> bool:
        """Tell whether it is in no chapter, or in this session's."""
        in_chapter = page.span is not None and page.parent == self.tree.segments[USER].root
        return not in_chapter or page.shown_in == session_key(self.session_id)

    def _walk(self, page: Page, level: int, *, hidden: bool = False) -> Iterator[tuple[Page, int]]:
        yield page, level
        if hidden or is_open(page):
            for each in self.inside(page):
                yield from self._walk(each, level + 1, hidden=hidden)


def is_open(page: Page) -> bool:
    """Tell whether it is a folder, and shows what lies in it."""
    return page.is_folder and page.expanded
