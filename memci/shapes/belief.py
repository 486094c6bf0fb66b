"""Sessions, consolidation, and what was believed when, as answers (R5, R6)."""

from __future__ import annotations

from datetime import datetime
from typing import Literal
from uuid import UUID

from pydantic import Field

from memci.domain.memory.fate import Fate
from memci.shapes.base import Answer

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
