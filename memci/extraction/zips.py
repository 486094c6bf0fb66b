"""Zip files, looked at before anything in them is unpacked."""

from __future__ import annotations

import io
from zipfile import BadZipFile, ZipFile

from memci.errors import UnreadableDocumentError
from memci.extraction.limits import ExtractionLimits

_MOST_FILES = 10_000


def open_zip(body: bytes, limits: ExtractionLimits) -> ZipFile:
    """Return the zip; raises ``UnreadableDocumentError`` for a broken one and for a bomb.

    What a zip says of its sizes is what it gives: whoever reads a member gets no more than that.
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
            f" {limits.unpacked_bytes} bytes in {_MOST_FILES} are read: split it, or raise"
            " MEMCI_MAX_DOCUMENT_UNPACKED_BYTES"
        )
    if any(each.flag_bits & 1 for each in members):
        raise UnreadableDocumentError("this file needs a password: save it without one")
    return archive
