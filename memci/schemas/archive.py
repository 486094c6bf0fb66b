"""Requests and answers about export, import and erasure (M25)."""

from datetime import datetime
from typing import Annotated, Literal, Self
from uuid import UUID

from pydantic import Field, StrictInt, model_validator

from memci.message import Role
from memci.schemas.base import Answer, ForeignId, OneOrMany, Query, Request, Text
from memci.schemas.pages import Index, PinNumber

# Increased when the columns of an archive change; a test notices.
FORMAT_VERSION = 9
MANIFEST = "manifest.json"
# A manifest has a few kilobytes; more is not read.
MANIFEST_BYTES = 256 * 1024

_Count = Annotated[StrictInt, Field(ge=0, le=2**53)]
_Name = Annotated[Text, Field(max_length=256)]


class ArchiveFile(Request):
    """One table in an archive: a file with a JSON object a line."""

    rows: _Count
    bytes: _Count
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class ArchiveEmbedder(Request):
    """The embedder of the vectors; an import with another one computes them again."""

    model: _Name
    dimension: Annotated[StrictInt, Field(ge=1, le=16_000)]


class ArchiveManifest(Request):
    """The manifest of an archive."""

    format: Literal["memci-agent"]
    version: StrictInt
    memci: Annotated[_Name, Field(description="The release that wrote it")]
    schema_revision: _Name
    agent_id: _Name
    exported_at: datetime
    embedder: ArchiveEmbedder | None
    left_out: dict[_Name, _Name] = Field(description="Tables that are not in it, and why")
    tables: dict[_Name, ArchiveFile]


class ImportAnswer(Answer):
    """The result of an import."""

    agent_id: str
    from_agent_id: str = Field(description="The agent of the archive")
    rows: dict[str, int] = Field(description="Rows by table")
    queued: int = Field(description="Waiting jobs, which run from now on")
    reembed_job_id: UUID | None = Field(description="The job that computes new vectors, if needed")


_Many = Field(min_length=1, max_length=10_000)


class EraseRequest(Request):
    """Messages to erase, with all that was made of them: by ids, session, or query (preview).

    Pages and pins may come with messages or alone: a note is removed, any other page loses its name
    and description, and a pinned text is unpinned. A query erases nothing: send back the ids,
    indexes and numbers that it found.
    """

    message_ids: Annotated[tuple[ForeignId, ...], _Many, OneOrMany] | None = None
    page_indexes: Annotated[tuple[Index, ...], _Many, OneOrMany] | None = None
    pins: Annotated[tuple[PinNumber, ...], _Many, OneOrMany] | None = None
    session_id: ForeignId | None = None
    query: Annotated[Query, Field(min_length=1)] | None = Field(
        None,
        description="Only with preview: finds messages, pages and pins with all of these words, in "
        "any of their forms",
    )
    k: Annotated[StrictInt, Field(ge=1, le=200)] = Field(
        20, description="Maximum number of messages, pages and pins of a query, the newest first"
    )
    preview: bool = Field(False, description="Only return what would be erased")

    @model_validator(mode="after")
    def _is_named_once(self) -> Self:
        listed = self.message_ids or self.page_indexes or self.pins
        if [listed, self.session_id, self.query].count(None) != 2:  # noqa: PLR2004
            raise ValueError(
                "expected one of message_ids, page_indexes or pins, session_id and query"
            )
        if self.query is not None and not self.preview:
            raise ValueError(
                "a query erases nothing by itself: send it with preview = true, then send back the "
                "message_ids, page_indexes and pins that are to go"
            )
        return self


class PreviewedMessage(Answer):
    """A message that would be erased."""

    id: str
    seq: int
    role: Role
    excerpt: str
    session_id: str | None
    timestamp: datetime


class PreviewedPage(Answer):
    """A page with words of its own, which would be erased."""

    index: str
    name: str
    removed: bool = Field(description="Removed; otherwise without its name and description")
    excerpt: str


class PreviewedPin(Answer):
    """A pinned text that would be erased."""

    pin: int
    excerpt: str


class ErasurePreview(Answer):
    """A list of everything that an erasure would remove."""

    message_ids: list[str] = Field(description="Send back those to erase")
    messages: list[PreviewedMessage] = Field(description="The first of them")
    page_indexes: list[str] = Field([], description="Send back those to erase")
    own_words: list[PreviewedPage] = Field([], description="The first of these pages")
    pins: list[int] = Field([], description="Send back those to erase")
    pinned: list[PreviewedPin] = Field([], description="The first of these pins")
    unread: int = Field(0, description="Older notes not searched; a query searches 5,000")
    pages: int = Field(0, description="Pages that are removed or changed")
    memories: int = Field(description="Memories made of them, with their links")
    entities: int = Field(description="Names that no other messages mention")
    forgotten: int = Field(description="Forgotten memories with dangling links")
    again: int = Field(description="Other messages of shared memories: they are remembered again")
    summaries: int = Field(0, description="Summaries that are removed and written again")
    pinned_sentences: int = Field(0, description="Pins that quote the messages")
    plan_steps: int = Field(0, description="Steps of plans that they made or contain")
    checkpoints: int = Field(0, description="Checkpoints of the thread with the session's name")
