"""What a block of found things looks like: a header, groups under headings, entries (R13)."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator
from typing import Protocol

from memci.domain.context.candidate import Candidate
from memci.domain.language import Language


class Layout(Protocol):
    """How candidates are written; each piece ends with its line.

    ``excerpt`` and ``quotation`` are such modules.
    """

    def header(self, language: Language, /) -> str:
        """Return what stands above the block."""
        ...

    def group_of(self, candidate: Candidate, /) -> Hashable:
        """Return what it shares a heading with."""
        ...

    def heading(self, candidate: Candidate, language: Language, /) -> str:
        """Return the line above its group."""
        ...

    def line(self, candidate: Candidate, language: Language, /) -> str:
        """Return one entry."""
        ...

    def in_order(
        self, candidates: Collection[Candidate], /, *, best_first: bool = False
    ) -> list[Candidate]:
        """Return candidates, given best first, in the order in which they are read."""
        ...


def written(
    layout: Layout, ordered: Iterable[Candidate], language: Language
) -> Iterator[tuple[Candidate, str]]:
    """Yield each candidate with its text; the texts joined are the whole block."""
    above, last = layout.header(language), None
    for each in ordered:
        group = layout.group_of(each)
        if group != last:
            above += layout.heading(each, language)
        yield each, above + layout.line(each, language)
        above, last = "", group
