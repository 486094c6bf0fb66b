"""Documents and collections: asked and answered (R9)."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated
from uuid import UUID

from pydantic import Field, StringConstraints

from memci.domain.documents import MOST_NAME, DocumentState
from memci.schemas.base import Answer, Request, Text


class DocumentRequest(Request):
    """A text as a document; files are sent as multipart/form-data."""

    name: Annotated[
        Annotated[Text, StringConstraints(min_length=1, max_length=MOST_NAME)],
        Field(description="Such as docs/guide.md: its ending says how it is read"),
    ]
    text: Annotated[Text, StringConstraints(min_length=1)]


class DocumentOut(Answer):
    """A document, and how far it is."""

    id: int
    name: str
    digest: str = Field(description="SHA-256 of the file, as hexadecimal digits")
    bytes: int
    state: DocumentState
    error: str | None = Field(None, description="Why it cannot be read, and what to do")
    chunks: int = Field(description="Pieces that it was cut into; 0 before it was read")
    indexed_chunks: int = Field(description="Those of them that can be found")
    job_id: UUID
    created_at: datetime
    sent_at: datetime = Field(description="When its present content came")
    indexed_at: datetime | None = None


class DocumentAnswer(DocumentOut):
    """A document that was taken in."""

    unchanged: bool = Field(description="The same content was there already: nothing is to be done")


class DocumentList(Answer):
    """Documents by id."""

    documents: list[DocumentOut]
    next_cursor: str | None = None


class DocumentsRemoved(Answer):
    """What was removed for good."""

    documents: int
    chunks: int


class CollectionOut(Answer):
    """A collection: documents that every agent may search whose key is for it."""

    name: str
    documents: int
    chunks: int = Field(description="Pieces that can be found")


class CollectionList(Answer):
    """Collections by name."""

    collections: list[CollectionOut]
    next_cursor: str | None = None
