"""Messages in requests and answers, also in the forms of OpenAI clients and Celery producers.

Only forms without loss are accepted: the role ``developer`` is ``system``, several text parts are
one text, and empty fields of OpenAI's answers are ignored.
"""

from datetime import datetime
from typing import Annotated, Any, Literal, Self
from uuid import UUID

from pydantic import BeforeValidator, Field, JsonValue, StrictBool, WithJsonSchema, model_validator

from memci.domain.memory.message_filter import FilterReason
from memci.errors import TooLargeError
from memci.language.redaction import Redacted
from memci.message import AppendLimits, NewMessage, Remember, Role
from memci.schemas.agents import CompressRequest
from memci.schemas.base import (
    Answer,
    ForeignId,
    Instant,
    Listing,
    OneOrMany,
    Request,
    Text,
    check_json,
    with_words,
)

# Fields of OpenAI's answers, empty unless they hold something that memci cannot keep.
_MAYBE_EMPTY = ("refusal", "annotations", "audio", "function_call")
# A hint to a provider's cache is not stored.
_PART_FIELDS = frozenset({"type", "text", "cache_control"})
_EXPECTED = "expected text, or a list of parts of type text"


def read_message(message: Any) -> Any:
    """Read a text as a message of the user; leave out empty fields of OpenAI's answers."""
    if isinstance(message, str):
        return {"role": Role.USER, "content": with_words(message)}
    if not isinstance(message, dict) or message.keys().isdisjoint(_MAYBE_EMPTY):
        return message
    empty = {name for name in _MAYBE_EMPTY if message.get(name) in (None, [])}
    return {name: value for name, value in message.items() if name not in empty}


def _role(value: object) -> object:
    return Role.SYSTEM if value == "developer" else value


def _joined(content: object) -> object:
    """Return the text of all parts, one on each line."""
    if not isinstance(content, (list, tuple)):
        return content
    return "\n".join(_text(number, part) for number, part in enumerate(content, start=1))


def _text(number: int, part: object) -> str:
    kind = part.get("type") if isinstance(part, dict) else None
    if not isinstance(part, dict) or not isinstance(kind, str):
        raise ValueError(_EXPECTED)  # noqa: TRY004 - pydantic takes no other error
    if kind != "text":
        raise ValueError(
            f"part {number} is not of type text, and memci keeps text only: "
            "leave it out, or describe it in a text part"
        )
    if not isinstance(part.get("text"), str) or not part.keys() <= _PART_FIELDS:
        raise ValueError(f'part {number}: expected {{"type": "text", "text": "…"}}')
    return str(part["text"])


_PART = {
    "type": "object",
    "properties": {"type": {"const": "text"}, "text": {"type": "string"}},
    "required": ["type", "text"],
}

# A role; ``developer`` is ``system``.
AnyRole = Annotated[
    Role,
    BeforeValidator(_role),
    WithJsonSchema(
        {
            "type": "string",
            "enum": [*(role.value for role in Role), "developer"],
            "description": "developer is kept as system",
        }
    ),
]
# A text, or a list of text parts, which becomes one.
Content = Annotated[
    Text,
    BeforeValidator(_joined),
    WithJsonSchema(
        {
            "anyOf": [{"type": "string"}, {"type": "array", "items": _PART}],
            "description": "Text; parts of type text are joined, one below the other",
        }
    ),
]


class FunctionCall(Request):
    """The name of a tool, and its arguments."""

    name: Annotated[Text, Field(min_length=1, max_length=256)]
    arguments: Text = Field(description="JSON, as text")


class ToolCall(Request):
    """A tool call in OpenAI's shape."""

    id: ForeignId
    type: Literal["function"] = "function"
    function: FunctionCall


class MessageIn(Request):
    """One message to store."""

    role: AnyRole
    content: Content | None = None
    id: ForeignId | None = Field(None, description="The producer's own id, unique for its agent")
    name: Annotated[Text, Field(min_length=1, max_length=256)] | None = None
    timestamp: Instant | None = None
    tool_calls: Annotated[tuple[ToolCall, ...], Field(max_length=128)] | None = None
    tool_call_id: ForeignId | None = None
    metadata: dict[str, JsonValue] | None = None

    _read_other_forms = model_validator(mode="before")(read_message)

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
        """UTF-8 bytes of the content, tool calls and metadata."""
        size = len((self.content or "").encode())
        if self.tool_calls or self.metadata:
            size += len(self.model_dump_json(include={"tool_calls", "metadata"}).encode())
        return size

    def to_domain(self) -> NewMessage:
        """Return the message of the domain."""
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

    messages: Annotated[tuple[MessageIn, ...], Field(min_length=1), OneOrMany]
    session_id: ForeignId | None = None
    user_id: ForeignId | None = None
    remember: Remember = Field(
        Remember.NOW,
        description="now: make memories at once; auto: when the messages leave the window; never: "
        "store and search the messages only",
    )
    skip_erased: StrictBool = Field(
        False,
        description="Leave out messages that were erased for good, instead of refusing the request",
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
    """The result of an append; the messages are stored when it arrives."""

    job_id: UUID | None = Field(description="Null: no memories are made")
    seq: int = Field(description="Position of the last message of the request")
    accepted: int
    duplicates: int
    erased: list[str] = Field([], description="Ids of messages that were left out")
    redacted: dict[Redacted, int] = Field(
        {}, description="How many values of each kind placeholders replace"
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
    memory_reason: FilterReason | None = Field(None, description="Why no memory was made of it")


class MessageList(Listing):
    """Messages by seq."""

    messages: list[MessageOut]


class CreateArguments(AppendRequest):
    """``memci.memory.create``."""

    agent_id: str
    v: Literal[1] = 1


class StoredArguments(Request):
    """``memci.memory.create`` of stored messages, by their ids."""

    agent_id: str
    message_ids: Annotated[tuple[ForeignId, ...], Field(min_length=1), OneOrMany]
    v: Literal[1] = 1

    @model_validator(mode="before")
    @classmethod
    def _has_no_messages(cls, fields: Any) -> Any:
        if "messages" in fields:
            raise ValueError("give either messages or message_ids")
        return fields

    def check_limits(self, limits: AppendLimits) -> None:
        """Raise ``TooLargeError`` when it names too many messages."""
        if len(self.message_ids) > limits.messages:
            raise TooLargeError(
                f"expected at most {limits.messages} messages at once; name them in several",
                field="message_ids",
            )


class CompressArguments(CompressRequest):
    """``memci.memory.compress``."""

    agent_id: str
    v: Literal[1] = 1
