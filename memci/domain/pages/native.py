"""A segment as messages of several roles: what was said is told as it was said (P11)."""

from __future__ import annotations

from dataclasses import dataclass

from memci.domain.context.budget import MESSAGE_OVERHEAD, Utterance
from memci.domain.context.interaction import units_of
from memci.domain.pages.page import Page
from memci.domain.pages.segment import Segment
from memci.domain.pages.sight import Sight
from memci.domain.pages.written import WrittenBlocks


@dataclass(frozen=True, slots=True)
class NativeMessages:
    """Blocks as messages of their segment, and between them those of expanded interactions.

    ``notice`` is what goes before a segment's first block; empty: nothing does.
    """

    sight: Sight
    blocks: WrittenBlocks

    def of(self, segment: Segment, notice: str) -> list[Utterance]:
        """Return the messages of a segment.

        The current interaction comes last, wherever it lies: a model answers what it reads last.
        """
        role, text = segment.role, notice
        written: list[Utterance] = []
        current: list[Utterance] = []
        for page, level in self.sight.walk(segment):
            block = self.blocks.of(page, level).text
            if not self._speaks(page):
                text += block
            elif self.sight.is_current(page):
                current = [Utterance(role, block), *self._said(page)]
            else:
                written += [Utterance(role, text + block), *self._said(page)]
                text = ""
        return [*written, *([Utterance(role, text)] if text else []), *current]

    def tokens(self, segment: Segment, notice: str) -> int:
        """Return what those messages take; what has not changed is not counted again (P12)."""
        total, blocks, is_begun = self.blocks.count(notice) if notice else 0, 0, bool(notice)
        for page, level in self.sight.walk(segment):
            total += self.blocks.of(page, level).own
            if not self._speaks(page):
                is_begun = True
                continue
            total += self._said_tokens(page, level)
            blocks += 1
            is_begun = is_begun and self.sight.is_current(page)
        return total + MESSAGE_OVERHEAD * (blocks + is_begun)

    def _said_tokens(self, page: Page, level: int) -> int:
        written = self.blocks.of(page, level)
        if written.said is None:
            written.said = sum(each.tokens(self.blocks.count) for each in self._said(page))
        return written.said

    def _said(self, page: Page) -> list[Utterance]:
        """Return what was said as a chat API takes it; the block has what is no part of that."""
        messages = [each for each in self.blocks.reads(page).messages if not each.is_note]
        units, _ = units_of(messages)
        return [Utterance.of(message) for unit in units for message in unit]

    def _speaks(self, page: Page) -> bool:
        """Whether its messages are messages of a native window: not those of archived pages."""
        return (
            page.expanded
            and page.span is not None
            and page.span.number > 0
            and not self.sight.tree.is_archived(page)
        )
