"""A hostile file is read in its own process, within limits."""

from __future__ import annotations

import subprocess
import sys

import pytest

from memci.domain.documents import ChunkKind
from memci.errors import UnreadableDocumentError
from memci.extraction.blocks import ExtractionLimits
from memci.extraction.isolated import extract
from tests.support import files


def test_chunks_are_returned_unchanged():
    (chunk,) = extract("包/解析.py", b"def read():\n    return 1\n", ExtractionLimits())
    assert (chunk.symbol, chunk.kind, chunk.path) == ("read", ChunkKind.CODE, ("read",))
    (text,) = extract("笔记.md", "# 标题\n\n正文。\n".encode(), ExtractionLimits())
    assert (text.path, text.text) == (("标题",), "正文。")


def test_errors_are_returned():
    with pytest.raises(UnreadableDocumentError, match="needs a password"):
        extract("a.pdf", files.locked_pdf(), ExtractionLimits())


def test_an_error_of_a_library_means_a_broken_file():
    body = files.zipped({"word/document.xml": "<no>", "[Content_Types].xml": "<Types/>"})
    with pytest.raises(UnreadableDocumentError, match="broken"):
        extract("a.docx", body, ExtractionLimits())


def test_extraction_ends_at_the_time_limit():
    body = "\n\n".join(f"word {n}" for n in range(2_000_000)).encode()
    with pytest.raises(UnreadableDocumentError, match="more than 1 s"):
        extract("a.txt", body, ExtractionLimits(seconds=1))


def test_extraction_ends_at_the_memory_limit():
    body = files.zipped({"xl/workbook.xml": "<x/>", "big": b"x" * 30_000_000})
    few = ExtractionLimits(memory_bytes=128 * 1024 * 1024)
    text = b"[" + b'{"a": 1},' * 3_000_000 + b"1]"
    with pytest.raises(UnreadableDocumentError, match="bytes of memory"):
        extract("a.json", text, few)
    with pytest.raises(UnreadableDocumentError, match=r"broken|memory"):
        extract("a.xlsx", body, few)


def test_text_that_libraries_print_is_not_in_the_answer():
    noisy = (
        "import os, subprocess\n"
        "from memci.extraction.__main__ import own_output\n"
        "answers = own_output()\n"
        "print('a warning')\n"
        "os.write(1, b'from C')\n"
        "subprocess.run(['echo', 'of a child'])\n"
        "answers.write(b'the answer')\n"
    )
    done = subprocess.run([sys.executable, "-c", noisy], capture_output=True, check=True)
    assert done.stdout == b"the answer"
    assert b"a warning" in done.stderr


def test_the_process_gets_no_settings(monkeypatch, tmp_path):
    monkeypatch.setenv("MEMCI_API_KEY", "secret")
    from memci.extraction.isolated import environment

    assert not any(name.startswith("MEMCI_") for name in environment())
