"""A tree as the message list that a model sees (P11), with exact token counts (P12).

What a page's block costs is counted once; a change costs the blocks that it changes and the sums
above them, not the tree.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import takewhile

from memci.domain.context.budget import LIST_OVERHEAD, MESSAGE_OVERHEAD, Count, Utterance
from memci.domain.context.interaction import units_of
from memci.domain.message import Role
from memci.domain.pages.block import Excess, Format, Place, Reads, Writer
from memci.domain.pages.page import Page, session_key
from memci.domain.pages.pin import PINS, Pin
from memci.domain.pages.segment import USER, Segment, SegmentKind
from memci.domain.pages.tree import Tree


@dataclass(frozen=True, slots=True)
class Window:
    """What a model is given: messages, and exactly how many tokens they take.

    ``by_segment``: tokens of each segment's messages. ``collapsed``: what the last change hid
    (P13).
    """

    messages: tuple[Utterance, ...]
    tokens: int
    by_segment: dict[str, int]
    collapsed: tuple[str, ...]


@dataclass(slots=True)
class _Written:
    """A page's own block at a level, and what it and all that can be seen below it take."""

    level: int
    text: str
    own: int
    below: int | None = None  # None: never looked below it
    whole: str | None = None  # the text of both, while nothing below has changed
    said: int | None = None  # what its messages take as messages of their own


@dataclass
class Rendering:
    """The window of one session over a tree, kept up to date by ``refresh``.

    ``reads`` gives what expanded pages hold. ``excess``: what the window is to say of being over
    its limit.
    """

    tree: Tree
    writer: Writer
    count: Count
    reads: Reads
    session_id: str | None = None
    pins: tuple[Pin, ...] = ()
    excess: Excess | None = None
    pin_tokens: int = field(init=False, default=0)  # of the message of pins
    _pinned: Utterance | None = field(init=False, default=None)
    _written: dict[str, _Written] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.pin(self.pins)

    def pin(self, pins: Iterable[Pin]) -> None:
        """Show these pins, and no others."""
        self.pins = tuple(pins)
        text = self.writer.pins(self.pins)
        self._pinned = Utterance(Role.USER, text) if text else None
        self.pin_tokens = self._pinned.tokens(self.count) if self._pinned else 0

    def tokens(self) -> int:
        """Return what the whole window takes."""
        messages = sum(self.tokens_of(each) for each in self._shown()) + self.pin_tokens
        return LIST_OVERHEAD + messages if messages else 0

    def tokens_of(self, segment: Segment) -> int:
        """Return what a segment's messages take."""
        if self.writer.format is Format.NATIVE:
            return self._native_tokens(segment)
        notice = self._notice(segment)
        total = self._total(self.tree[segment.root], 1)
        return MESSAGE_OVERHEAD + total + (self.count(notice) if notice else 0)

    def window(self) -> Window:
        """Return the messages."""
        messages: list[Utterance] = []
        by_segment: dict[str, int] = {}
        shown = self._shown()
        first = list(takewhile(_is_system, shown))
        for segment in first:
            messages += self._said_by(segment)
            by_segment[segment.id] = self.tokens_of(segment)
        if self._pinned is not None:  # what is stable comes first (R13)
            messages.append(self._pinned)
            by_segment[PINS] = self.pin_tokens
        for segment in shown[len(first) :]:
            messages += self._said_by(segment)
            by_segment[segment.id] = self.tokens_of(segment)
        tokens = LIST_OVERHEAD + sum(by_segment.values()) if messages else 0
        return Window(tuple(messages), tokens, by_segment, self.collapsed())

    def collapsed(self) -> tuple[str, ...]:
        """Return what the last change hid, as far as it is seen here (P13)."""
        notice, tree = self.tree.clock.notice, self.tree
        if tree.viewer.sees_all:
            return notice
        return tuple(each for each in notice if each in tree.pages and tree.sees(tree[each]))

    def below(self, page: Page) -> Iterator[Page]:
        """Yield a page and what can be seen below it, were all folders open."""
        return (each for each, _ in self._walk(page, 1, hidden=True))

    def refresh(self, changed: Mapping[str, Page | None]) -> None:
        """Write anew what has changed with these pages; they are given as they were before."""
        for index, before in changed.items():
            self._forget(index, before)

    def put(self, page: Page) -> None:
        """Put a page into the tree in place of what it was, and write anew what that changes."""
        before = self.tree.pages[page.index]
        self.tree.put(page)
        self.refresh({page.index: before})

    def own_tokens(self, page: Page) -> int:
        """Return what a page's own block takes."""
        return self._seen(page, self._level(page)).own

    def seen(self, segment: Segment) -> Iterator[Page]:
        """Yield the pages of a segment that can be seen, in order."""
        return (page for page, _ in self._walk(self.tree[segment.root], 1))

    def within(self, segment: Segment) -> Iterator[Page]:
        """Yield all pages of a segment in order, hidden ones and what they hold, too."""
        return (page for page, _ in self._walk(self.tree[segment.root], 1, hidden=True))

    def inside(self, page: Page) -> Iterator[Page]:
        """Yield what can be seen in a folder: of interactions only those of this session.

        And of no user but its own (``Viewer``).
        """
        return filter(self.tree.viewer.sees, self.lying_in(page))

    def lying_in(self, page: Page) -> Iterator[Page]:
        """Yield what lies in a folder, whoever's it is: of interactions those of this session."""
        root, shown = self.tree.segments[USER].root, session_key(self.session_id)
        for each in self.tree.children(page.index):
            other = page.index == root and each.span is not None and each.shown_in != shown
            if not other:
                yield each

    def size(self, page: Page) -> int:
        """Return how many pages there are to see directly in a folder."""
        if page.index == self.tree.segments[USER].root:
            return sum(1 for _ in self.inside(page))
        return self.tree.count(page.index)

    # Blocks

    def _seen(self, page: Page, level: int) -> _Written:
        written = self._written.get(page.index)
        if written is None or written.level != level:
            text = self.writer.block(self.tree, page, Place(level, self.size(page)), self.reads)
            written = _Written(level, text, self.count(text))
            self._written[page.index] = written
        return written

    def _total(self, page: Page, level: int) -> int:
        written = self._seen(page, level)
        if not self._opens(page):
            return written.own
        if written.below is None:
            written.below = sum(self._total(each, level + 1) for each in self.inside(page))
        return written.own + written.below

    def _whole(self, page: Page, level: int) -> str:
        written = self._seen(page, level)
        if not self._opens(page):
            return written.text
        if written.whole is None:
            below = [self._whole(each, level + 1) for each in self.inside(page)]
            written.whole = written.text + "".join(below)
        return written.whole

    def _forget(self, index: str, before: Page | None) -> None:
        """Drop a page's block, and the sums above it, where it was and where it is."""
        self._written.pop(index, None)
        for page in (before, self.tree.pages.get(index)):
            if page is not None:
                self._forget_sums(page.parent)

    def _forget_sums(self, index: str | None) -> None:
        first = True
        while index is not None:
            written = self._written.get(index)
            page = self.tree.pages.get(index)
            if written is not None:
                written.below = written.whole = None
                if first and page is not None and not page.expanded:
                    del self._written[index]  # it says how many pages are inside
            first = False
            index = page.parent if page is not None else None

    # The tree

    def _shown(self) -> list[Segment]:
        shown = [each for each in self.tree.segments.values() if self.size(self.tree[each.root])]
        if self.writer.format is Format.NATIVE:  # the conversation goes on where the window ends
            shown.sort(key=lambda each: each.id == USER)
        return shown

    def _opens(self, page: Page) -> bool:
        return page.is_folder and page.expanded

    def _level(self, page: Page) -> int:
        return 1 + sum(1 for _ in self.tree.ancestors(page.index))

    def _notice(self, segment: Segment) -> str:
        if segment.id != USER:
            return ""
        return self.writer.excess(self.excess) + self.writer.notice(self.collapsed())

    # Messages

    def _said_by(self, segment: Segment) -> list[Utterance]:
        if self.writer.format is Format.NATIVE:
            return self._native(segment)
        return [self._whole_segment(segment)]

    def _whole_segment(self, segment: Segment) -> Utterance:
        notice = self._notice(segment)
        return Utterance(_role(segment), notice + self._whole(self.tree[segment.root], 1))

    def _native(self, segment: Segment) -> list[Utterance]:
        """Return blocks as messages of the segment, and between them what was said as it was.

        The current interaction comes last, wherever it lies: a model answers what it reads last.
        """
        role = _role(segment)
        written: list[Utterance] = []
        current: list[Utterance] = []
        text = self._notice(segment)
        for page, level in self._walk(self.tree[segment.root], 1):
            block = self._seen(page, level).text
            if not self._speaks(page):
                text += block
            elif self._is_current(page):
                current = [Utterance(role, block), *self._utterances(page)]
            else:
                written += [Utterance(role, text + block), *self._utterances(page)]
                text = ""
        return [*written, *([Utterance(role, text)] if text else []), *current]

    def _native_tokens(self, segment: Segment) -> int:
        """Return what those messages take; what has not changed is not counted again (P12)."""
        notice = self._notice(segment)
        total, blocks, is_open = self.count(notice) if notice else 0, 0, bool(notice)
        for page, level in self._walk(self.tree[segment.root], 1):
            total += self._seen(page, level).own
            if not self._speaks(page):
                is_open = True
                continue
            total += self._said_tokens(page, level)
            blocks += 1
            is_open = is_open and self._is_current(page)
        return total + MESSAGE_OVERHEAD * (blocks + is_open)

    def _said_tokens(self, page: Page, level: int) -> int:
        written = self._seen(page, level)
        if written.said is None:
            written.said = sum(each.tokens(self.count) for each in self._utterances(page))
        return written.said

    def _utterances(self, page: Page) -> list[Utterance]:
        """Return what was said as a chat API takes it; the block has what is no part of that."""
        units, _ = units_of([each for each in self.reads(page).messages if not each.is_note])
        return [Utterance.of(message) for unit in units for message in unit]

    def _speaks(self, page: Page) -> bool:
        """Whether its messages are messages of a native window: not those of archived pages."""
        return (
            page.expanded
            and page.span is not None
            and page.span.number > 0
            and not self.tree.is_archived(page)
        )

    def _is_current(self, page: Page) -> bool:
        latest = self.tree.latest(self.session_id)
        return latest is not None and page.index == latest.index

    def _walk(self, page: Page, level: int, *, hidden: bool = False) -> Iterator[tuple[Page, int]]:
        yield page, level
        if self._opens(page) or hidden:
            for each in self.inside(page):
                yield from self._walk(each, level + 1, hidden=hidden)


def _is_system(segment: Segment) -> bool:
    return segment.kind is SegmentKind.SYSTEM


def _role(segment: Segment) -> Role:
    return Role.SYSTEM if _is_system(segment) else Role.USER
