"""PDF: the text of each page, below the bookmarks that lead there; scripts in it never run."""

from __future__ import annotations

import io
import logging
import re
from collections.abc import Iterator
from typing import Any

from memci.errors import UnreadableDocumentError
from memci.extraction.block import Block, BlockKind, heading
from memci.extraction.limits import ExtractionLimits
from memci.extraction.readers.text import read_text

_HYPHEN = re.compile(r"(?<=[a-z])-\n(?=[a-z])")
# A line ends where the page does, and Chinese has no blanks between words.
_HAN_SEAM = re.compile(r"(?<=[\u3400-\u9fff，、])\n(?=[\u3400-\u9fff])")
_MOST_BOOKMARKS = 5_000
_DEEPEST = 6


def read_pdf(body: bytes, limits: ExtractionLimits) -> Iterator[Block]:
    """Yield the paragraphs of each page.

    Raises ``UnreadableDocumentError`` for what needs a password, has too many pages or no text.
    """
    from pypdf import PdfReader  # noqa: PLC0415 - loads for this format alone

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    reader = PdfReader(io.BytesIO(body))
    if reader.is_encrypted and not reader.decrypt(""):
        raise UnreadableDocumentError("this PDF needs a password: save it without one")
    pages = len(reader.pages)
    if pages > limits.pages:
        raise UnreadableDocumentError(
            f"{pages} pages are more than {limits.pages}: split the file, or raise"
            " MEMCI_MAX_DOCUMENT_PAGES"
        )
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
    """Return titles and levels by the page, from 1, that they lead to; a broken one is left out."""
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
    except Exception:  # noqa: BLE001 - the text can be read without them
        return marks
    return marks
