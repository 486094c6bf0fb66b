"""Chooses the reader of a file: by its content first, then by its name."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import islice

from memci.domain.documents import Chunk
from memci.errors import UnreadableDocumentError
from memci.extraction.blocks import Block, BlockKind, ExtractionLimits
from memci.extraction.chunker import chunks_of
from memci.extraction.decoding import NOT_TEXT, decode_text, open_zip
from memci.extraction.source_code import GRAMMARS, code_chunks, language_of_file

_OLD_OFFICE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_PDF_WITHIN = 1024
_HTML = frozenset({"html", "htm", "xhtml"})
_XML = frozenset({"xml", "svg", "rss", "atom", "xsd", "xsl"})


def read_document(
    name: str, body: bytes, limits: ExtractionLimits, redact: Callable[[str], str] | None = None
) -> list[Chunk]:
    """Return the chunks of a file; ``redact`` replaces values in its text, before it is cut.

    Raises ``UnreadableDocumentError`` with the problem and a remedy.
    """
    if not body.strip():
        raise UnreadableDocumentError("this file is empty: there is nothing to find in it")
    chunks = list(islice(_chunks(name, body, limits, redact or str), limits.chunks + 1))
    if len(chunks) > limits.chunks:
        raise UnreadableDocumentError(f"this file gives more than {limits.chunks} chunks: split it")
    if not chunks:
        raise UnreadableDocumentError("there is no text in this file: leave it out")
    return chunks


def _chunks(
    name: str, body: bytes, limits: ExtractionLimits, redact: Callable[[str], str]
) -> Iterator[Chunk]:
    blocks = _read_binary(body, limits)
    if blocks is not None:
        return chunks_of(_redacted(blocks, redact))
    ending = name.rpartition(".")[2].lower() if "." in name else ""
    begin = body[:1024].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if ending in _HTML or begin.startswith((b"<!doctype html", b"<html")):
        from memci.extraction.readers.html import read_html  # noqa: PLC0415 - as it is needed

        return chunks_of(_redacted(read_html(body), redact))
    if ending in _XML or body.lstrip()[:5] == b"<?xml":
        from memci.extraction.readers.xml import read_xml  # noqa: PLC0415

        return chunks_of(_redacted(read_xml(body), redact))
    text = decode_text(body)
    language = language_of_file(name, text)
    if language is not None:
        return code_chunks(redact(text), language)
    return chunks_of(_redacted(_text_blocks(ending, text), redact))


def _redacted(blocks: Iterable[Block], redact: Callable[[str], str]) -> Iterator[Block]:
    for each in blocks:
        yield replace(each, text=redact(each.text), header=redact(each.header))


def _text_blocks(ending: str, text: str) -> Iterator[Block]:
    from memci.extraction.readers import structured_data  # noqa: PLC0415
    from memci.extraction.readers.markdown import read_markdown, read_text  # noqa: PLC0415

    match ending:
        case "md" | "markdown" | "mdx" | "qmd" | "rmd":
            blocks = read_markdown(text)
        case "csv":
            blocks = structured_data.read_csv(text)
        case "tsv" | "tab":
            blocks = structured_data.read_csv(text, "\t")
        case "json" | "geojson":
            blocks = structured_data.read_json(text)
        case "jsonl" | "ndjson":
            blocks = structured_data.read_json_lines(text)
        case "ipynb":
            blocks = structured_data.read_notebook(text, _code_blocks)
        case _:
            blocks = read_text(text)
    return blocks


def _read_binary(body: bytes, limits: ExtractionLimits) -> Iterator[Block] | None:
    """Return the blocks of a binary format; None for text."""
    if b"%PDF-" in body[:_PDF_WITHIN]:
        from memci.extraction.readers.office import read_pdf  # noqa: PLC0415 - as it is needed

        return read_pdf(body, limits)
    if body.startswith(_OLD_OFFICE):
        raise UnreadableDocumentError(
            "this is a file of an old Office program, or one with a password: save it as DOCX,"
            " XLSX or PPTX without one"
        )
    return _read_zip(body, limits) if body.startswith(b"PK\x03\x04") else None


def _read_zip(body: bytes, limits: ExtractionLimits) -> Iterator[Block]:
    from memci.extraction.readers import office, structured_data, xml  # noqa: PLC0415

    archive = open_zip(body, limits)
    names = set(archive.namelist())
    if "word/document.xml" in names:
        return office.read_docx(body)
    if "ppt/presentation.xml" in names:
        return office.read_pptx(body, limits)
    if "xl/workbook.xml" in names:
        return structured_data.read_xlsx(body, limits)
    if "META-INF/container.xml" in names:
        return xml.read_epub(archive)
    raise UnreadableDocumentError(f"this is a zip: unpack it, and index what is in it; {NOT_TEXT}")


def _code_blocks(source: str, language: str) -> Iterator[Block]:
    """Yield the code of a notebook's cell, by symbols and without line numbers."""
    if language not in GRAMMARS:
        if source.strip():
            yield Block(BlockKind.CODE, source, language=language)
        return
    for each in code_chunks(source, language):
        yield Block(BlockKind.CODE, each.text, language=language)
