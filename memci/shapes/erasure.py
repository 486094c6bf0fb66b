"""Erasing for good (M25): what is asked, and what would go."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Self

from pydantic import Field, StrictInt, model_validator

from memci.domain.message import Role
from memci.shapes.base import Answer, ForeignId, Query, Request
from memci.shapes.page_names import Index


class EraseRequest(Request):
    """Which messages are to go, with everything that was made of them: named in one way.

    Pages may be named beside messages or alone: a note goes with its text, any other page loses
    its name and description. Words alone erase nothing: they find, and what they have found is
    sent back by its ids and indexes.
    """

    message_ids: Annotated[tuple[ForeignId, ...], Field(min_length=1, max_length=10_000)] | None = (
        None
    )
    page_indexes: Annotated[tuple[Index, ...], Field(min_length=1, max_length=10_000)] | None = None
    session_id: ForeignId | None = None
    query: Annotated[Query, Field(min_length=1)] | None = Field(
        None,
        description="Only with preview: answers the messages in which all of these words stand, in "
        "any of their forms, to be sent back by message_ids, and pages whose own words do, to be "
        "sent back by page_indexes",
    )
    k: Annotated[StrictInt, Field(ge=1, le=200)] = Field(
        20,
        description="How many messages a query proposes, and how many pages, at most; the newest",
    )
    preview: bool = Field(False, description="Answer what would go, and erase nothing")

    @model_validator(mode="after")
    def _is_named_once(self) -> Self:
        listed = self.message_ids or self.page_indexes
        if [listed, self.session_id, self.query].count(None) != 2:  # noqa: PLR2004
            raise ValueError("expected one of message_ids or page_indexes, session_id and query")
        if self.query is not None and not self.preview:
            raise ValueError(
                "a query erases nothing by itself: send it with preview = true, then send back the "
                "message_ids and page_indexes that are to go"
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


class ErasurePreview(Answer):
    """What an erasure would remove; nothing was."""

    message_ids: list[str] = Field(description="To be sent back, as many of them as are to go")
    messages: list[CondemnedMessage] = Field(description="The first of them, to be read")
    page_indexes: list[str] = Field([], description="To be sent back, as message_ids")
    own_words: list[CondemnedPage] = Field([], description="The first of these pages, to be read")
    pages: int = Field(0, description="Pages that go, or say something else from now on")
    memories: int = Field(description="Memories made of them, with their links")
    entities: int = Field(description="Names that no other memory's messages name")
    forgotten: int = Field(description="Forgotten memories, of which links still tell")
    again: int = Field(
        description="Messages that stay, of which memories are made anew: theirs were shared"
    )
