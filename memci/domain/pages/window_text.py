"""The text block of one page in a window (P11), and the blocks of a window with tokens (P12).

Every block begins with a heading mark and ends with a blank line: token counts add up only there.
The content of pages is untrusted. Names and descriptions are one line and no heading, and messages
are fenced, so that none can look like another page.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple, TypeAlias

from memci.domain.pages.page import Page, Permission, SegmentKind
from memci.domain.pages.pins import Pin, pin_pieces
from memci.domain.pages.tree import Tree, VisibleTree, is_open
from memci.domain.pages.window_labels import Labels, fenced, plain_line, plain_name
from memci.domain.session.interaction import units_of
from memci.domain.token_counts import Count
from memci.message import Message

_DEEPEST = 6  # the deepest level of Markdown headings
_MOST_LISTED = 10
# Entries of an archived page that are shown.
_MOST_ENTRIES = 6
_LAST_ENTRIES = 2
_MUCH = 200  # the heading shows the tokens of larger pages


class Format(StrEnum):
    """The format of a window."""

    MARKDOWN = "markdown"
    TEXT = "text"
    NATIVE = "native"  # expanded interactions keep their own roles, as separate messages


@dataclass(frozen=True, slots=True)
class PageContent:
    """The content of a page: messages of an interaction, or the text of a note."""

    messages: Sequence[Message] = ()
    text: str = ""
    lost: bool = False  # the page store has lost the text (P14)


class Excess(NamedTuple):
    """Tokens by which a window exceeds its limit, and that limit."""

    over: int
    most: int


ContentReader: TypeAlias = Callable[[Page], PageContent]


@dataclass(frozen=True, slots=True)
class BlockWriter:
    """Writes blocks in one format, in the agent's language."""

    format: Format
    labels: Labels

    def block(self, visible: VisibleTree, page: Page, level: int, reads: ContentReader) -> str:
        """Return the block of a page at a level, from 1, without the pages below it."""
        tree = visible.tree
        state = self._state_words(tree, page, visible.count_children(page))
        heading = self.labels.heading.format(self.name(tree, page), state)
        parts = [f"{self._heading_mark(level)} [{page.index}] {heading}"]
        if tree.is_archived(page):
            parts += self._entries(page)
        elif page.index == tree.counters.archive:
            parts.append(self.labels.archive_says)
        else:
            is_shown = page.expanded and not page.is_folder
            content = reads(page) if is_shown else PageContent()
            texts = [content.text, *(each.text for each in content.messages)]
            parts += self._description(page, texts)
            if is_shown:
                parts += self._content(tree, page, content)
        return "\n\n".join(parts) + "\n\n"

    def notice(self, collapsed: Sequence[str]) -> str:
        """Return the line that lists collapsed pages (P13), or an empty text."""
        if not collapsed:
            return ""
        listed = [*collapsed[:_MOST_LISTED], *(["…"] if len(collapsed) > _MOST_LISTED else [])]
        indexes = self.labels.between.join(listed)
        return (
            f"{self._heading_mark(1)} {self.labels.collapsed.format(len(collapsed), indexes)}\n\n"
        )

    def excess(self, excess: Excess | None) -> str:
        """Return the line about tokens over the limit (P13), or ""."""
        if excess is None:
            return ""
        return f"{self._heading_mark(1)} {self.labels.excess.format(**excess._asdict())}\n\n"

    def pins(self, pins: Sequence[Pin]) -> str:
        """Return the block of pinned texts, or an empty text."""
        return "".join(pin_pieces(pins, self.labels, self._heading_mark(1)))

    def name(self, tree: Tree, page: Page) -> str:
        """Return the name of a page; roots and the Contents Page have fixed names."""
        if page.name:
            return page.name
        if page.index == tree.counters.archive:
            return self.labels.archive
        is_system = tree.segment_of(page).kind is SegmentKind.SYSTEM
        return self.labels.system if is_system else self.labels.conversation

    def speaker(self, message: Message) -> str:
        """Return the role and the name of a message's speaker."""
        role = self.labels.roles[message.role.value]
        return f"{role} {plain_name(message.name)}".strip()

    def _heading_mark(self, level: int) -> str:
        return ("=" if self.format is Format.TEXT else "#") * min(level, _DEEPEST)

    def _state_words(self, tree: Tree, page: Page, inside: int) -> str:
        labels = self.labels
        kind = labels.folder if page.is_folder else labels.page
        pinned = [labels.pinned] if page.pinned else []
        size = []
        if page.content_tokens >= _MUCH:  # rounded to two digits
            unit: int = 10 ** (len(str(page.content_tokens)) - 2)
            size = [labels.takes.format(round(page.content_tokens / unit) * unit)]
        if tree.is_archived(page):
            words = [self._recalled(page), *pinned, *size]
        elif page.expanded:
            words = [kind, labels.expanded, *pinned]
        elif page.is_folder:
            words = [kind, labels.folder_hidden.format(inside), *pinned]
        else:
            words = [kind, labels.page_hidden, *pinned, *size]
        return labels.comma.join(words)

    def _recalled(self, page: Page) -> str:
        recalls = page.recalls
        if recalls.count == 1:
            return self.labels.recalled_once.format(recalls.last_at)
        if recalls.count:
            return self.labels.recalled.format(recalls.count, recalls.last_at)
        return self.labels.never_recalled

    def _entries(self, page: Page) -> list[str]:
        entries: Sequence[str] = page.entries
        if len(entries) > _MOST_ENTRIES:  # the first and last ones, and the number between
            first = _MOST_ENTRIES - _LAST_ENTRIES - 1
            between = self.labels.more.format(len(entries) - first - _LAST_ENTRIES)
            entries = [*entries[:first], between, *entries[-_LAST_ENTRIES:]]
        lines = self._description(page, entries)
        return ["\n".join([*lines, *(f"- {each}" for each in entries)])] if entries else lines

    @staticmethod
    def _description(page: Page, shown: Sequence[str]) -> list[str]:
        """Return the description unless the name or the ``shown`` texts contain all of it."""
        texts = [_as_words(each) for each in (page.name, *shown)]
        parts = [_as_words(each) for each in page.description.split("→")]
        is_repeated = all(any(part in each for each in texts) for part in parts)
        return [] if is_repeated else [plain_line(page.description)]

    def _content(self, tree: Tree, page: Page, content: PageContent) -> list[str]:
        if content.lost:
            return [self.labels.lost]
        messages, segment = content.messages, tree.segment_of(page)
        # Text that an agent may write is fenced, also in a segment of system prompts.
        trusted = segment.permission is not Permission.READ_WRITE
        if segment.kind is SegmentKind.SYSTEM and trusted:
            texts = [content.text, *(message.text for message in messages)]
            return [text.strip() for text in texts if text.strip()]
        if content.text:
            return [fenced(content.text)]
        messages = [each for each in messages if not each.is_note]
        if self.format is Format.NATIVE:  # complete ones are separate messages of the window
            messages = units_of(messages)[1]
        return [fenced(each.text, self.speaker(each)) for each in messages if each.text]


def _as_words(text: str) -> str:
    """Return a text in lower case, without spaces and dots, which differ in shortened copies."""
    return " ".join(text.lower().split()).rstrip("….。 ")


@dataclass(slots=True)
class RenderedBlock:
    """The block of a page at a level, with token counts."""

    page: Page
    level: int
    text: str
    own: int  # tokens of text
    below: int | None = None  # tokens of the visible pages below; None: not counted
    messages: int | None = None  # tokens of its separate messages (native format)


@dataclass(frozen=True, slots=True)
class RenderedBlocks:
    """The blocks of a window, each rendered at its first use; ``reads`` returns page content."""

    visible: VisibleTree
    writer: BlockWriter
    count: Count
    reads: ContentReader
    _known: dict[str, RenderedBlock] = field(default_factory=dict)

    def of(self, page: Page, level: int) -> RenderedBlock:
        """Return the block of a page."""
        block = self._known.get(page.index)
        if block is None or block.level != level or block.page is not page:
            text = self.writer.block(self.visible, page, level, self.reads)
            block = RenderedBlock(page, level, text, self.count(text))
            self._known[page.index] = block
        return block

    def tokens(self, page: Page, level: int) -> int:
        """Return the tokens of a page and all visible pages below it."""
        block = self.of(page, level)
        if not is_open(page):
            return block.own
        if block.below is None:
            inside = self.visible.children(page)
            block.below = sum(self.tokens(each, level + 1) for each in inside)
        return block.own + block.below

    def text(self, page: Page, level: int) -> str:
        """Return the blocks of a page and all visible pages below it, in order."""
        block = self.of(page, level)
        if not is_open(page):
            return block.text
        below = [self.text(each, level + 1) for each in self.visible.children(page)]
        return block.text + "".join(below)

    def forget(self, index: str, before: Page | None) -> None:
        """Drop a page's block, and the sums above its former and its present place."""
        self._known.pop(index, None)
        for page in (before, self.visible.tree.pages.get(index)):
            if page is not None:
                self._forget_sums(page.parent)

    def _forget_sums(self, index: str | None) -> None:
        first = True
        while index is not None:
            block = self._known.get(index)
            page = self.visible.tree.pages.get(index)
            if block is not None:
                block.below = None
                if first and page is not None and not page.expanded:
                    del self._known[index]  # its heading counts the pages inside
            first = False
            index = page.parent if page is not None else None
