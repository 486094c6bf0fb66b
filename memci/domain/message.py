"""Messages: what was said, immutable, in the agent's order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from memci.domain.escapes import legible
from memci.domain.memory.note import is_note

JsonObject = Mapping[str, Any]


class Role(StrEnum):
    """Who speaks."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


class Remember(StrEnum):  # R17
    """What becomes of appended messages."""

    NOW = "now"  # handed to memory creation at once
    AUTO = "auto"  # handed over when the conversation outgrows its window (R19)
    NEVER = "never"  # kept and searchable, but never made into memories


@dataclass(frozen=True, slots=True)
class NewMessage:
    """A message as its producer gave it, checked, before it has a place in the sequence.

    ``id`` is the producer's own, or None. ``content`` is None only beside ``tool_calls``,
    which have OpenAI's shape: ``{"id", "type": "function", "function": {"name", "arguments"}}``.
    ``said_at`` is aware, at the producer's offset from UTC, or None when no timestamp was given.
    """

    role: Role
    content: str | None
    id: str | None = None
    name: str | None = None
    said_at: datetime | None = None
    tool_calls: tuple[JsonObject, ...] = ()
    tool_call_id: str | None = None
    metadata: JsonObject = field(default_factory=dict)


def spoken(role: str, content: str | None, tool_calls: Iterable[JsonObject] = ()) -> str:
    """Return what memory and search read of a message: see ``Message.text``."""
    if role == Role.TOOL:
        return legible(content or "")
    if not tool_calls:
        return content or ""
    calls = (call.get("function", {}) for call in tool_calls)
    written = [legible(f"{call.get('name', '')}({call.get('arguments', '')})") for call in calls]
    return "\n".join([content, *written] if content else written)


@dataclass(frozen=True, slots=True)
class Message:
    """One raw utterance; ``seq`` (from 1) is its position in its agent's sequence.

    ``said_at`` is aware, at the offset that it was said with: its date is the speaker's day.
    """

    seq: int
    id: str
    role: Role
    content: str | None
    said_at: datetime
    name: str | None = None
    session_id: str | None = None
    user_id: str | None = None
    tool_calls: tuple[JsonObject, ...] = ()
    tool_call_id: str | None = None
    metadata: JsonObject = field(default_factory=dict)

    @property
    def text(self) -> str:
        """What memory and search read: the content, then each tool call as name(arguments).

        What tools are given and say is read without JSON's escapes of characters.
        """
        return spoken(self.role, self.content, self.tool_calls)

    @property
    def is_note(self) -> bool:
        """Whether it is what the agent noted for its memory, and said to nobody (R20)."""
        return self.role is Role.ASSISTANT and is_note(self.metadata)

    @property
    def searched(self) -> str:
        """What the indexes hold: the text after its speaker's name, which questions often name."""
        return f"{self.name}: {self.text}" if self.name and self.text.strip() else self.text


@dataclass(frozen=True, slots=True)
class AppendLimits:
    """How much may be appended at once, whichever way it comes; sizes are UTF-8 bytes."""

    request_bytes: int
    message_bytes: int
    messages: int
