"""Files that repeat what is cheap to write are read in time that grows with their size alone."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from memci.domain.documents import Chunk
from memci.errors import UnreadableDocumentError
from memci.extraction.blocks import ExtractionLimits
from memci.extraction.formats import read_document
from tests.support import files

# Of processor time; without a bound each of these took from a quarter of a minute to hours.
_MOST_S = 10.0


def read(name: str, body: bytes) -> list[Chunk]:
    return read_document(name, body, ExtractionLimits())


def _wide_table(begin: str, head: str, end: str, row: str) -> bytes:
    return (begin + head * 100_000 + end + row * 50_000).encode()


HOSTILE = {
    "ends of no tag": ("a.html", b"</" * 2_000_000),
    "comments": ("a.html", b"<!--" * 1_000_000),
    "instructions": ("a.html", b"<?" * 2_000_000),
    "declarations": ("a.html", b"<!" * 2_000_000),
    "attributes": ("a.html", b"<a b=c " * 500_000),
    "quotes": ("a.html", b'<a b="' * 600_000),
    "sections": ("a.html", b"<![" * 1_000_000),
    "hidden": ("a.html", b"<nav>" * 400_000 + b"</svg>" * 400_000),
    "a wide head": ("a.html", _wide_table("<table><tr>", "<th>a", "</tr>", "<tr><td>b")),
    "long names of columns": ("a.csv", _wide_table("a,", "word ", "\n", "1,2\n")),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_file_is_read_or_refused_soon(case: str):
    name, body = HOSTILE[case]
    began = time.thread_time()
    try:
        assert read(name, body)
    except UnreadableDocumentError as error:
        assert "no text in this file" in str(error)
    assert time.thread_time() - began < _MOST_S


def _document(change: Callable[[object], None]) -> bytes:
    from docx import Document

    document = Document()
    table = document.add_table(rows=0, cols=2)
    change(table)
    return files.saved(document.save)


def test_a_cell_over_many_rows_is_in_each_of_them():
    def fill(table: object) -> None:
        for number in range(1_500):
            cells = table.add_row()._tr.tc_lst
            cells[0].vMerge = "restart" if number == 0 else "continue"
            cells[0].p_lst[0].add_r().text = "Oslo" if number == 0 else ""
            cells[1].p_lst[0].add_r().text = str(number)

    texts = "\n".join(each.text for each in read("a.docx", _document(fill)))
    assert "Oslo | 1" in texts
    assert texts.endswith("Oslo | 1499")


def test_a_cell_is_read_once_however_many_columns_it_claims():
    def fill(table: object) -> None:
        for number in range(50):
            cell = table.add_row()._tr.tc_lst[0]
            cell.grid_span = 1_000_000
            cell.p_lst[0].add_r().text = f"Oslo {number}"

    began = time.thread_time()
    (chunk,) = read("a.docx", _document(fill))
    assert chunk.text.count("Oslo") == 50
    assert time.thread_time() - began < _MOST_S


def test_a_chapter_is_read_once_however_often_a_book_names_it():
    package = '<p><item id="a" href="a.html"/>' + '<itemref idref="a"/>' * 100_000 + "</p>"
    book = files.zipped({
        "META-INF/container.xml": '<c><rootfile full-path="a.opf"/></c>',
        "a.opf": package,
        "a.html": "<p>The only chapter.</p>",
    })  # fmt: skip
    (chunk,) = read("a.epub", book)
    assert chunk.text == "The only chapter."
