"""Decodes bytes to text, and opens zip files within limits."""

import codecs
import io
import re
from zipfile import BadZipFile, ZipFile

from memci.errors import UnreadableDocumentError
from memci.extraction.blocks import ExtractionLimits

_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_SAMPLE = 64 * 1024
_ASCII = 0x7F
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f]")
# A log may have colour codes and a few other ones.
_MOST_CONTROL = 0.01
# The everyday characters of GB 2312 and its punctuation: two bytes, 0xA1 to 0xD7 and 0xA1 up.
_GB_PAIR = re.compile(rb"[\x81-\xfe][\x40-\xfe]")
_GB_EVERYDAY = re.compile(rb"[\xa1-\xa3\xb0-\xd7][\xa1-\xfe]")
_EVERYDAY_SHARE = 0.7
NOT_TEXT = (
    "this is no text and no format that can be read: leave it out, or convert it to text, "
    "Markdown, HTML, PDF, DOCX, PPTX, XLSX or EPUB"
)


def decode_text(body: bytes) -> str:
    """Return the text, with line feeds as its only line ends.

    Raises ``UnreadableDocumentError`` if the bytes are no text.
    """
    text = _decoded(body)
    if not _is_text(text[:_SAMPLE]):
        raise UnreadableDocumentError(NOT_TEXT)
    # No database stores U+0000.
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\x00", "")


def may_be_text(begin: bytes) -> bool:
    """Return True if a file with this beginning may be text; ``decode_text`` decides."""
    if begin.startswith(tuple(mark for mark, _ in _BOMS)):
        return True
    encoding = _utf16_of(begin[: len(begin) // 2 * 2]) if b"\x00" in begin else "utf-8"
    return encoding is not None and _is_text(begin.decode(encoding, errors="replace"))


def _is_text(text: str) -> bool:
    return len(_CONTROL.findall(text)) <= _MOST_CONTROL * len(text)


def _decoded(body: bytes) -> str:
    for mark, encoding in _BOMS:
        if body.startswith(mark):
            return body.decode(encoding, errors="replace")
    if b"\x00" in body[:_SAMPLE]:
        utf16 = _utf16_of(body[:_SAMPLE])
        if utf16 is None:
            raise UnreadableDocumentError(NOT_TEXT)
        return body.decode(utf16, errors="replace")
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError:
        return body.decode(_guess(body), errors="replace")


def _guess(body: bytes) -> str:
    """Return the probable encoding of text that is neither Unicode nor ASCII."""
    sample = body[:_SAMPLE]
    pairs = len(_GB_PAIR.findall(sample))
    if pairs and len(_GB_EVERYDAY.findall(sample)) >= _EVERYDAY_SHARE * pairs:
        return "gb18030"
    from charset_normalizer import from_bytes  # noqa: PLC0415 - of the extra `docs`

    best = from_bytes(sample).best()
    western = best is None or best.encoding.startswith(("cp", "latin", "iso", "mac"))
    # Cyrillic and other scripts of one byte have few ASCII letters; Western ones have few accents.
    letters = sum(chr(byte).isalpha() for byte in sample if byte <= _ASCII)
    many_high = sum(byte > _ASCII for byte in sample) > letters
    return best.encoding if best is not None and (many_high or not western) else "cp1252"


def _utf16_of(sample: bytes) -> str | None:
    """Return the UTF-16 encoding of text without a mark, if every other byte is often zero."""
    even, odd = sample[::2].count(0), sample[1::2].count(0)
    pairs = len(sample) // 2
    if not pairs or len(sample) % 2:
        return None
    if odd > pairs * 0.3 and even < odd / 10:
        return "utf-16-le"
    if even > pairs * 0.3 and odd < even / 10:
        return "utf-16-be"
    return None


_MOST_FILES = 10_000


def open_zip(body: bytes, limits: ExtractionLimits) -> ZipFile:
    """Return the zip; raises ``UnreadableDocumentError`` for a broken one and for a bomb.

    Reading a member yields no more bytes than the zip declares.
    """
    try:
        archive = ZipFile(io.BytesIO(body))
    except (BadZipFile, ValueError, NotImplementedError):
        raise UnreadableDocumentError(
            "this file is damaged: open it in the program that made it, and save it again"
        ) from None
    members = archive.infolist()
    size = sum(each.file_size for each in members)
    if size > limits.unpacked_bytes or len(members) > _MOST_FILES:
        raise UnreadableDocumentError(
            f"unpacked it would be {size} bytes in {len(members)} files, and at most"
            f" {limits.unpacked_bytes} bytes in {_MOST_FILES} are read: split it"
        )
    if any(each.flag_bits & 1 for each in members):
        raise UnreadableDocumentError("this file needs a password: save it without one")
    return archive
