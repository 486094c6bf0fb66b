"""Answers about sessions, consolidation, history and summaries; handover (R5, R6, R8)."""

from datetime import datetime
from typing import Literal
from uuid import UUID

from pydantic import Field

from memci.domain.memory.node import RemovalReason
from memci.schemas.base import Answer, BudgetTokens, ForeignId, Listing
from memci.schemas.reads import Fresh, Freshness


class ConsolidateAnswer(Answer):
    """The job that will do it; ``coalesced``: it waited already."""

    job_id: UUID
    coalesced: bool


class SessionAnswer(Answer):
    """One session of an agent."""

    session_id: str
    messages: int
    first_seq: int
    last_seq: int
    began_at: datetime = Field(description="When its first message was said")
    last_at: datetime = Field(description="When its last message was said")
    ended_at: datetime | None = Field(description="When a request or long silence ended it")
    short_memories: int = Field(description="Its short-term memories")


class SessionList(Listing):
    """Sessions in the order of their ids."""

    sessions: list[SessionAnswer]


class SessionEndAnswer(Answer):
    """An ended session, its last message, and the job that judges its memories."""

    session_id: str
    seq: int
    ended_at: datetime
    job_id: UUID


class VersionAnswer(Answer):
    """One version of a memory."""

    node_id: int
    content: str | None = Field(description="Its text when it was replaced; null: removed")
    phrase: str | None
    said_at: datetime | None
    state: Literal["current", "superseded"] | RemovalReason = Field(
        description="superseded: another memory replaces it, and it may be alive"
    )
    holds: bool = Field(description="Whether it is believed, at as_of or now")
    replaced_by: int | None
    until: datetime | None = Field(description="When another memory replaced it")
    message_ids: list[str]


class HistoryAnswer(Answer):
    """All versions of a memory, before it and after it, the oldest first."""

    versions: list[VersionAnswer]


class SummaryAnswer(Answer):
    """The summary of a session; the messages themselves stay."""

    session_id: str | None = Field(description="Null: of messages without a session")
    user_id: str | None = Field(description="The user whom it is for; null: all users")
    from_seq: int = Field(description="The first message in it")
    through_seq: int = Field(description="The last message in it")
    text: str
    tokens: int
    model: str = Field(description="The model that wrote it, or `offline`")
    final: bool = Field(description="The session has ended, and all of it is covered")
    made_at: datetime


class SummaryList(Listing):
    """Summaries in the order of their sessions' ids."""

    summaries: list[SummaryAnswer]


class HandoverRequest(Fresh):
    """A request for all that another agent needs to continue a session."""

    session_id: ForeignId | None = Field(None, description="Null: that of the last message")
    user_id: ForeignId | None = Field(None, description="Only what this user may see; null: all")
    budget_tokens: BudgetTokens | None = None
    format: Literal["markdown", "text"] = "markdown"


class HandoverAnswer(Freshness):
    """Pins, plan, summary and recent interactions, as one document."""

    text: str
    tokens: int
    tokenizer: str
    session_id: str | None
    user_id: str | None
    through_seq: int | None = Field(description="The last message in the summary; null: no summary")
    message_ids: list[str] = Field(description="Messages in it, some of them shortened")
    left_out: int = Field(description="Recent messages without room")
    unread: int = Field(0, description="Messages after the summary that a later one will cover")
