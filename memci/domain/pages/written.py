"""Blocks as they were written, kept with exact token counts until something changes them (P12).

In one rendering, which nothing outlives, what a page's block costs is counted once; a change costs
the blocks that it changes and the sums above them, not the tree.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from memci.domain.context.budget import Count
from memci.domain.pages.block import Place, Reads, Writer
from memci.domain.pages.page import Page
from memci.domain.pages.sight import Sight, is_open


@dataclass(slots=True)
class Written:
    """A page's own block at a level, and what it and all that can be seen below it take."""

    page: Page
    level: int
    text: str
    own: int
    below: int | None = None  # None: never looked below it
    whole: str | None = None  # the text of both, while nothing below has changed
    said: int | None = None  # what its messages take as messages of their own


@dataclass(frozen=True, slots=True)
class WrittenBlocks:
    """The blocks of what is seen, each written when it is first asked for.

    ``reads`` gives what expanded pages hold.
    """

    sight: Sight
    writer: Writer
    count: Count
    reads: Reads
    _known: dict[str, Written] = field(default_factory=dict)

    def of(self, page: Page, level: int) -> Written:
        """Return a page's own block."""
        known = self._known.get(page.index)
        if known is None or known.level != level or known.page is not page:
            place = Place(level, self.sight.size(page))
            text = self.writer.block(self.sight.tree, page, place, self.reads)
            known = Written(page, level, text, self.count(text))
            self._known[page.index] = known
        return known

    def tokens(self, page: Page, level: int) -> int:
        """Return what the blocks of a page and of all that can be seen below it take."""
        written = self.of(page, level)
        if not is_open(page):
            return written.own
        if written.below is None:
            inside = self.sight.inside(page)
            written.below = sum(self.tokens(each, level + 1) for each in inside)
        return written.own + written.below

    def text(self, page: Page, level: int) -> str:
        """Return the blocks of a page and of all that can be seen below it, in order."""
        written = self.of(page, level)
        if not is_open(page):
            return written.text
        if written.whole is None:
            below = [self.text(each, level + 1) for each in self.sight.inside(page)]
            written.whole = written.text + "".join(below)
        return written.whole

    def forget(self, index: str, before: Page | None) -> None:
        """Drop a page's block, and the sums above it, where it was ``before`` and where it is."""
        self._known.pop(index, None)
        for page in (before, self.sight.tree.pages.get(index)):
            if page is not None:
                self._forget_sums(page.parent)

    def _forget_sums(self, index: str | None) -> None:
        first = True
        while index is not None:
            written = self._known.get(index)
            page = self.sight.tree.pages.get(index)
            if written is not None:
                written.below = written.whole = None
                if first and page is not None and not page.expanded:
                    del self._known[index]  # it says how many pages are inside
            first = False
            index = page.parent if page is not None else None
