"""The pages of one agent, and how they hang together (P1 to P3)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from memci.domain.pages.clock import Clock
from memci.domain.pages.page import Lifecycle, Page, PageKind, session_key
from memci.domain.pages.segment import DEFAULT_SEGMENTS, USER, Segment
from memci.domain.pages.viewer import ANYBODY, Viewer
from memci.errors import NotFoundError


def no_page(index: str) -> NotFoundError:
    """Return what to say of a page that is not there, or that is another user's."""
    return NotFoundError(f"there is no page {index[:40]!r}: use an index from the window")


@dataclass
class Tree:
    """All pages of an agent. ``changed`` holds each page as it was before it was changed.

    ``viewer``: in whose window it is worked on.
    """

    segments: dict[str, Segment] = field(default_factory=dict)
    pages: dict[str, Page] = field(default_factory=dict)
    clock: Clock = field(default_factory=Clock)
    changed: dict[str, Page | None] = field(default_factory=dict)
    viewer: Viewer = ANYBODY
    # Places of what lies in a folder, interactions' pages at the conversation's root by their
    # session, and the last interaction's page of each session: all by index.
    _children: dict[str, dict[str, int]] = field(default_factory=dict)
    _chapters: dict[str, dict[str, int]] = field(default_factory=dict)
    _latest: dict[str | None, Page] = field(default_factory=dict)
    # How many pages lie in closed folders beside those that were read.
    _unread: dict[str, int] = field(default_factory=dict)

    @classmethod
    def planted(cls) -> Tree:
        """Return a new agent's tree: a root for each default segment."""
        tree = cls()
        for segment in DEFAULT_SEGMENTS:
            tree.add_segment(segment)
        return tree

    @classmethod
    def of(cls, segments: Mapping[str, Segment], pages: Mapping[str, Page], clock: Clock) -> Tree:
        """Return a tree as it was stored."""
        tree = cls(dict(segments), {}, clock)
        for page in pages.values():
            tree._hang(page)
        return tree

    def count_unread(self, inside: Mapping[str, int]) -> None:
        """Take how many pages its viewer sees in folders of which not all were read."""
        self._unread = {index: number - self._known(index) for index, number in inside.items()}

    # Looking

    def __getitem__(self, index: str) -> Page:
        """Return a page; ``NotFoundError`` for none of this index."""
        try:
            return self.pages[index]
        except KeyError:
            raise no_page(index) from None

    def children(self, index: str) -> list[Page]:
        """Return what lies directly in a folder, in order."""
        return [self.pages[each] for each in self._children.get(index, ())]

    def count(self, index: str) -> int:
        """Return how many pages that its viewer may see lie directly in a folder."""
        return self._known(index) + self._unread.get(index, 0)

    def sees(self, page: Page) -> bool:
        """Tell whether its viewer may see a page, and the folders that it lies in."""
        sees = self.viewer.sees
        return self.viewer.sees_all or (sees(page) and all(map(sees, self.ancestors(page.index))))

    def ancestors(self, index: str) -> Iterator[Page]:
        """Yield the folders above a page, the nearest first."""
        above = self[index].parent
        while above is not None:
            page = self.pages[above]
            yield page
            above = page.parent

    def descendants(self, index: str) -> Iterator[Page]:
        """Yield a page and all below it, each before those in it."""
        waiting = [self[index]]
        while waiting:
            page = waiting.pop()
            yield page
            waiting.extend(reversed(self.children(page.index)))

    def is_archived(self, page: Page) -> bool:
        """Tell whether a page is a line of the Contents Page (P7)."""
        return self.clock.archive is not None and page.parent == self.clock.archive

    def chapter(self, session_id: str | None) -> list[Page]:
        """Return a session's active chapter: its interactions at the conversation's root (P7)."""
        return [self.pages[each] for each in self._chapters.get(session_key(session_id), ())]

    def is_elsewhere(self, page: Page) -> bool:
        """Tell whether a page lies in the active chapter of another session than its viewer's."""
        if page.cold or page.span is None or page.parent != self.segments[USER].root:
            return False
        return page.shown_in != session_key(self.viewer.session_id)

    def latest(self, session_id: str | None) -> Page | None:
        """Return the page of a session's current interaction, wherever it lies."""
        return self._latest.get(session_id)

    def segment_of(self, page: Page) -> Segment:
        """Return the segment that a page lies in."""
        return self.segments[page.segment]

    def lifecycle(self, index: str) -> Lifecycle:
        """Tell where a page is, seen from the window (P2)."""
        page = self[index]
        if page.cold:
            return Lifecycle.COLD_ARCHIVED
        for folder in self.ancestors(index):
            if not folder.expanded or folder.index == self.clock.archive:
                return Lifecycle.HOT_ARCHIVED
        return Lifecycle.ACTIVE

    # Changing

    def put(self, page: Page) -> Page:
        """Put a page into the tree, or in place of what it was; what it was is noted once."""
        before = self.pages.get(page.index)
        if before == page:
            return page
        self.changed.setdefault(page.index, before)
        if before is not None:
            self._take_down(before)
        self._hang(page)
        return page

    def know(self, pages: Iterable[Page]) -> None:
        """Take in pages that it was not read with; nothing changes by that."""
        for page in pages:
            if page.index not in self.pages:
                self._hang(page)

    def add_page(self, page: Page) -> Page:
        """Give a new page its index and its place behind its siblings, and put it in."""
        segment = self.segments[page.segment]
        self.segments[segment.id] = replace(segment, next_number=segment.next_number + 1)
        placed = replace(page, index=f"{segment.id}-{segment.next_number}", place=self.take_place())
        return self.put(placed)

    def add_segment(self, segment: Segment) -> None:
        """Add a segment with its root."""
        self.segments[segment.id] = segment
        self.put(
            Page(
                index=segment.root,
                kind=PageKind.CONTENTS,
                segment=segment.id,
                parent=None,
                place=self.take_place(),
                name=segment.name,
                expanded=True,
            )
        )

    def in_chapter(self, page: Page) -> Page:
        """Return a page as it lies in the viewer's chapter, whichever session it comes from."""
        session = self.viewer.session_id
        own = page.span is None or page.span.session_id == session
        return replace(page, chapter="" if own else session_key(session))

    def take_place(self) -> int:
        """Return a place behind all that are taken."""
        place = self.clock.next_place
        self.clock = replace(self.clock, next_place=place + 1)
        return place

    def _known(self, index: str) -> int:
        inside = self._children.get(index, {})
        if self.viewer.sees_all:
            return len(inside)
        return sum(self.viewer.sees(self.pages[each]) for each in inside)

    def _hang(self, page: Page) -> None:
        self.pages[page.index] = page
        if page.parent is not None:
            self._line_up(self._children.setdefault(page.parent, {}), page)
        if page.span is None or not page.span.number:
            return
        session = page.span.session_id
        if page.parent == self.segments[USER].root:
            self._chapters.setdefault(page.shown_in, {})[page.index] = page.place
        latest = self._latest.get(session)
        if latest is None or latest.span is None or latest.span.last_seq <= page.span.last_seq:
            self._latest[session] = page

    @staticmethod
    def _line_up(siblings: dict[str, int], page: Page) -> None:
        """Add a page to its siblings, which stay in the order of their places."""
        last = next(reversed(siblings.values()), -1)
        siblings[page.index] = page.place
        if page.place < last:
            ordered = sorted(siblings.items(), key=lambda each: each[1])
            siblings.clear()
            siblings.update(ordered)

    def _take_down(self, page: Page) -> None:
        if page.parent is not None:
            self._children[page.parent].pop(page.index, None)
        if page.span is not None and page.span.number:
            self._chapters.get(page.shown_in, {}).pop(page.index, None)
