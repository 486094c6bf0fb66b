"""CSV and TSV, and workbooks: rows, each chunk with the names of its columns."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from itertools import islice

from memci.errors import UnreadableDocumentError
from memci.extraction.block import Block, heading, row
from memci.extraction.limits import ExtractionLimits

_SAMPLE = 16 * 1024
_MOST_CELL = 1024 * 1024
_MOST_COLUMNS = 256
# Rows looked at in one sheet, empty ones too: a workbook may claim a million of them.
_MOST_ROWS = 200_000


def read_csv(text: str, delimiter: str | None = None) -> Iterator[Block]:
    """Yield the rows; the first one names the columns."""
    csv.field_size_limit(_MOST_CELL)
    try:
        sniffed = delimiter or csv.Sniffer().sniff(text[:_SAMPLE], delimiters=",;\t|").delimiter
    except csv.Error:
        sniffed = ","
    try:
        yield from rows_of(csv.reader(io.StringIO(text), delimiter=sniffed))
    except csv.Error as error:
        raise UnreadableDocumentError(f"this is no table of that kind: {error}") from None


def rows_of(table: Iterable[list[str]], page: int | None = None) -> Iterator[Block]:
    """Yield rows below the first one that has something in it."""
    header: list[str] | None = None
    alone = True
    for cells in islice(table, _MOST_ROWS):
        shown = [each.strip() for each in cells[:_MOST_COLUMNS]]
        if not any(shown):
            continue
        if header is None:
            header = shown
            continue
        alone = False
        yield row(shown, header, page=page)
    if header is not None and alone:
        yield row(header, [], page=page)


def read_xlsx(body: bytes, limits: ExtractionLimits) -> Iterator[Block]:
    """Yield the rows of every sheet, as the last program that saved it has calculated them."""
    from openpyxl import load_workbook  # noqa: PLC0415 - loads for this format alone

    book = load_workbook(io.BytesIO(body), read_only=True, data_only=True, keep_links=False)
    for number, sheet in enumerate(book.worksheets[: limits.pages], start=1):
        yield heading(sheet.title, 1, page=number)
        rows = sheet.iter_rows(values_only=True, max_col=_MOST_COLUMNS, max_row=_MOST_ROWS)
        yield from rows_of(([_cell(each) for each in cells] for cells in rows), page=number)


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).removesuffix(" 00:00:00")
