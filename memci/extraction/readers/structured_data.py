"""Reads JSON, notebooks, CSV and workbooks."""

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

from memci.errors import UnreadableDocumentError
from memci.extraction.blocks import Block, BlockKind, ExtractionLimits, heading, join_cells, row
from memci.extraction.readers.markdown import read_markdown, read_text

_SAMPLE = 16 * 1024
_MOST_CELL = 1024 * 1024
_MOST_COLUMNS = 256
# Rows of one sheet, empty ones too: a workbook may declare a million of them.
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
    """Yield the rows below the first one that is not empty; a single row is yielded itself."""
    header: str | None = None
    has_rows = False
    for cells in islice(table, _MOST_ROWS):
        texts = [each.strip() for each in cells[:_MOST_COLUMNS]]
        if any(texts) and header is None:
            header = join_cells(texts)
        elif any(texts) and header is not None:
            has_rows = True
            yield row(texts, header, page=page)
    if header is not None and not has_rows:
        yield Block(BlockKind.ROW, header, page=page)


def read_xlsx(body: bytes, limits: ExtractionLimits) -> Iterator[Block]:
    """Yield the rows of every sheet, with the last calculated values."""
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


_MOST_OUTPUT = 2_000


def read_json(text: str) -> Iterator[Block]:
    """Yield a block for each member; invalid or too deep JSON is read as text."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        yield from read_text(text)
        return
    if isinstance(value, dict):
        for name, each in value.items():
            yield heading(str(name), 1)
            yield from _values(each)
    else:
        yield from _values(value)


def read_json_lines(text: str) -> Iterator[Block]:
    """Yield a block for each line."""
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                text = _text_of(json.loads(line))
            except (ValueError, RecursionError):
                text = line.strip()
            yield Block(BlockKind.TEXT, text, first_line=number, last_line=number)


def read_notebook(text: str, read_code: Callable[[str, str], Iterator[Block]]) -> Iterator[Block]:
    """Yield the cells of a Jupyter notebook and their outputs; nothing is run.

    ``read_code`` takes code and its language.
    """
    try:
        book = json.loads(text)
        language = str(
            book.get("metadata", {}).get("kernelspec", {}).get("language", "python")
        ).lower()
        cells = [each for each in book["cells"] if isinstance(each, dict)]
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        raise UnreadableDocumentError(
            "this is no notebook of nbformat 4: open it in Jupyter and save it again"
        ) from None
    for cell in cells:
        source = _joined(cell.get("source"))
        if cell.get("cell_type") == "markdown":
            for block in read_markdown(source):
                # Lines of a cell are not lines of the file.
                yield Block(block.kind, block.text, level=block.level, header=block.header)
        elif cell.get("cell_type") == "code":
            yield from read_code(source, language)
            yield from _outputs(cell.get("outputs"))
        elif source.strip():
            yield Block(BlockKind.TEXT, source)


def _outputs(outputs: object) -> Iterator[Block]:
    for each in outputs if isinstance(outputs, list) else []:
        if not isinstance(each, dict):
            continue
        data = each.get("data")
        text = _joined(each.get("text"))
        if isinstance(data, dict):
            text += _joined(data.get("text/plain"))
        if text.strip():
            yield Block(BlockKind.TEXT, text[:_MOST_OUTPUT])


def _joined(source: object) -> str:
    if isinstance(source, list):
        return "".join(each for each in source if isinstance(each, str))
    return source if isinstance(source, str) else ""


def _values(value: Any) -> Iterator[Block]:
    if not isinstance(value, list):
        yield Block(BlockKind.TEXT, _text_of(value))
        return
    for each in value:
        if (
            isinstance(each, dict)
            and each
            and not any(isinstance(one, (dict, list)) for one in each.values())
        ):
            yield row([_text_of(one) for one in each.values()], join_cells(list(each)))
        else:
            yield Block(BlockKind.TEXT, _text_of(each))


def _text_of(value: Any) -> str:
    if isinstance(value, dict):
        return "\n".join(f"{name}: {_scalar(each)}" for name, each in value.items())
    return _scalar(value)


def _scalar(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
