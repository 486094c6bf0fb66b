"""The tree of an agent's pages, and which part of it a viewer sees (P1 to P3, R5)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from operator import attrgetter
from typing import TypeAlias

from memci.domain.pages.page import (
    DEFAULT_SEGMENTS,
    USER,
    Lifecycle,
    Page,
    PageKind,
    Segment,
    session_key,
)
from memci.domain.pages.pins import Pin
from memci.errors import NotFoundError


@dataclass(frozen=True, slots=True)
class Viewer:
    """The session and user for whom pages and pins are read.

    A viewer with a user sees the pages and pins of that user and those of no user; a viewer
    without a user sees all of them.
    """

    session_id: str | None = None
    user_id: str | None = None  # of the last message in the session
    is_new: bool = False  # the session has no messages: only entries of no user are visible

    @property
    def names_new_session(self) -> bool:
        """True if the viewer's session has no messages yet."""
        return self.is_new and self.session_id is not None

    @property
    def sees_all(self) -> bool:
        """True if the viewer may see the pages of all users."""
        return self.user_id is None and not self.is_new

    def sees(self, seen: Page | Pin) -> bool:
        """Return True if no other user owns the page or pin; parent folders are not checked.

        A pin may belong to one session; a viewer without a session sees the pins of all sessions.
        """
        if (
            isinstance(seen, Pin)
            and self.session_id is not None
            and seen.session_id not in {None, self.session_id}
        ):
            return False
        return self.sees_all or seen.user_id is None or seen.user_id == self.user_id


UNRESTRICTED_VIEWER = Viewer()


# Indexes of pages, by folder or by session; they are sorted by place when read, not when added.
_Siblings: TypeAlias = defaultdict[str, dict[str, None]]


@dataclass(frozen=True, slots=True)
class TreeCounters:
    """Counters and other values of a whole tree."""

    settled_seq: int = 0  # all messages up to it are on pages
    interactions: int = 0  # begun up to settled_seq
    next_place: int = 1  # higher than the place of every page
    archive: str | None = None  # index of the Contents Page; None: not created yet (P7)
    notice: tuple[str, ...] = ()  # indexes of the pages that the last change collapsed (P13)


def no_page(index: str) -> NotFoundError:
    """Return the error for a page that does not exist or belongs to another user."""
    return NotFoundError(f"there is no page {index[:40]!r}: use an index from the window")


@dataclass
class Tree:
    """All pages of an agent."""

    segments: dict[str, Segment] = field(default_factory=dict)
    pages: dict[str, Page] = field(default_factory=dict)
    counters: TreeCounters = field(default_factory=TreeCounters)
    # Each changed page as it was before its first change; None: it was created.
    changed: dict[str, Page | None] = field(default_factory=dict)
    viewer: Viewer = UNRESTRICTED_VIEWER
    _children: _Siblings = field(default_factory=lambda: defaultdict(dict))
    _chapters: _Siblings = field(default_factory=lambda: defaultdict(dict))  # active ones
    # The newest interaction's page of each session.
    _latest: dict[str | None, Page] = field(default_factory=dict)
    # By folder: the number of its pages that were not loaded.
    _unread: dict[str, int] = field(default_factory=dict)

    @classmethod
    def new(cls) -> Tree:
        """Return the tree of a new agent: one root for each default segment."""
        tree = cls()
        for segment in DEFAULT_SEGMENTS:
            tree.add_segment(segment)
        return tree

    @classmethod
    def from_stored(
        cls, segments: Mapping[str, Segment], pages: Mapping[str, Page], counters: TreeCounters
    ) -> Tree:
        """Return a tree with stored pages."""
        tree = cls(dict(segments), {}, counters)
        tree.add_loaded(pages.values())
        return tree

    def count_unread(self, inside: Mapping[str, int]) -> None:
        """Set the number of visible pages in partly loaded folders."""
        self._unread = {index: number - self._known(index) for index, number in inside.items()}

    # Reading

    def __getitem__(self, index: str) -> Page:
        """Return the page of an index, or raise ``NotFoundError``."""
        try:
            return self.pages[index]
        except KeyError:
            raise no_page(index) from None

    def children(self, index: str) -> list[Page]:
        """Return the pages directly in a folder, in order."""
        return self._in_order(self._children.get(index, ()))

    def count(self, index: str) -> int:
        """Return the number of visible pages directly in a folder."""
        return self._known(index) + self._unread.get(index, 0)

    def sees(self, page: Page) -> bool:
        """Return True if the viewer may see the page and all folders above it."""
        sees = self.viewer.sees
        return self.viewer.sees_all or (sees(page) and all(map(sees, self.ancestors(page.index))))

    def ancestors(self, index: str) -> Iterator[Page]:
        """Yield the folders above a page, nearest first."""
        above = self[index].parent
        while above is not None:
            page = self.pages[above]
            yield page
            above = page.parent

    def descendants(self, index: str) -> Iterator[Page]:
        """Yield a page and everything below it, parents first."""
        waiting = [self[index]]
        while waiting:
            page = waiting.pop()
            yield page
            waiting.extend(reversed(self.children(page.index)))

    def levels_from(self, page: Page) -> int:
        """Return the number of levels of a page and everything below it."""
        levels, below = 0, [page]
        while below:
            levels += 1
            below = [inside for each in below for inside in self.children(each.index)]
        return levels

    def is_archived(self, page: Page) -> bool:
        """Return True if the page is a line of the Contents Page (P7)."""
        return self.counters.archive is not None and page.parent == self.counters.archive

    def chapter(self, session_id: str | None) -> list[Page]:
        """Return the active chapter of a session: its pages directly under ``usr-0`` (P7)."""
        return self._in_order(self._chapters.get(session_key(session_id), ()))

    def is_elsewhere(self, page: Page) -> bool:
        """Return True if the page is in the active chapter of a session other than the viewer's."""
        if page.cold or page.span is None or page.parent != self.segments[USER].root:
            return False
        return page.shown_in != session_key(self.viewer.session_id)

    def latest(self, session_id: str | None) -> Page | None:
        """Return the page of a session's current interaction, in any folder."""
        return self._latest.get(session_id)

    def segment_of(self, page: Page) -> Segment:
        """Return the segment of a page."""
        return self.segments[page.segment]

    def lifecycle(self, index: str) -> Lifecycle:
        """Return the lifecycle state of a page (P2)."""
        page = self[index]
        if page.cold:
            return Lifecycle.COLD_ARCHIVED
        for folder in self.ancestors(index):
            if not folder.expanded or folder.index == self.counters.archive:
                return Lifecycle.HOT_ARCHIVED
        return Lifecycle.ACTIVE

    # Changing

    def put(self, page: Page) -> Page:
        """Add or replace a page, and record its former value in ``changed`` once."""
        before = self.pages.get(page.index)
        if before == page:
            return page
        self.changed.setdefault(page.index, before)
        if before is None or _position(before) != _position(page):
            if before is not None:
                self._children[before.parent or ""].pop(before.index, None)
                self._chapters[before.shown_in].pop(before.index, None)
            self._add_to_siblings(page)
        self._store(page)
        return page

    def add_loaded(self, pages: Iterable[Page]) -> None:
        """Add stored pages that were not loaded before, without recording a change."""
        for page in pages:
            if page.index not in self.pages:
                self._add_to_siblings(page)
                self._store(page)

    def add_page(self, page: Page) -> Page:
        """Add a new page as the last sibling, with the next index of its segment."""
        segment = self.segments[page.segment]
        self.segments[segment.id] = replace(segment, next_number=segment.next_number + 1)
        index = f"{segment.id}-{segment.next_number}"
        return self.put(replace(page, index=index, place=self.take_place()))

    def add_segment(self, segment: Segment) -> None:
        """Add a segment and its root page."""
        self.segments[segment.id] = segment
        root = Page(segment.root, PageKind.CONTENTS, segment.id, None, self.take_place())
        self.put(replace(root, name=segment.name, expanded=True))

    def in_chapter(self, page: Page) -> Page:
        """Return the page as a member of the chapter of the viewer's session."""
        session = self.viewer.session_id
        own = page.span is None or page.span.session_id == session
        return replace(page, chapter="" if own else session_key(session))

    def take_place(self) -> int:
        """Reserve and return a place after all others."""
        place = self.counters.next_place
        self.counters = replace(self.counters, next_place=place + 1)
        return place

    def _in_order(self, indexes: Iterable[str]) -> list[Page]:
        return sorted((self.pages[each] for each in indexes), key=attrgetter("place"))

    def _known(self, index: str) -> int:
        inside = self._children.get(index, {})
        if self.viewer.sees_all:
            return len(inside)
        return sum(self.viewer.sees(self.pages[each]) for each in inside)

    def _store(self, page: Page) -> None:
        self.pages[page.index] = page
        if page.span is None or not page.span.number:
            return
        latest = self._latest.get(page.span.session_id)
        if latest is None or latest.span is None or latest.span.last_seq <= page.span.last_seq:
            self._latest[page.span.session_id] = page

    def _add_to_siblings(self, page: Page) -> None:
        if page.parent is None:
            return
        self._children[page.parent][page.index] = None
        if page.parent == self.segments[USER].root and page.span is not None and page.span.number:
            self._chapters[page.shown_in][page.index] = None


def _position(page: Page) -> tuple[str | None, int, str]:
    return page.parent, page.place, page.shown_in


@dataclass(frozen=True, slots=True)
class VisibleTree:
    """The visible part of a tree in a session (None: messages without a session)."""

    tree: Tree
    session_id: str | None = None

    def segments(self) -> list[Segment]:
        """Return the segments that have visible pages."""
        tree = self.tree
        return [each for each in tree.segments.values() if self.count_children(tree[each.root])]

    def shown_pages(self, segment: Segment) -> Iterator[Page]:
        """Yield the pages of a segment in the window, in order."""
        return (page for page, _ in self.walk(segment))

    def subtree(self, page: Page) -> Iterator[Page]:
        """Yield a page and all visible pages below it in order, including hidden folders."""
        return (each for each, _ in self._walk(page, 1, hidden=True))

    def walk(self, segment: Segment) -> Iterator[tuple[Page, int]]:
        """Yield the pages of a segment in the window, each with its level from 1."""
        return self._walk(self.tree[segment.root], 1)

    def children(self, page: Page) -> Iterator[Page]:
        """Yield the pages directly in a folder that this session and its user may see."""
        return filter(self.tree.viewer.sees, self.session_children(page))

    def session_children(self, page: Page) -> Iterator[Page]:
        """Yield the pages directly in a folder, of all users, without other sessions' chapters."""
        return (each for each in self.tree.children(page.index) if self._is_of_session(each))

    def contains(self, page: Page) -> bool:
        """Return True if the page would be shown if all folders were open."""
        above = (page, *self.tree.ancestors(page.index))
        return not page.cold and self.tree.sees(page) and all(map(self._is_of_session, above))

    def count_children(self, page: Page) -> int:
        """Return the number of visible pages directly in a folder."""
        if page.index == self.tree.segments[USER].root:
            return sum(1 for _ in self.children(page))
        return self.tree.count(page.index)

    def level(self, page: Page) -> int:
        """Return the level of a page; a root has level 1."""
        return 1 + sum(1 for _ in self.tree.ancestors(page.index))

    def is_current(self, page: Page) -> bool:
        """Return True if the page is the session's current interaction."""
        latest = self.tree.latest(self.session_id)
        return latest is not None and page.index == latest.index

    def _is_of_session(self, page: Page) -> bool:
        in_chapter = page.span is not None and page.parent == self.tree.segments[USER].root
        return not in_chapter or page.shown_in == session_key(self.session_id)

    def _walk(self, page: Page, level: int, *, hidden: bool = False) -> Iterator[tuple[Page, int]]:
        yield page, level
        if hidden or is_open(page):
            for each in self.children(page):
                yield from self._walk(each, level + 1, hidden=hidden)


def is_open(page: Page) -> bool:
    """Return True for an expanded folder."""
    return page.is_folder and page.expanded


class PageState(StrEnum):
    """The display state of a page, or the reason why it is not displayed."""

    EXPANDED = "expanded"
    HIDDEN = "hidden"
    INSIDE_HIDDEN = "inside a hidden folder"
    ELSEWHERE = "in another session"  # in the active chapter of another session
    ARCHIVED = "archived"  # the Contents Page lists it
    REMOVED = "removed"


def page_state(tree: Tree, index: str) -> PageState:
    """Return the state of a page; raises ``NotFoundError``."""
    page = tree[index]
    if tree.is_elsewhere(page):
        return PageState.ELSEWHERE
    if page.cold:
        return PageState.REMOVED
    if any(tree.is_archived(each) for each in (page, *tree.ancestors(index))):
        return PageState.ARCHIVED
    if tree.lifecycle(index) is not Lifecycle.ACTIVE:
        return PageState.INSIDE_HIDDEN
    return PageState.EXPANDED if page.expanded else PageState.HIDDEN
