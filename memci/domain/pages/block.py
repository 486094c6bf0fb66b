"""The text block of one page in a window (P11), and the blocks of a window with token counts (P12).

Every block begins with a heading mark and ends with a blank line: only there do token counts add
up. What pages hold is untrusted: names and descriptions are one line and no heading of their own,
and messages are fenced, so that none can look like another page.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple, TypeAlias

from memci.domain.context.token_budget import Count
from memci.domain.pages.labels import Labels, fenced, plain_line, plain_name
from memci.domain.pages.page import Page, Permission, SegmentKind
from memci.domain.pages.pins import Pin, pin_pieces
from memci.domain.pages.tree import Tree, VisibleTree, is_open
from memci.domain.session.interaction import units_of
from memci.message import Message

_DEEPEST = 6  # headings of Markdown have no more levels
_MOST_LISTED = 10
# Entries of an archived page that are shown.
_MOST_ENTRIES = 6
_LAST_ENTRIES = 2
_MUCH = 200  # tokens; from here on the heading says how many a page takes


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


class Placement(NamedTuple):
    """The level of a page, and how many visible pages it holds."""

    level: int
    inside: int


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

    def block(self, tree: Tree, page: Page, place: Placement, reads: ContentReader) -> str:
        """Return the block of a page without the pages below it."""
        parts = [self._heading(tree, page, place)]
        if tree.is_archived(page):
            parts += self._entries(page)
        elif page.index == tree.counters.archive:
            parts.append(self.labels.archive_says)
        else:
            held = reads(page) if page.expanded and not page.is_folder else PageContent()
            texts = [held.text, *(each.text for each in held.messages)]
            parts += self._description(page, texts)
            if page.expanded and not page.is_folder:
                parts += self._held(tree, page, held)
        return "\n\n".join(parts) + "\n\n"

    def notice(self, collapsed: Sequence[str]) -> str:
        """Return the line that names collapsed pages (P13), or an empty text."""
        if not collapsed:
            return ""
        listed = [*collapsed[:_MOST_LISTED], *(["…"] if len(collapsed) > _MOST_LISTED else [])]
        said = self.labels.collapsed.format(len(collapsed), self.labels.beside.join(listed))
        return f"{self._mark(1)} {said}\n\n"

    def excess(self, excess: Excess | None) -> str:
        """Return the line that says by how much the window exceeds its limit (P13), or ""."""
        if excess is None:
            return ""
        return f"{self._mark(1)} {self.labels.excess.format(**excess._asdict())}\n\n"

    def pins(self, pins: Sequence[Pin]) -> str:
        """Return the block of pinned texts, or an empty text."""
        return "".join(pin_pieces(pins, self.labels, self._mark(1)))

    def name(self, tree: Tree, page: Page) -> str:
        """Return the name of a page; roots and the Contents Page have fixed names."""
        return page.name or self._usual_name(tree, page)

    def speaker(self, message: Message) -> str:
        """Return the role and the name of a message's speaker."""
        role = self.labels.roles[message.role.value]
        return f"{role} {plain_name(message.name)}".strip()

    def _heading(self, tree: Tree, page: Page, place: Placement) -> str:
        name = self.name(tree, page)
        state = self._state(tree, page, place.inside)
        shown = self.labels.heading.format(name, state)
        return f"{self._mark(place.level)} [{page.index}] {shown}"

    def _mark(self, level: int) -> str:
        return ("=" if self.format is Format.TEXT else "#") * min(level, _DEEPEST)

    def _usual_name(self, tree: Tree, page: Page) -> str:
        if page.index == tree.counters.archive:
            return self.labels.archive
        kind = tree.segment_of(page).kind
        return self.labels.system if kind is SegmentKind.SYSTEM else self.labels.conversation

    def _state(self, tree: Tree, page: Page, inside: int) -> str:
        labels = self.labels
        kind = labels.folder if page.is_folder else labels.page
        pinned = [labels.pinned] if page.pinned else []
        if tree.is_archived(page):
            said = [self._recalled(page), *pinned, *self._takes(page)]
        elif page.expanded:
            said = [kind, labels.expanded, *pinned]
        elif page.is_folder:
            said = [kind, labels.folder_hidden.format(inside), *pinned]
        else:
            said = [kind, labels.page_hidden, *pinned, *self._takes(page)]
        return labels.comma.join(said)

    def _recalled(self, page: Page) -> str:
        recalls = page.recalls
        if recalls.count == 1:
            return self.labels.recalled_once.format(recalls.last_at)
        if recalls.count:
            return self.labels.recalled.format(recalls.count, recalls.last_at)
        return self.labels.never_recalled

    def _takes(self, page: Page) -> list[str]:
        """Return the tokens of a large page, rounded to two digits."""
        if page.content_tokens < _MUCH:
            return []
        unit: int = 10 ** (len(str(page.content_tokens)) - 2)
        return [self.labels.takes.format(round(page.content_tokens / unit) * unit)]

    def _entries(self, page: Page) -> list[str]:
        entries = self._shortened(page.entries)
        lines = self._description(page, entries)
        return ["\n".join([*lines, *(f"- {each}" for each in entries)])] if entries else lines

    def _shortened(self, entries: Sequence[str]) -> Sequence[str]:
        """Return the first and last entries, and the number of those between."""
        if len(entries) <= _MOST_ENTRIES:
            return entries
        first = _MOST_ENTRIES - _LAST_ENTRIES - 1
        between = self.labels.more.format(len(entries) - first - _LAST_ENTRIES)
        return [*entries[:first], between, *entries[-_LAST_ENTRIES:]]

    @staticmethod
    def _description(page: Page, beside: Sequence[str]) -> list[str]:
        """Return the description unless the name or the texts ``beside`` contain all of it."""
        said = [_as_words(each) for each in (page.name, *beside)]
        parts = [_as_words(each) for each in page.description.split("→")]
        if all(any(part in each for each in said) for part in parts):
            return []
        return [plain_line(page.description)]

    def _held(self, tree: Tree, page: Page, held: PageContent) -> list[str]:
        if held.lost:
            return [self.labels.lost]
        segment = tree.segment_of(page)
        # What an agent may write is fenced, in a segment of system prompts, too.
        trusted = segment.permission is not Permission.READ_WRITE
        if segment.kind is SegmentKind.SYSTEM and trusted:
            texts = [held.text, *(message.text for message in held.messages)]
            return [text.strip() for text in texts if text.strip()]
        if held.text:
            return [fenced(held.text)]
        messages = held.messages
        if self.format is Format.NATIVE:  # the others follow as they were said
            messages = units_of([each for each in messages if not each.is_note])[1]
        return [
            fenced(each.text, self.speaker(each))
            for each in messages
            if each.text and not each.is_note
        ]


def _as_words(text: str) -> str:
    """Return a text in lower case, without what a shortened copy would differ in."""
    return " ".join(text.lower().split()).rstrip("….。 ")


@dataclass(slots=True)
class RenderedBlock:
    """The block of a page at a level, with token counts."""

    page: Page
    level: int
    text: str
    own: int  # tokens of text
    below: int | None = None  # tokens of the visible pages below; None: not counted
    whole: str | None = None  # text with the pages below; None: not built since a change
    said: int | None = None  # tokens of its messages as separate messages (native format)


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
        known = self._known.get(page.index)
        if known is None or known.level != level or known.page is not page:
            place = Placement(level, self.visible.count_children(page))
            text = self.writer.block(self.visible.tree, page, place, self.reads)
            known = RenderedBlock(page, level, text, self.count(text))
            self._known[page.index] = known
        return known

    def tokens(self, page: Page, level: int) -> int:
        """Return the tokens of a page and all visible pages below it."""
        written = self.of(page, level)
        if not is_open(page):
            return written.own
        if written.below is None:
            inside = self.visible.children(page)
            written.below = sum(self.tokens(each, level + 1) for each in inside)
        return written.own + written.below

    def text(self, page: Page, level: int) -> str:
        """Return the blocks of a page and all visible pages below it, in order."""
        written = self.of(page, level)
        if not is_open(page):
            return written.text
        if written.whole is None:
            below = [self.text(each, level + 1) for each in self.visible.children(page)]
            written.whole = written.text + "".join(below)
        return written.whole

    def forget(self, index: str, before: Page | None) -> None:
        """Drop a page's block, and the sums above its former and its present place."""
        self._known.pop(index, None)
        for page in (before, self.visible.tree.pages.get(index)):
            if page is not None:
                self._forget_sums(page.parent)

    def _forget_sums(self, index: str | None) -> None:
        first = True
        while index is not None:
            written = self._known.get(index)
            page = self.visible.tree.pages.get(index)
            if written is not None:
                written.below = written.whole = None
                if first and page is not None and not page.expanded:
                    del self._known[index]  # its heading counts the pages inside
            first = False
            index = page.parent if page is not None else None
