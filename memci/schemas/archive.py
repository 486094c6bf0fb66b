"""Requests and answers about export, import and erasure (M25)."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal, Self
from uuid import UUID

from pydantic import ConfigDict, Field, StrictInt, model_validator

from memci.message import Role
from memci.schemas.base import Answer, ForeignId, Query, Request, Text
from memci.schemas.pages import Index, PinNumber

# Raised by whoever changes which columns an archive has; a test notices.
FORMAT_VERSION = 4
MANIFEST = "manifest.json"
# As much of a manifest is looked at: it is a few kilobytes.
MANIFEST_BYTES = 256 * 1024

_Count = Annotated[StrictInt, Field(ge=0, le=2**53)]
_Name = Annotated[Text, Field(max_length=256)]


class ArchiveFile(Answer):
    """One table in an archive: a file of lines, each a row as a JSON object."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    rows: _Count
    bytes: _Count
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class ArchiveEmbedder(Answer):
    """Whose vectors are in an archive; made by another one, they are made anew after an import."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: _Name
    dimension: Annotated[StrictInt, Field(ge=1, le=16_000)]


class ArchiveManifest(Answer):
    """What an archive says about itself."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    format: Literal["memci-agent"]
    version: StrictInt
    memci: Annotated[_Name, Field(description="The release that made it")]
    schema_revision: _Name
    agent_id: _Name
    exported_at: datetime
    embedder: ArchiveEmbedder | None
    left_out: dict[_Name, _Name] = Field(description="Tables that stay behind, and why")
    tables: dict[_Name, ArchiveFile]


class ImportAnswer(Answer):
    """What an import has brought."""

    agent_id: str
    from_agent_id: str = Field(description="Whose archive it was")
    rows: dict[str, int] = Field(description="Rows by table")
    queued: int = Field(description="Jobs that wait, and are run from now on")
    reembed_job_id: UUID | None = Field(
        description="The job that makes vectors of another embedder anew; null when none are"
    )


class EraseRequest(Request):
    """Which messages are to go, with everything that was made of them: named in one way.

    Pages and pins may be named beside messages or alone: a note goes with its text, any other page
    loses its name and description, and a pinned text is taken down. Words alone erase nothing: they
    find, and what they have found is sent back by its ids, indexes and numbers.
    """

    message_ids: Annotated[tuple[ForeignId, ...], Field(min_length=1, max_length=10_000)] | None = (
        None
    )
    page_indexes: Annotated[tuple[Index, ...], Field(min_length=1, max_length=10_000)] | None = None
    pins: Annotated[tuple[PinNumber, ...], Field(min_length=1, max_length=10_000)] | None = None
    session_id: ForeignId | None = None
    query: Annotated[Query, Field(min_length=1)] | None = Field(
        None,
        description="Only with preview: answers the messages in which all of these words stand, in "
        "any of their forms, to be sent back by message_ids, pages whose own words do, to be sent "
        "back by page_indexes, and pinned texts, to be sent back by pins",
    )
    k: Annotated[StrictInt, Field(ge=1, le=200)] = Field(
        20,
        description="How many messages, pages and pins a query proposes, at most so many of each; "
        "the newest",
    )
    preview: bool = Field(False, description="Answer what would go, and erase nothing")

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


class CondemnedMessage(Answer):
    """A message that would go."""

    id: str
    seq: int
    role: Role
    excerpt: str
    session_id: str | None
    timestamp: datetime


class CondemnedPage(Answer):
    """A page that has words of its own, and would go with them or without."""

    index: str
    name: str
    goes: bool = Field(
        description="A note goes, and a page with all of its messages; any other page stays, "
        "without name or description"
    )
    excerpt: str


class CondemnedPin(Answer):
    """A pinned text that would be taken down, and go."""

    pin: int = Field(description="Its number")
    excerpt: str


class ErasurePreview(Answer):
    """What an erasure would remove; nothing was."""

    message_ids: list[str] = Field(description="To be sent back, as many of them as are to go")
    messages: list[CondemnedMessage] = Field(description="The first of them, to be read")
    page_indexes: list[str] = Field([], description="To be sent back, as message_ids")
    own_words: list[CondemnedPage] = Field([], description="The first of these pages, to be read")
    pins: list[int] = Field([], description="To be sent back, as message_ids")
    pinned: list[CondemnedPin] = Field([], description="The first of these pins, to be read")
    unread: int = Field(
        0,
        description="Notes whose texts the query did not look at: of a store that is not the "
        "database it reads those of the newest 5,000",
    )
    pages: int = Field(0, description="Pages that go, or say something else from now on")
    memories: int = Field(description="Memories made of them, with their links")
    entities: int = Field(description="Names that no other memory's messages name")
    forgotten: int = Field(description="Forgotten memories, of which links still tell")
    again: int = Field(
        description="Messages that stay, of which memories are made anew: theirs were shared"
    )
    summaries: int = Field(
        0, description="Sessions whose summary goes, and is made anew of the rest"
    )
    pinned_sentences: int = Field(0, description="Pins of their words, which are taken down")
    plan_steps: int = Field(0, description="Steps of plans that they made, or whose words they are")
    checkpoints: int = Field(
        0, description="With a session: those of the framework's thread that has its name"
    )
