"""The blocks that readers yield, and the limits of reading."""

from dataclasses import dataclass
from enum import StrEnum


class BlockKind(StrEnum):
    """The kind of a block."""

    HEADING = "heading"
    TEXT = "text"
    ROW = "row"
    CODE = "code"


@dataclass(frozen=True, slots=True)
class Block:
    """One part of a document."""

    kind: BlockKind
    text: str
    level: int = 0  # of a heading, from 1
    header: str = ""  # of a row, the names of its columns, which every chunk of the table repeats
    language: str = ""  # of code
    # Lines count from 1, both ends included.
    first_line: int | None = None
    last_line: int | None = None
    page: int | None = None


def heading(text: str, level: int, *, line: int | None = None, page: int | None = None) -> Block:
    """Return a heading on one line."""
    joined = " ".join(text.split())
    return Block(BlockKind.HEADING, joined, level=level, first_line=line, last_line=line, page=page)


def row(cells: list[str], header: str, *, page: int | None = None) -> Block:
    """Return a row of a table; ``header`` is one text for all of its rows."""
    return Block(BlockKind.ROW, join_cells(cells), header=header, page=page)


def join_cells(cells: list[str]) -> str:
    """Return the cells on one line, with bars between them."""
    texts = [" ".join(each.split()) for each in cells]
    while texts and not texts[-1]:
        texts.pop()
    return " | ".join(texts)


@dataclass(frozen=True, slots=True)
class ExtractionLimits:
    """Limits of one file; a file over one of them is refused as a whole."""

    unpacked_bytes: int = 256 * 1024 * 1024  # of a zip: Office files, EPUB
    pages: int = 2_000  # of a PDF, or slides
    seconds: int = 60  # of processor time, and twice as many of real time
    memory_bytes: int = 1024 * 1024 * 1024  # of the process that reads it
    chunks: int = 20_000
