"""Sessions, consolidation, history and summaries in answers (R5, R6, R8)."""

from __future__ import annotations

from datetime import datetime
from typing import Literal
from uuid import UUID

from pydantic import Field

from memci.domain.memory.node import Fate
from memci.schemas.base import Answer, BudgetTokens, ForeignId
from memci.schemas.reads import Fresh, Freshness

# A closed set that rules of the domain use too belongs to the surface as well.
__all__ = ["Fate"]


class ConsolidateAnswer(Answer):
    """The job that will do it, and whether it was waiting already."""

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
    ended_at: datetime | None = Field(
        description="When somebody ended it, or silence since its last message was received did; "
        "null while it lasts"
    )
    short_memories: int = Field(description="Memories whose short term is not over")


class SessionList(Answer):
    """Sessions in the order of their ids."""

    sessions: list[SessionAnswer]
    next_cursor: str | None


class SessionEndAnswer(Answer):
    """A session that has ended, up to a message, and the job that judges its memories."""

    session_id: str
    seq: int
    ended_at: datetime
    job_id: UUID


class VersionAnswer(Answer):
    """One of the memories that were, or are, in each other's place."""

    node_id: int
    content: str | None = Field(description="As it was when replaced; null: gone")
    phrase: str | None
    said_at: datetime | None
    state: Literal["current", "superseded"] | Fate = Field(
        description="current: it lives; superseded: another says otherwise, and it may live or not"
    )
    holds: bool = Field(description="Whether it was believed then (as_of), or is now")
    replaced_by: int | None
    until: datetime | None = Field(description="Since when another says otherwise")
    message_ids: list[str]


class HistoryAnswer(Answer):
    """All versions of a memory, before it and after it, the oldest first."""

    versions: list[VersionAnswer]


class SummaryAnswer(Answer):
    """What was said in a session, in short; the messages themselves stay as they are."""

    session_id: str | None = Field(description="Null: what was said in no session")
    user_id: str | None = Field(
        description="Where several users speak in the session, in whose sight it is; null: of all"
    )
    from_seq: int = Field(description="It tells of the session's messages from here …")
    through_seq: int = Field(description="… through here; what was said later is not in it")
    text: str
    tokens: int
    model: str = Field(description="What has made it: `offline`, or a language model")
    final: bool = Field(description="The session has ended, and all of it is told of")
    made_at: datetime


class SummaryList(Answer):
    """Summaries in the order of their sessions' ids."""

    summaries: list[SummaryAnswer]
    next_cursor: str | None


class HandoverRequest(Fresh):
    """What another agent needs to go on with a session."""

    session_id: ForeignId | None = Field(
        None, description="Which session; null: that of the last message"
    )
    user_id: ForeignId | None = Field(
        None, description="What is in sight of this user alone; null: all that was said"
    )
    budget_tokens: BudgetTokens | None = Field(None, description="Tokens of the document at most")
    format: Literal["markdown", "text"] = "markdown"


class HandoverAnswer(Freshness):
    """Pins, plan, summary and recent interactions, as one document."""

    text: str
    tokens: int = Field(description="Of the text, exactly")
    tokenizer: str
    session_id: str | None
    user_id: str | None
    through_seq: int | None = Field(
        description="The summary tells of messages through here; null: there is none"
    )
    message_ids: list[str] = Field(
        description="Messages that stand in it; with a budget some of them shortened"
    )
    left_out: int = Field(description="Recent messages for which there was no room")
    unread: int = Field(
        0,
        description="Messages between the summary and the recent ones that were too many to be "
        "summed up at once; the summary that is asked for will tell of them",
    )
