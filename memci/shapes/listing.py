"""Lists of what an agent holds, and receipts."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from pydantic import Field, JsonValue

from memci.shapes.base import Answer
from memci.shapes.message import MessageOut


class MessageList(Answer):
    """Messages in the order of their seq."""

    messages: list[MessageOut]
    next_cursor: str | None


class ReceiptAnswer(Answer):
    """What an operation did, in numbers and ids."""

    id: UUID
    kind: str
    created_at: datetime
    body: dict[str, JsonValue] = Field(description="Items, what was left out and why, ranks")
