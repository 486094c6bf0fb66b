"""How much of a document is read (R9): ``MEMCI_MAX_DOCUMENT_BYTES`` and what belongs to it."""

from __future__ import annotations

from pydantic import BaseModel, Field


class DocumentSettings(BaseModel):
    """Limits of one document; whatever is over one of them is refused whole, and says so."""

    max_document_bytes: int = Field(32 * 1024 * 1024, ge=1024)
    # What a zip may hold: Office files, EPUB
    max_document_unpacked_bytes: int = Field(256 * 1024 * 1024, ge=1024)
    max_document_pages: int = Field(2_000, ge=1)  # of a PDF, or slides
    max_document_chunks: int = Field(20_000, ge=1)
    document_seconds: int = Field(60, ge=1)  # of processor time
    document_memory_bytes: int = Field(1024 * 1024 * 1024, ge=128 * 1024 * 1024)
