"""Messages as they come in and go out."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, Self
from uuid import UUID

from pydantic import BeforeValidator, Field, JsonValue, model_validator

from memci.domain.message import NewMessage, Remember, Role
from memci.shapes.base import Answer, ForeignId, Request, Text

# Epoch numbers above it are milliseconds.
_MILLISECONDS_FROM = 1e11


def _instant(value: object) -> object:
    """Read an epoch number; leave ISO 8601 text to pydantic; take a naive time as UTC."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return value
    seconds = value / 1000 if abs(value) > _MILLISECONDS_FROM else value
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, ValueError, OSError):
        raise ValueError(
            "expected ISO 8601 or an epoch number within the years 1 to 9999"
        ) from None


Instant = Annotated[
    datetime,
    BeforeValidator(_instant),
    Field(description="ISO 8601, or an epoch number: seconds, or milliseconds above 10^11"),
]


class FunctionCall(Request):
    """Which tool, and with what."""

    name: Annotated[Text, Field(min_length=1, max_length=256)]
    arguments: Text = Field(description="JSON, as text")


class ToolCall(Request):
    """A tool call in OpenAI's shape."""

    id: ForeignId
    type: Literal["function"] = "function"
    function: FunctionCall


class MessageIn(Request):
    """One message to keep."""

    role: Role
    content: Text | None = None
    id: ForeignId | None = Field(None, description="The producer's own id, unique for its agent")
    name: Annotated[Text, Field(min_length=1, max_length=256)] | None = None
    timestamp: Instant | None = None
    tool_calls: Annotated[tuple[ToolCall, ...], Field(max_length=128)] | None = None
    tool_call_id: ForeignId | None = None
    metadata: dict[str, JsonValue] | None = None

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if self.content is None and not self.tool_calls:
            raise ValueError("content may be null only beside tool_calls")
        if self.tool_calls and self.role is not Role.ASSISTANT:
            raise ValueError("only an assistant makes tool_calls")
        if (self.role is Role.TOOL) != (self.tool_call_id is not None):
            raise ValueError("tool_call_id belongs to messages of role tool, and they need it")
        _check_metadata(self.metadata)
        return self

    @property
    def size_bytes(self) -> int:
        """UTF-8 bytes of everything in it that is stored as given."""
        return len(self.model_dump_json(include={"content", "tool_calls", "metadata"}).encode())

    def to_domain(self) -> NewMessage:
        """Return it as the value that memci works with."""
        said_at = self.timestamp
        if said_at is not None and said_at.tzinfo is None:
            said_at = said_at.replace(tzinfo=UTC)
        return NewMessage(
            role=self.role,
            content=self.content,
            id=self.id,
            name=self.name,
            said_at=said_at.astimezone(UTC) if said_at else None,
            tool_calls=tuple(call.model_dump() for call in self.tool_calls or ()),
            tool_call_id=self.tool_call_id,
            metadata=self.metadata or {},
        )


def _check_metadata(metadata: dict[str, Any] | None) -> None:
    if metadata and "\\u0000" in json.dumps(metadata):
        raise ValueError("metadata must not contain the character U+0000")


class AppendRequest(Request):
    """Messages to append to an agent's sequence."""

    messages: Annotated[tuple[MessageIn, ...], Field(min_length=1)]
    session_id: ForeignId | None = None
    user_id: ForeignId | None = None
    remember: Remember = Remember.NOW


class AppendAnswer(Answer):
    """What became of appended messages; they are stored when this arrives."""

    job_id: UUID | None = Field(description="Null when nothing was handed to memory")
    seq: int = Field(description="Position of the last message of the request")
    accepted: int
    duplicates: int


class MessageOut(Answer):
    """One stored message."""

    seq: int
    id: str
    role: Role
    content: str | None
    name: str | None = None
    timestamp: datetime
    session_id: str | None = None
    user_id: str | None = None
    tool_calls: list[ToolCall] | None = None
    tool_call_id: str | None = None
    metadata: dict[str, JsonValue] | None = None
    memory_state: Literal["none", "pending", "made", "filtered"]
