"""Blocks that readers yield, and the limits of reading."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class BlockKind(StrEnum):
    """What a block is."""

    HEADING = "heading"
    TEXT = "text"
    ROW = "row"
    CODE = "code"


@dataclass(frozen=True, slots=True)
class Block:
    """One piece as it stands in the document.

    ``level``: of a heading, from 1. ``header``: of a row, the names of its columns, which every
    chunk of the table repeats. ``language``: of code. Lines are counted from 1, both included.
    """

    kind: BlockKind
    text: str
    level: int = 0
    header: str = ""
    language: str = ""
    first_line: int | None = None
    last_line: int | None = None
    page: int | None = None


def heading(text: str, level: int, *, line: int | None = None, page: int | None = None) -> Block:
    """Return a heading on one line."""
    joined = " ".join(text.split())
    return Block(BlockKind.HEADING, joined, level=level, first_line=line, last_line=line, page=page)


def row(cells: list[str], header: list[str], *, page: int | None = None) -> Block:
    """Return a row of a table; cells are shown on one line, with bars between them."""
    return Block(BlockKind.ROW, _line(cells), header=_line(header), page=page)


def _line(cells: list[str]) -> str:
    shown = [" ".join(each.split()) for each in cells]
    while shown and not shown[-1]:
        shown.pop()
    return " | ".join(shown)


@dataclass(frozen=True, slots=True)
class ExtractionLimits:
    """Limits of one file; whatever is over one of them is refused whole, and says so.

    ``unpacked_bytes``: what a zip (Office files, EPUB) may hold. ``pages``: of a PDF, or slides.
    ``seconds``: of processor time, and twice as many on the clock. ``memory_bytes``: of the process
    that reads it. ``chunks``: that it may give.
    """

    unpacked_bytes: int = 256 * 1024 * 1024
    pages: int = 2_000
    seconds: int = 60
    memory_bytes: int = 1024 * 1024 * 1024
    chunks: int = 20_000
