"""Requests and answers about documents and collections (R9)."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from pydantic import Field, StringConstraints

from memci.domain.documents import MOST_NAME, DocumentState
from memci.schemas.base import Answer, Listing, Request, Text


class DocumentRequest(Request):
    """A text as a document; files are sent as multipart/form-data."""

    name: Annotated[Text, StringConstraints(min_length=1, max_length=MOST_NAME)] = Field(
        description="Such as docs/guide.md; its extension sets its format"
    )
    text: Annotated[Text, StringConstraints(min_length=1)]


class DocumentOut(Answer):
    """A document and its state."""

    id: int
    name: str
    digest: str = Field(description="SHA-256 of the file, as hexadecimal digits")
    bytes: int
    state: DocumentState
    error: str | None = Field(None, description="Why it cannot be read, and what to do")
    chunks: int = Field(description="0 before it was read")
    indexed_chunks: int = Field(description="Chunks that search finds")
    job_id: UUID
    created_at: datetime
    sent_at: datetime = Field(description="When its present content was sent")
    indexed_at: datetime | None = None


class DocumentAnswer(DocumentOut):
    """A document that was added."""

    unchanged: bool = Field(description="The document already had this content")


class DocumentList(Listing):
    """Documents by id."""

    documents: list[DocumentOut]


class DocumentsRemoved(Answer):
    """The numbers of removed documents and chunks."""

    documents: int
    chunks: int


class CollectionOut(Answer):
    """A collection: shared documents, for the agents whose keys allow it."""

    name: str
    documents: int
    chunks: int = Field(description="Chunks that search finds")


class CollectionList(Listing):
    """Collections by name."""

    collections: list[CollectionOut]
