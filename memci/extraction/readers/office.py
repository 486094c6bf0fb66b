"""Reads Word documents, slides and PDF; macros and scripts never run."""

import io
import logging
import re
from collections.abc import Iterable, Iterator
from typing import Any

from memci.errors import UnreadableDocumentError
from memci.extraction.blocks import Block, BlockKind, ExtractionLimits, heading
from memci.extraction.readers.markdown import read_text
from memci.extraction.readers.structured_data import rows_of

# As Word names them in English and in Chinese.
_HEADING = re.compile(r"(?:heading|标题|標題)\s*(\d)", re.IGNORECASE)
_TITLES = frozenset({"title", "标题", "標題"})
_DEEPEST_GROUP = 8


def read_docx(body: bytes) -> Iterator[Block]:
    """Yield headings by their styles, paragraphs, and rows of tables."""
    from docx import Document  # noqa: PLC0415 - loads for this format alone
    from docx.table import Table  # noqa: PLC0415

    levels: dict[str | None, int | None] = {None: None}  # by style: a library searches it each time
    for part in Document(io.BytesIO(body)).iter_inner_content():
        if isinstance(part, Table):
            yield from rows_of(_rows(part))
        elif text := part.text.strip():
            style = part._p.style  # noqa: SLF001 - the id of the style
            if style not in levels:
                levels[style] = _heading_level(part.style.name if part.style is not None else None)
            level = levels[style]
            yield heading(text, level) if level is not None else Block(BlockKind.TEXT, text)


def _rows(table: Any) -> Iterator[list[str]]:
    """Yield the texts of rows: a cell over columns once, a cell over rows in each of them."""
    from docx.table import _Cell  # noqa: PLC0415

    above: dict[int, str] = {}
    for row in table.rows:
        here: dict[int, str] = {}
        column = row.grid_cols_before
        for each in row._tr.tc_lst:  # noqa: SLF001 - "cells" repeats them, as often as a file says
            goes_on = each.vMerge == "continue"
            here[column] = above.get(column, "") if goes_on else _Cell(each, table).text
            column += each.grid_span
        yield list(here.values())
        above = here


def _heading_level(style: str | None) -> int | None:
    """Return the level of a heading's style, 0 for the title's; None for other styles."""
    if style is None:
        return None
    if style.strip().lower() in _TITLES:
        return 0
    found = _HEADING.match(style.strip())
    return int(found[1]) if found else None


def read_pptx(body: bytes, limits: ExtractionLimits) -> Iterator[Block]:
    """Yield each slide: its title as a heading, texts, tables and notes."""
    from pptx import Presentation  # noqa: PLC0415 - loads for this format alone

    slides = Presentation(io.BytesIO(body)).slides
    if len(slides) > limits.pages:
        raise UnreadableDocumentError(
            f"{len(slides)} slides are more than {limits.pages}: split the file"
        )
    for number, slide in enumerate(slides, start=1):
        title = slide.shapes.title
        title_text = title.text_frame.text if title is not None and title.has_text_frame else ""
        yield heading(title_text, 1, page=number)
        title_id = None if title is None else title.shape_id
        yield from _shapes((s for s in slide.shapes if s.shape_id != title_id), number, 0)
        if slide.has_notes_slide:
            notes = slide.notes_slide.notes_text_frame
            if notes is not None and notes.text.strip():
                yield Block(BlockKind.TEXT, notes.text.strip(), page=number)


def _shapes(shapes: Iterable[Any], number: int, depth: int) -> Iterator[Block]:
    for shape in shapes:
        if getattr(shape, "has_table", False):
            rows = ([cell.text for cell in each.cells] for each in shape.table.rows)
            yield from rows_of(rows, page=number)
        elif getattr(shape, "has_text_frame", False) and shape.text_frame.text.strip():
            yield Block(BlockKind.TEXT, shape.text_frame.text.strip(), page=number)
        elif hasattr(shape, "shapes") and depth < _DEEPEST_GROUP:
            yield from _shapes(shape.shapes, number, depth + 1)


_HYPHEN = re.compile(r"(?<=[a-z])-\n(?=[a-z])")
# A line ends where the page does, and Chinese has no blanks between words.
_HAN_SEAM = re.compile(r"(?<=[\u3400-\u9fff，、])\n(?=[\u3400-\u9fff])")
_MOST_BOOKMARKS = 5_000
_DEEPEST = 6


def read_pdf(body: bytes, limits: ExtractionLimits) -> Iterator[Block]:
    """Yield the paragraphs of each page.

    Raises ``UnreadableDocumentError`` if it needs a password, has too many pages or no text.
    """
    from pypdf import PdfReader  # noqa: PLC0415 - loads for this format alone

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    reader = PdfReader(io.BytesIO(body))
    if reader.is_encrypted and not reader.decrypt(""):
        raise UnreadableDocumentError("this PDF needs a password: save it without one")
    pages = len(reader.pages)
    if pages > limits.pages:
        raise UnreadableDocumentError(f"{pages} pages are more than {limits.pages}: split the file")
    marks = _bookmarks(reader)
    found = False
    for number, page in enumerate(reader.pages, start=1):
        for title, level in marks.get(number, []):
            yield heading(title, level, page=number)
        text = page.extract_text()
        for block in read_text(_HAN_SEAM.sub("", _HYPHEN.sub("", text))):
            found = True
            yield Block(BlockKind.TEXT, block.text, page=number)
    if not found:
        raise UnreadableDocumentError(
            "there is no text in this PDF: if it was scanned, let a program for character"
            " recognition (OCR) add the text first"
        )


def _bookmarks(reader: Any) -> dict[int, list[tuple[str, int]]]:
    """Return titles and levels by page, from 1, without broken ones."""
    marks: dict[int, list[tuple[str, int]]] = {}
    try:
        waiting: list[tuple[Any, int]] = [(each, 1) for each in reversed(reader.outline)]
        seen = 0
        while waiting and seen < _MOST_BOOKMARKS:
            item, level = waiting.pop()
            seen += 1
            if isinstance(item, list):
                waiting += [(each, min(level + 1, _DEEPEST)) for each in reversed(item)]
                continue
            page = reader.get_destination_page_number(item)
            if page is not None and page >= 0 and item.title:
                marks.setdefault(page + 1, []).append((str(item.title), level))
    except Exception:  # noqa: BLE001, S110 - the text can be read without them
        pass
    return marks
