"""R9: chunks hold the text of a file with the headings above it."""

from __future__ import annotations

import json

import pytest

from memci.domain.documents import Chunk, ChunkKind
from memci.errors import UnreadableDocumentError
from memci.extraction.blocks import ExtractionLimits
from memci.extraction.chunker import MOST_TOKENS, count_tokens
from memci.extraction.formats import read_document
from tests.support import files

LIMITS = ExtractionLimits()


def read(name: str, body: bytes | str) -> list[Chunk]:
    return read_document(name, body.encode() if isinstance(body, str) else body, LIMITS)


def the_one(chunks: list[Chunk], text: str) -> Chunk:
    (found,) = [each for each in chunks if text in each.text]
    return found


def test_text_is_cut_between_paragraphs():
    words = "One two three four five six seven eight nine ten. " * 14
    chunks = read("a.txt", f"{words}\n\n{words}\n\nThe end.\n")
    assert [(each.first_line, each.last_line) for each in chunks] == [(1, 1), (3, 5)]
    assert chunks[1].text.endswith("The end.")


def test_markdown_keeps_headings_lines_code_and_tables():
    text = (
        "# Guide\n\nHello.\n\n## Install\n\nRun `make`.\n\n```python\nx = 1\n```\n\n"
        "| name | port |\n|---|---|\n| api | 8000 |\n| flower | 5555 |\n\n### 中文\n\n先安装。\n"
    )
    chunks = read("README.md", text)
    assert the_one(chunks, "Hello.").path == ("Guide",)
    run = the_one(chunks, "Run `make`.")
    assert (run.path, run.first_line, run.last_line) == (("Guide", "Install"), 7, 7)
    code = the_one(chunks, "x = 1")
    assert (code.kind, code.language, code.first_line) == (ChunkKind.CODE, "python", 9)
    table = the_one(chunks, "8000")
    assert table.kind is ChunkKind.TABLE
    assert table.text.split("\n") == ["name | port", "api | 8000", "flower | 5555"]
    assert (table.first_line, table.last_line) == (15, 16)
    chinese = the_one(chunks, "先安装")
    assert (chinese.path, chinese.language) == (("Guide", "Install", "中文"), "zh")


def test_a_table_repeats_its_header_in_every_chunk():
    rows = "\n".join(f"| machine {n} in hall {n % 7} | {n} |" for n in range(200))
    chunks = read("a.md", f"| machine | number |\n|---|---|\n{rows}\n")
    assert len(chunks) > 3
    assert {each.text.split("\n")[0] for each in chunks} == {"machine | number"}


def test_tags_of_html_end_where_browsers_end_them():
    body = (
        "<TITLE>A <b> &amp; c</TITLE><p title='a > b'>one</p>< 1 <!-- <p>no --><!--> two"
        '<script a="</script>">"<p>no"</script ><p/>three<svg/>four</>five<? no ?>six<p five="'
    )
    chunks = read("a.html", f"{body}<p>in an attribute")
    assert {each.path for each in chunks} == {("A <b> & c",)}
    assert " ".join(" ".join(each.text for each in chunks).split()) == (
        "one < 1 two threefourfivesix"
    )


def test_html_is_read_without_scripts_and_menus():
    chunks = read(
        "page.html",
        "<html><head><title>Shop</title><style>p {}</style></head><body><nav>Menu</nav>"
        "<h1>Chairs</h1><p>Oak,\n made <b>by hand</b>.<script>steal()</script></p><ul><li>Red"
        "<li>Blue</ul><table><tr><th>Size</th><th>Price</th></tr><tr><td>L</td><td>49&euro;</td>"
        "</tr></table><pre>a\n  b</pre></body></html>",
    )
    everything = "\n".join(each.text for each in chunks)
    assert "steal" not in everything
    assert "Menu" not in everything
    assert the_one(chunks, "Oak, made by hand.").path == ("Shop", "Chairs")
    assert the_one(chunks, "49€").text == "Size | Price\nL | 49€"
    assert the_one(chunks, "a\n  b").kind is ChunkKind.CODE
    assert "Blue" in everything


def test_the_encoding_that_a_web_page_declares_is_used():
    body = '<html><meta charset="gb2312"><p>今天下雨。</p></html>'.encode("gbk")
    assert "今天下雨" in read("a.html", body)[0].text


def test_pdf_keeps_pages_and_bookmarks():
    chunks = read("plant.pdf", files.bookmarked_pdf())
    assert the_one(chunks, "Valves").path == ("Start-up",)
    assert (the_one(chunks, "pumps").path, the_one(chunks, "pumps").page) == (
        ("Start-up", "Pumps"),
        2,
    )


def test_word_documents_have_headings_and_tables():
    chunks = read("handbook.docx", files.docx())
    assert the_one(chunks, "27 days").path == ("Handbook", "Leave")
    assert the_one(chunks, "Norway").text == "Country | Days\nNorway | 30"
    assert the_one(chunks, "提前三天").path == ("Handbook", "请假")


def test_slides_have_titles_texts_and_notes():
    chunks = read("deck.pptx", files.pptx(2))
    assert [each.page for each in chunks] == [1, 2]
    assert chunks[1].path == ("Roadmap 2",)
    assert "The beta is out in March." in chunks[0].text
    assert "Do not promise a date." in chunks[0].text


def test_sheets_have_their_names_and_columns():
    chunks = read("prices.xlsx", files.xlsx())
    assert the_one(chunks, "Chair").text == "Article | Price\nChair | 49.5\nTable | 120"
    assert the_one(chunks, "椅子").path == ("库存",)


@pytest.mark.parametrize(
    ("name", "text"),
    [("a.csv", "city,people\nOslo,700000\n"), ("a.csv", "city;people\nOslo;700000\n"),
     ("a.tsv", "city\tpeople\nOslo\t700000\n")],
)  # fmt: skip
def test_csv_in_every_dialect(name: str, text: str):
    (chunk,) = read(name, text)
    assert chunk.text == "city | people\nOslo | 700000"


def test_books_are_read_in_the_order_of_their_chapters():
    chunks = read("book.epub", files.epub())
    assert [each.path for each in chunks] == [("One",), ("二",)]
    assert chunks[1].text == "天亮了。"


def test_json_is_read_by_its_members():
    chunks = read("a.json", json.dumps({"server": {"port": 8000}, "用户": [{"name": "Ada"}]}))
    assert the_one(chunks, "8000").path == ("server",)
    assert the_one(chunks, "Ada").path == ("用户",)
    (lines,) = read("a.jsonl", '{"event": "start"}\nno json\n{"event": "stop"}\n')
    assert (lines.first_line, lines.last_line) == (1, 3)
    assert "event: stop" in lines.text


def test_notebooks_keep_text_code_and_output():
    chunks = read("study.ipynb", files.notebook())
    assert the_one(chunks, "We measure").path == ("Study",)
    assert the_one(chunks, "def drag").language == "python"
    assert the_one(chunks, "12.5")


def test_xml_is_read_by_its_elements():
    (chunk,) = read("a.xml", "<?xml version='1.0'?><note><to>Ada</to> and <b>Bob</b>!</note>")
    assert chunk.text.split("\n\n") == ["to: Ada", "and", "b: Bob", "!"]


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "gbk", "gb18030"]
)  # fmt: skip
def test_chinese_text_in_every_encoding(encoding: str):
    text = "会议在星期三下午三点举行，请准时参加。\n地点是二楼会议室。"
    (chunk,) = read("会议.txt", text.encode(encoding))
    assert chunk.text == text


def test_text_in_latin_1_and_in_utf_16_without_a_byte_order_mark():
    assert read("a.txt", "Le café naïf à Genève".encode("latin-1"))[0].text == (
        "Le café naïf à Genève"
    )
    assert read("a.txt", "plain words".encode("utf-16-le"))[0].text == "plain words"


def test_the_format_is_detected_from_content_and_not_from_the_name():
    assert "310 degrees" in read("report.txt", files.pdf())[0].text
    assert read("report.pdf", "only text")[0].text == "only text"
    assert "27 days" in read("sheet.xlsx", files.docx())[0].text


@pytest.mark.parametrize("below", ["", "\n\nBelow it."])
def test_a_very_long_heading_is_cut_and_all_its_words_are_found(below: str):
    words = [f"word{number}" for number in range(20_000)]
    chunks = read("a.md", f"# Title\n\n## {' '.join(words)}{below}\n\n## Next\n\nThe end.\n")
    assert max(count_tokens(each.text) for each in chunks) <= MOST_TOKENS
    assert " ".join(each.text for each in chunks).split()[: len(words)] == words
    assert {len(each.path[1]) for each in chunks[:-1]} == {80}
    assert the_one(chunks, "The end.").path == ("Title", "Next")


def test_a_heading_without_text_below_is_a_chunk():
    chunks = read("a.md", "# Only this\n\n## And this\n\n# Last\n")
    assert [(each.path, each.text) for each in chunks] == [
        (("Only this",), "And this"),  # it is there once, as text
        ((), "Last"),
    ]


@pytest.mark.parametrize(
    ("name", "body", "reason"),
    [
        ("a.txt", b"", "empty"),
        ("a.txt", b" \n\n ", "empty"),
        ("a.md", b"<!-- nothing -->", "no text"),
        ("tool", b"\x7fELF\x02\x01\x01\x00" + bytes(range(256)) * 8, "no text and no format"),
        ("a.docx", b"PK\x03\x04 broken", "damaged"),
        ("a.zip", files.zipped({"a.txt": "x"}), "unpack it"),
        ("a.doc", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "old Office program"),
        ("a.pdf", files.locked_pdf(), "needs a password"),
        ("scan.pdf", files.pdf(("", "")), "OCR"),
        ("a.xml", files.LAUGHS, "entities"),
        ("a.xml", files.READS_A_FILE, "entities"),
        ("a.xml", b"<?xml version='1.0'?><a><b></a>", "broken"),
        ("a.docx", files.bomb(), "are read: split it"),
        ("a.ipynb", b"[1, 2]", "no notebook"),
        ("a.epub", files.zipped({"META-INF/container.xml": "<container/>"}), "no list of its"),
    ],
)  # fmt: skip
def test_an_unreadable_file_is_refused_with_the_reason(name: str, body: bytes, reason: str):
    with pytest.raises(UnreadableDocumentError, match=reason):
        read(name, body)


def test_too_many_pages_or_chunks_are_refused():
    few = ExtractionLimits(pages=1, chunks=2)
    for name, body in (("a.pdf", files.pdf(("One.", "Two."))), ("a.pptx", files.pptx(2))):
        with pytest.raises(UnreadableDocumentError, match="are more than"):
            read_document(name, body, few)
    text = "\n\n".join(f"# {n}\n\nword" for n in range(3))
    with pytest.raises(UnreadableDocumentError, match="chunks: split it"):
        read_document("a.md", text.encode(), few)


def test_deeply_nested_files_are_read():
    deep = 50_000
    assert "bottom" in read("a.html", "<div>" * deep + "bottom" + "</div>" * deep)[0].text
    assert "bottom" in read("a.md", "> " * 2_000 + "bottom")[-1].text
    assert read("a.json", "[" * deep + "]" * deep)
    assert read("a.py", "x = " + "(" * 5_000 + "1" + ")" * 5_000)
