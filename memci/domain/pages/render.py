"""The window of a page tree: the message list that a model sees (P11), with token counts (P12)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile

from memci.domain.pages.page import USER, Page, Segment
from memci.domain.pages.pins import PINS, Pin
from memci.domain.pages.tree import Tree, VisibleTree
from memci.domain.pages.window_text import (
    BlockWriter,
    ContentReader,
    Excess,
    Format,
    RenderedBlocks,
)
from memci.domain.session.interaction import units_of
from memci.domain.session.plan import Plan
from memci.domain.token_counts import LIST_OVERHEAD, MESSAGE_OVERHEAD, Count, Utterance
from memci.message import Role


@dataclass(frozen=True, slots=True)
class NativeMessages:
    """The native format: blocks, and between them the messages of expanded interactions."""

    visible: VisibleTree
    blocks: RenderedBlocks

    def of(self, segment: Segment, notice: str) -> list[Utterance]:
        """Return the messages of a segment; the current interaction comes last."""
        role, text = segment.role, notice
        written: list[Utterance] = []
        current: list[Utterance] = []
        for page, level in self.visible.walk(segment):
            block = self.blocks.of(page, level).text
            if not self._has_messages(page):
                text += block
            elif self.visible.is_current(page):
                current = [Utterance(role, block), *self._messages(page)]
            else:
                written += [Utterance(role, text + block), *self._messages(page)]
                text = ""
        return [*written, *([Utterance(role, text)] if text else []), *current]

    def tokens(self, segment: Segment, notice: str) -> int:
        """Return the tokens of those messages; unchanged blocks are not counted again (P12)."""
        count = self.blocks.count
        total, blocks, is_begun = count(notice) if notice else 0, 0, bool(notice)
        for page, level in self.visible.walk(segment):
            block = self.blocks.of(page, level)
            total += block.own
            if not self._has_messages(page):
                is_begun = True
                continue
            if block.messages is None:
                block.messages = sum(each.tokens(count) for each in self._messages(page))
            total += block.messages
            blocks += 1
            is_begun = is_begun and self.visible.is_current(page)
        return total + MESSAGE_OVERHEAD * (blocks + is_begun)

    def _messages(self, page: Page) -> list[Utterance]:
        messages = [each for each in self.blocks.reads(page).messages if not each.is_note]
        units, _ = units_of(messages)
        return [Utterance.of(message) for unit in units for message in unit]

    def _has_messages(self, page: Page) -> bool:
        return (
            page.expanded
            and page.span is not None
            and page.span.number > 0
            and not self.visible.tree.is_archived(page)
        )


@dataclass(frozen=True, slots=True)
class Window:
    """The messages for a model, and exactly how many tokens they take."""

    messages: tuple[Utterance, ...]
    tokens: int
    by_segment: dict[str, int]  # tokens
    collapsed: tuple[str, ...]  # indexes of the pages that the last change hid (P13)


@dataclass
class Rendering:
    """The window of one session over a tree; ``refresh`` updates it."""

    tree: Tree
    writer: BlockWriter
    count: Count
    reads: ContentReader
    session_id: str | None = None
    pins: tuple[Pin, ...] = ()
    excess: Excess | None = None  # shown in the window
    plan: Plan | None = None  # of the session; it decides which pages are hidden first (P13)
    pin_tokens: int = field(init=False, default=0)  # of the message of pins
    visible: VisibleTree = field(init=False)
    _pinned: Utterance | None = field(init=False, default=None)
    _visibility: dict[str, bool] = field(init=False, default_factory=dict)
    _blocks: RenderedBlocks = field(init=False)
    _native: NativeMessages = field(init=False)

    def __post_init__(self) -> None:
        self.visible = VisibleTree(self.tree, self.session_id)
        self._blocks = RenderedBlocks(self.visible, self.writer, self.count, self.reads)
        self._native = NativeMessages(self.visible, self._blocks)
        self.pin(self.pins)

    def pin(self, pins: Iterable[Pin]) -> None:
        """Set the pins that the window shows."""
        self.pins = tuple(pins)
        self._pinned = self._pin_message(self.pins)
        self.pin_tokens = self.tokens_of_pins(self.pins)

    def tokens_of_pins(self, pins: Sequence[Pin]) -> int:
        """Return the tokens of a message with these pins."""
        message = self._pin_message(pins)
        return message.tokens(self.count) if message else 0

    def tokens(self) -> int:
        """Return the tokens of the whole window."""
        messages = sum(self.tokens_of(each) for each in self._ordered_segments()) + self.pin_tokens
        return LIST_OVERHEAD + messages if messages else 0

    def tokens_of(self, segment: Segment) -> int:
        """Return the tokens of a segment's messages."""
        notice = self._notice(segment)
        if self._is_native:
            return self._native.tokens(segment, notice)
        blocks = self._blocks.tokens(self.tree[segment.root], 1)
        return MESSAGE_OVERHEAD + blocks + (self.count(notice) if notice else 0)

    def own_tokens(self, page: Page) -> int:
        """Return the tokens of a page's own block."""
        return self._blocks.of(page, self.visible.level(page)).own

    def window(self) -> Window:
        """Return the window."""
        messages: list[Utterance] = []
        by_segment: dict[str, int] = {}
        shown = self._ordered_segments()
        system = list(takewhile(lambda segment: segment.role is Role.SYSTEM, shown))
        for segment in (*system, None, *shown[len(system) :]):
            if segment is not None:
                messages += self._messages_of(segment)
                by_segment[segment.id] = self.tokens_of(segment)
            elif self._pinned is not None:  # before the conversation, since pins change less (R13)
                messages.append(self._pinned)
                by_segment[PINS] = self.pin_tokens
        tokens = LIST_OVERHEAD + sum(by_segment.values()) if messages else 0
        return Window(tuple(messages), tokens, by_segment, self.collapsed())

    def collapsed(self) -> tuple[str, ...]:
        """Return the pages hidden by the last change that the session sees (P13)."""
        return tuple(each for each in self.tree.counters.notice if self._contains(each))

    def refresh(self, changed: Mapping[str, Page | None]) -> None:
        """Update after changes; ``changed`` has the former values of the changed pages."""
        for index, before in changed.items():
            self._blocks.forget(index, before)
            now = self.tree.pages.get(index)
            if before is None or now is None or _position(before) != _position(now):
                self._visibility.clear()

    def put(self, page: Page) -> None:
        """Replace a page of the tree, and refresh."""
        before = self.tree.pages[page.index]
        self.tree.put(page)
        self.refresh({page.index: before})

    def _contains(self, index: str) -> bool:
        """Return True if the session sees the page; cached, because collapsing asks often."""
        if index not in self._visibility:
            page = self.tree.pages.get(index)
            self._visibility[index] = page is not None and self.visible.contains(page)
        return self._visibility[index]

    @property
    def _is_native(self) -> bool:
        return self.writer.format is Format.NATIVE

    def _pin_message(self, pins: Sequence[Pin]) -> Utterance | None:
        text = self.writer.pins(pins)
        return Utterance(Role.USER, text) if text else None

    def _ordered_segments(self) -> list[Segment]:
        shown = self.visible.segments()
        if self._is_native:  # the conversation continues after the window
            shown.sort(key=lambda each: each.id == USER)
        return shown

    def _messages_of(self, segment: Segment) -> list[Utterance]:
        notice = self._notice(segment)
        if self._is_native:
            return self._native.of(segment, notice)
        text = self._blocks.text(self.tree[segment.root], 1)
        return [Utterance(segment.role, notice + text)]

    def _notice(self, segment: Segment) -> str:
        if segment.id != USER:
            return ""
        return self.writer.excess(self.excess) + self.writer.notice(self.collapsed())


def _position(page: Page) -> tuple[str | None, bool, str]:
    return page.parent, page.cold, page.chapter
