"""Messages as they come in and go out."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal, Self
from uuid import UUID

from pydantic import Field, JsonValue, StrictBool, model_validator

from memci.domain.memory.state import FilterReason
from memci.domain.message import AppendLimits, NewMessage, Remember, Role
from memci.errors import TooLargeError
from memci.shapes.base import Answer, ForeignId, Instant, Request, Text
from memci.shapes.openai import AnyRole, Content, without_empty_fields
from memci.shapes.stored_json import check_json


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

    role: AnyRole
    content: Content | None = None
    id: ForeignId | None = Field(None, description="The producer's own id, unique for its agent")
    name: Annotated[Text, Field(min_length=1, max_length=256)] | None = None
    timestamp: Instant | None = None
    tool_calls: Annotated[tuple[ToolCall, ...], Field(max_length=128)] | None = None
    tool_call_id: ForeignId | None = None
    metadata: dict[str, JsonValue] | None = None

    @model_validator(mode="before")
    @classmethod
    def _read_openai(cls, message: Any) -> Any:
        return without_empty_fields(message)

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if self.content is None and not self.tool_calls:
            raise ValueError("content may be null only beside tool_calls")
        if self.tool_calls and self.role is not Role.ASSISTANT:
            raise ValueError("only an assistant makes tool_calls")
        if (self.role is Role.TOOL) != (self.tool_call_id is not None):
            raise ValueError("tool_call_id belongs to messages of role tool, and they need it")
        check_json(self.metadata, "metadata")
        return self

    @property
    def size_bytes(self) -> int:
        """UTF-8 bytes of everything in it that is stored as given."""
        size = len((self.content or "").encode())
        if self.tool_calls or self.metadata:
            size += len(self.model_dump_json(include={"tool_calls", "metadata"}).encode())
        return size

    def to_domain(self) -> NewMessage:
        """Return it as the value that memci works with."""
        return NewMessage(
            role=self.role,
            content=self.content,
            id=self.id,
            name=self.name,
            said_at=self.timestamp,
            tool_calls=tuple(call.model_dump() for call in self.tool_calls or ()),
            tool_call_id=self.tool_call_id,
            metadata=self.metadata or {},
        )


class AppendRequest(Request):
    """Messages to append to an agent's sequence."""

    messages: Annotated[tuple[MessageIn, ...], Field(min_length=1)]
    session_id: ForeignId | None = None
    user_id: ForeignId | None = None
    remember: Remember = Field(
        Remember.NOW,
        description="now: memories are made of the messages at once. auto: when the conversation "
        "outgrows its window, the oldest interactions first. never: they are kept and can be "
        "searched, and no memories are made of them",
    )
    skip_erased: StrictBool = Field(
        False,
        description="Leave out messages that were erased for good, and name them in the answer; "
        "else they are refused, and the others with them",
    )

    def check_limits(self, limits: AppendLimits) -> None:
        """Raise ``TooLargeError`` when it holds too many messages, or one that is too long."""
        if len(self.messages) > limits.messages:
            raise TooLargeError(
                f"expected at most {limits.messages} messages in one request; send them in several",
                field="messages",
            )
        for index, message in enumerate(self.messages):
            if message.size_bytes > limits.message_bytes:
                raise TooLargeError(
                    f"expected at most {limits.message_bytes} bytes of content, tool calls and "
                    "metadata in one message",
                    field=f"messages[{index}]",
                )


class AppendAnswer(Answer):
    """What became of appended messages; they are stored when this arrives."""

    job_id: UUID | None = Field(description="Null when nothing was handed to memory")
    seq: int = Field(description="Position of the last message of the request")
    accepted: int
    duplicates: int
    erased: list[str] = Field(
        default_factory=list,
        description="Ids of messages that were left out, since they were erased for good",
    )


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
    memory_reason: FilterReason | None = Field(
        None, description="Why a message was filtered: no memory was made of it"
    )


class MessageList(Answer):
    """Messages by seq."""

    messages: list[MessageOut]
    next_cursor: str | None
