"""Files of every format, as common programs write them."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from zipfile import ZIP_DEFLATED, ZipFile


def docx() -> bytes:
    from docx import Document

    document = Document()
    document.add_heading("Handbook", 0)
    document.add_heading("Leave", 1)
    document.add_paragraph("Everybody has 27 days of leave a year.")
    table = document.add_table(rows=2, cols=2)
    for place, text in enumerate(("Country", "Days", "Norway", "30")):
        table.cell(place // 2, place % 2).text = text
    document.add_heading("请假", 1)
    document.add_paragraph("请假需要提前三天申请。")
    return saved(document.save)


def pptx(slides: int = 1) -> bytes:
    from pptx import Presentation
    from pptx.util import Inches

    deck = Presentation()
    for number in range(slides):
        slide = deck.slides.add_slide(deck.slide_layouts[5])
        slide.shapes.title.text = f"Roadmap {number + 1}"
        box = slide.shapes.add_textbox(Inches(1), Inches(2), Inches(4), Inches(1))
        box.text_frame.text = "The beta is out in March."
        slide.notes_slide.notes_text_frame.text = "Do not promise a date."
    return saved(deck.save)


def xlsx() -> bytes:
    from openpyxl import Workbook

    book = Workbook()
    sheet = book.active
    sheet.title = "Prices"
    for row in (("Article", "Price"), ("Chair", 49.5), ("Table", 120)):
        sheet.append(row)
    other = book.create_sheet("库存")
    for row in (("货物", "数量"), ("椅子", 7)):
        other.append(row)
    return saved(book.save)


def pdf(pages: Sequence[str] = ("The reactor runs at 310 degrees.",)) -> bytes:
    """A minimal PDF of Latin text, one string per page."""
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>"]
    kids = " ".join(f"{4 + 2 * n} 0 R" for n in range(len(pages)))
    objects.append(f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode())
    objects.append(b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>")
    for number, text in enumerate(pages):
        drawn = f"BT /F1 12 Tf 72 700 Td ({text}) Tj ET".encode() if text else b""
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {5 + 2 * number} 0 R"
            " /Resources << /Font << /F1 3 0 R >> >> >>".encode()
        )
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(drawn), drawn))
    out, places = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, start=1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    return out + (
        b"xref\n0 %d\n0000000000 65535 f \n%strailer\n<< /Size %d /Root 1 0 R >>\n"
        b"startxref\n%d\n%%%%EOF" % (len(objects) + 1, table, len(objects) + 1, len(out))
    )


def bookmarked_pdf() -> bytes:
    from pypdf import PdfReader, PdfWriter

    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(pdf(("Valves open first.", "Then pumps.")))))
    part = writer.add_outline_item(title="Start-up", page_number=0)
    writer.add_outline_item(title="Pumps", page_number=1, parent=part)
    return saved(writer.write)


def locked_pdf() -> bytes:
    from pypdf import PdfReader, PdfWriter

    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(pdf())))
    writer.encrypt("secret", algorithm="RC4-128")
    return saved(writer.write)


def epub() -> bytes:
    return zipped({
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": '<?xml version="1.0"?><container xmlns="urn:oasis:names:tc:'
        'opendocument:xmlns:container"><rootfiles><rootfile full-path="OEBPS/book.opf"/>'
        "</rootfiles></container>",
        "OEBPS/book.opf": '<?xml version="1.0"?><package xmlns="http://www.idpf.org/2007/opf">'
        '<manifest><item id="b" href="two.xhtml"/><item id="a" href="one.xhtml"/></manifest>'
        '<spine><itemref idref="a"/><itemref idref="b"/></spine></package>',
        "OEBPS/one.xhtml": "<html><body><h1>One</h1><p>It was night.</p></body></html>",
        "OEBPS/two.xhtml": "<html><body><h1>二</h1><p>天亮了。</p></body></html>",
    })  # fmt: skip


def notebook() -> bytes:
    cells = [
        {"cell_type": "markdown", "source": ["# Study\n", "\n", "We measure the drag."]},
        {"cell_type": "code", "source": "def drag(v):\n    return 0.5 * v ** 2\n",
         "outputs": [{"output_type": "stream", "text": ["drag is 12.5\n"]}]},
    ]  # fmt: skip
    book = {"nbformat": 4, "cells": cells, "metadata": {"kernelspec": {"language": "python"}}}
    return json.dumps(book).encode()


def zipped(files: dict[str, str | bytes]) -> bytes:
    out = io.BytesIO()
    with ZipFile(out, "w", ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return out.getvalue()


def bomb() -> bytes:
    """A Word document of 300 kB that unpacks to 300 MB."""
    out = io.BytesIO()
    with ZipFile(out, "w", ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        with archive.open("word/document.xml", "w") as member:
            for _ in range(300):
                member.write(b"a" * 1_000_000)
    return out.getvalue()


LAUGHS = (
    b'<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY a "lol"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;">'
    b"<!ENTITY c '&b;&b;&b;&b;&b;&b;&b;&b;'>]><lolz>&c;</lolz>"
)
READS_A_FILE = (
    b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><x>&e;</x>'
)


def saved(save: object) -> bytes:
    out = io.BytesIO()
    save(out)  # type: ignore[operator]
    return out.getvalue()
