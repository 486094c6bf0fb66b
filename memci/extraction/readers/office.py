"""Word documents and slides; macros in them are never looked at."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator
from typing import Any

from memci.errors import UnreadableDocumentError
from memci.extraction.block import Block, BlockKind, heading
from memci.extraction.limits import ExtractionLimits
from memci.extraction.readers.tables import rows_of

# As Word names them in English and in Chinese.
_HEADING = re.compile(r"(?:heading|标题|標題)\s*(\d)", re.IGNORECASE)
_TITLES = frozenset({"title", "标题", "標題"})
_DEEPEST_GROUP = 8


def read_docx(body: bytes) -> Iterator[Block]:
    """Yield headings by their styles, paragraphs, and rows of tables."""
    from docx import Document  # noqa: PLC0415 - loads for this format alone
    from docx.table import Table  # noqa: PLC0415

    for part in Document(io.BytesIO(body)).iter_inner_content():
        if isinstance(part, Table):
            yield from rows_of(_cells(each.cells for each in part.rows))
        elif part.text.strip():
            level = _level(part.style.name if part.style is not None else None)
            yield (
                heading(part.text, level)
                if level is not None
                else Block(BlockKind.TEXT, part.text.strip())
            )


def _level(style: str | None) -> int | None:
    """Return the level of a heading's style, 0 for the title's; None for any other."""
    if style is None:
        return None
    if style.strip().lower() in _TITLES:
        return 0
    found = _HEADING.match(style.strip())
    return int(found[1]) if found else None


def _cells(rows: Iterable[Iterable[Any]]) -> Iterator[list[str]]:
    """Yield the texts of rows; cells that are one stand there once."""
    for cells in rows:
        texts: list[str] = []
        before: object = None
        for cell in cells:
            own = getattr(cell, "_tc", cell)
            if own is not before:
                texts.append(cell.text)
            before = own
        yield texts


def read_pptx(body: bytes, limits: ExtractionLimits) -> Iterator[Block]:
    """Yield each slide: its title as a heading, texts, tables and notes."""
    from pptx import Presentation  # noqa: PLC0415 - loads for this format alone

    slides = Presentation(io.BytesIO(body)).slides
    if len(slides) > limits.pages:
        raise UnreadableDocumentError(
            f"{len(slides)} slides are more than {limits.pages}: split the file, or raise"
            " MEMCI_MAX_DOCUMENT_PAGES"
        )
    for number, slide in enumerate(slides, start=1):
        title = slide.shapes.title
        said = title.text_frame.text if title is not None and title.has_text_frame else ""
        yield heading(said, 1, page=number)
        own = None if title is None else title.shape_id
        yield from _shapes((s for s in slide.shapes if s.shape_id != own), number, 0)
        if slide.has_notes_slide:
            notes = slide.notes_slide.notes_text_frame
            if notes is not None and notes.text.strip():
                yield Block(BlockKind.TEXT, notes.text.strip(), page=number)


def _shapes(shapes: Iterable[Any], number: int, depth: int) -> Iterator[Block]:
    for shape in shapes:
        if getattr(shape, "has_table", False):
            yield from rows_of(_cells(each.cells for each in shape.table.rows), page=number)
        elif getattr(shape, "has_text_frame", False) and shape.text_frame.text.strip():
            yield Block(BlockKind.TEXT, shape.text_frame.text.strip(), page=number)
        elif hasattr(shape, "shapes") and depth < _DEEPEST_GROUP:
            yield from _shapes(shape.shapes, number, depth + 1)
