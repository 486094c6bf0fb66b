"""The pages of one agent, and how they hang together (P1 to P3).

What lies in one folder, in the order of its places (P1).

How far a tree has come: what settling goes on from (P6, P7).

What one session sees of a tree, and in which order (P3, P11).

What a page is like, in the plain words that models and people read of it (P2, P3).

In whose window a tree is seen, and what that user may see (P3, R5).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

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
    """A session, and the user that it is with: that of the last message in it.

    With a user only this user's pages and pins are seen, and those of no user; without one all, as
    in reads. ``is_new``: nobody has spoken in the session yet, so nobody knows whose it will be,
    and only what is of no user is seen.
    """

    session_id: str | None = None
    user_id: str | None = None
    is_new: bool = False

    @property
    def names_new_session(self) -> bool:
        """Whether a session is named in which nobody has spoken yet."""
        return self.is_new and self.session_id is not None

    @property
    def sees_all(self) -> bool:
        """Whether no page is another user's."""
        return self.user_id is None and not self.is_new

    def sees(self, seen: Page | Pin) -> bool:
        """Tell whether this is not another user's; what a page lies in may be, and hide it.

        A pin may be of one session alone: who looks from none sees those of all.
        """
        if isinstance(seen, Pin) and self._is_elsewhere(seen):
            return False
        return self.sees_all or seen.user_id is None or seen.user_id == self.user_id

    def _is_elsewhere(self, pin: Pin) -> bool:
        elsewhere = pin.session_id not in {None, self.session_id}
        return elsewhere and self.session_id is not None


UNRESTRICTED_VIEWER = Viewer()


@dataclass(slots=True)
class OrderedSiblings:
    """Indexes of pages by their places; they are sorted when somebody looks, not as they come.

    However many come or go in between, it is sorted once.
    """

    _places: dict[str, int] = field(default_factory=dict)
    _last: int = -1  # no place is behind it
    _in_order: bool = True

    def put(self, index: str, place: int) -> None:
        """Take a page in, or give it another place."""
        self._places.pop(index, None)
        self._places[index] = place
        self._in_order = self._in_order and place >= self._last
        self._last = max(self._last, place)

    def drop(self, index: str) -> None:
        """Let a page go, if it is here."""
        self._places.pop(index, None)

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._places)

    def __iter__(self) -> Iterator[str]:
        """Yield them in order."""
        if not self._in_order:
            self._places = dict(sorted(self._places.items(), key=lambda each: each[1]))
            self._last, self._in_order = next(reversed(self._places.values()), -1), True
        return iter(self._places)


@dataclass(frozen=True, slots=True)
class TreeCounters:
    """Counters of a tree.

    ``settled_seq``: pages hold all messages up to it. ``interactions`` were begun by then.
    ``next_place`` is behind all siblings. ``archive`` is the index of the Contents Page, once
    there is one (P7). ``notice``: what the last change collapsed (P13).
    """

    settled_seq: int = 0
    interactions: int = 0
    next_place: int = 1
    archive: str | None = None
    notice: tuple[str, ...] = ()


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
    counters: TreeCounters = field(default_factory=TreeCounters)
    changed: dict[str, Page | None] = field(default_factory=dict)
    viewer: Viewer = UNRESTRICTED_VIEWER
    # What lies in a folder, interactions' pages at the conversation's root by their session, and
    # the last interaction's page of each session.
    _children: dict[str, OrderedSiblings] = field(default_factory=dict)
    _chapters: dict[str, OrderedSiblings] = field(default_factory=dict)
    _latest: dict[str | None, Page] = field(default_factory=dict)
    # How many pages lie in closed folders beside those that were read.
    _unread: dict[str, int] = field(default_factory=dict)

    @classmethod
    def new(cls) -> Tree:
        """Return a new agent's tree: a root for each default segment."""
        tree = cls()
        for segment in DEFAULT_SEGMENTS:
            tree.add_segment(segment)
        return tree

    @classmethod
    def from_stored(
        cls, segments: Mapping[str, Segment], pages: Mapping[str, Page], counters: TreeCounters
    ) -> Tree:
        """Return a tree as it was stored."""
        tree = cls(dict(segments), {}, counters)
        tree.add_loaded(pages.values())
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
        return self.counters.archive is not None and page.parent == self.counters.archive

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
            if not folder.expanded or folder.index == self.counters.archive:
                return Lifecycle.HOT_ARCHIVED
        return Lifecycle.ACTIVE

    # Changing

    def put(self, page: Page) -> Page:
        """Put a page into the tree, or in place of what it was; what it was is noted once."""
        before = self.pages.get(page.index)
        if before == page:
            return page
        self.changed.setdefault(page.index, before)
        if before is None or _where(before) != _where(page):
            if before is not None:
                self._take_down(before)
            self._line_up(page)
        self._hold(page)
        return page

    def add_loaded(self, pages: Iterable[Page]) -> None:
        """Take in pages that it was not read with; nothing changes by that."""
        for page in pages:
            if page.index not in self.pages:
                self._line_up(page)
                self._hold(page)

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
        place = self.counters.next_place
        self.counters = replace(self.counters, next_place=place + 1)
        return place

    def _known(self, index: str) -> int:
        inside = self._children.get(index, OrderedSiblings())
        if self.viewer.sees_all:
            return len(inside)
        return sum(self.viewer.sees(self.pages[each]) for each in inside)

    def _hold(self, page: Page) -> None:
        self.pages[page.index] = page
        if page.span is None or not page.span.number:
            return
        latest = self._latest.get(page.span.session_id)
        if latest is None or latest.span is None or latest.span.last_seq <= page.span.last_seq:
            self._latest[page.span.session_id] = page

    def _line_up(self, page: Page) -> None:
        if page.parent is None:
            return
        self._children.setdefault(page.parent, OrderedSiblings()).put(page.index, page.place)
        if page.parent == self.segments[USER].root and page.span is not None and page.span.number:
            self._chapters.setdefault(page.shown_in, OrderedSiblings()).put(page.index, page.place)

    def _take_down(self, page: Page) -> None:
        if page.parent in self._children:
            self._children[page.parent].drop(page.index)
        if page.shown_in in self._chapters:
            self._chapters[page.shown_in].drop(page.index)


def _where(page: Page) -> tuple[str | None, int, str]:
    """Return what says where a page stands among others."""
    return page.parent, page.place, page.shown_in


@dataclass(frozen=True, slots=True)
class VisibleTree:
    """A tree as it is seen in a session (None: in that of what was said in none)."""

    tree: Tree
    session_id: str | None = None

    def segments(self) -> list[Segment]:
        """Return the segments in which there is something to see."""
        tree = self.tree
        return [each for each in tree.segments.values() if self.count_children(tree[each.root])]

    def shown_pages(self, segment: Segment) -> Iterator[Page]:
        """Yield the pages of a segment that can be seen, in order."""
        return (page for page, _ in self.walk(segment))

    def all_pages(self, segment: Segment) -> Iterator[Page]:
        """Yield all pages of a segment in order, hidden ones and what they hold, too."""
        return self.subtree(self.tree[segment.root])

    def subtree(self, page: Page) -> Iterator[Page]:
        """Yield a page and what can be seen below it, were all folders open."""
        return (each for each, _ in self._walk(page, 1, hidden=True))

    def walk(self, segment: Segment) -> Iterator[tuple[Page, int]]:
        """Yield the pages of a segment that can be seen, in order, each with its level from 1."""
        return self._walk(self.tree[segment.root], 1)

    def children(self, page: Page) -> Iterator[Page]:
        """Yield what can be seen in a folder: of interactions only those of this session.

        And of no user but its own (``Viewer``).
        """
        return filter(self.tree.viewer.sees, self.session_children(page))

    def session_children(self, page: Page) -> Iterator[Page]:
        """Yield what lies in a folder, whoever's it is: of interactions those of this session."""
        return (each for each in self.tree.children(page.index) if self._is_of_session(each))

    def contains(self, page: Page) -> bool:
        """Tell whether a page can be seen, were all folders open."""
        above = (page, *self.tree.ancestors(page.index))
        return not page.cold and self.tree.sees(page) and all(map(self._is_of_session, above))

    def count_children(self, page: Page) -> int:
        """Return how many pages there are to see directly in a folder."""
        if page.index == self.tree.segments[USER].root:
            return sum(1 for _ in self.children(page))
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
            for each in self.children(page):
                yield from self._walk(each, level + 1, hidden=hidden)


def is_open(page: Page) -> bool:
    """Tell whether it is a folder, and shows what lies in it."""
    return page.is_folder and page.expanded


class PageState(StrEnum):
    """How a page is seen, or where it is while it is not seen."""

    EXPANDED = "expanded"
    HIDDEN = "hidden"
    INSIDE_HIDDEN = "inside a hidden folder"
    ELSEWHERE = "in another session"  # in its active chapter: seen there alone
    ARCHIVED = "archived"  # the Contents Page lists it
    REMOVED = "removed"


def page_state(tree: Tree, index: str) -> PageState:
    """Return what a page is like; ``NotFoundError`` for none of this index."""
    page = tree[index]
    if tree.is_elsewhere(page):
        return PageState.ELSEWHERE
    match tree.lifecycle(index):
        case Lifecycle.COLD_ARCHIVED:
            return PageState.REMOVED
        case Lifecycle.HOT_ARCHIVED:
            is_listed = any(tree.is_archived(each) for each in (page, *tree.ancestors(index)))
            return PageState.ARCHIVED if is_listed else PageState.INSIDE_HIDDEN
        case Lifecycle.ACTIVE:
            return PageState.EXPANDED if page.expanded else PageState.HIDDEN
