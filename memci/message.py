r"""Messages: immutable, in the order of the agent; notes; decoding of JSON escapes.

A note is a message that the agent writes only for its own memory (R20). It has the agent's role and
is marked in its metadata. It begins and answers no interaction, and no window or context shows it
as part of the conversation. A memory made of a note is made of it alone.

JSON escapes: many programs write non-ASCII characters as ``\u4e2d``.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple

_ESCAPED = re.compile(r"(?<!\\)((?:\\\\)*)((?:\\u[0-9a-fA-F]{4})+)")
_CODE = re.compile(r"\\u([0-9a-fA-F]{4})")
# A pair of halves, or one code.
_CHARACTER = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}"
)
# Letters, accents, digits, marks and signs; others are invisible.
_VISIBLE = frozenset("LMNPS")


def decode_escapes(text: str) -> str:
    r"""Return a text with its JSON escapes decoded, as people would search it.

    Escapes of ASCII, of invisible characters and of half surrogate pairs stay, and so does an
    escaped backslash: ``\\u4e2d``.
    """
    return _ESCAPED.sub(_decode_run, text) if "\\u" in text else text


def _decode_run(escaped: re.Match[str]) -> str:
    return escaped[1] + _CHARACTER.sub(_decode_character, escaped[2])


def _decode_character(escape: re.Match[str]) -> str:
    units = b"".join(bytes.fromhex(code) for code in _CODE.findall(escape[0]))
    character = units.decode("utf-16-be", errors="surrogatepass")
    is_visible = unicodedata.category(character)[0] in _VISIBLE
    return character if is_visible and not character.isascii() else escape[0]


# The path of the mark in a note's metadata.
NOTE_PATH = ("memci", "noted")
_KEY, _NOTED = NOTE_PATH
_CORRECTS, _MEMORY = "corrects", "memory"


@dataclass(frozen=True, slots=True)
class CorrectedMemory:
    """The memory that a note replaces (R6), identified by its messages.

    Node ids would not do: a rebuilt or restored network has others.
    """

    seqs: tuple[int, ...]
    span: tuple[int, ...] | None


def note_metadata(
    corrected: CorrectedMemory | None = None, memory: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return the metadata of a note; ``memory``: the fields of ``StatedMemory`` that are set."""
    value: dict[str, Any] = {_NOTED: True}
    if memory is not None:
        value[_MEMORY] = dict(memory)
    if corrected is not None:
        span = None if corrected.span is None else list(corrected.span)
        value[_CORRECTS] = {"seqs": list(corrected.seqs), "span": span}
    return {_KEY: value}


def is_note(metadata: Mapping[str, Any]) -> bool:
    """Return True if a message with this metadata is a note."""
    value = metadata.get(_KEY)
    return isinstance(value, Mapping) and value.get(_NOTED) is True


def corrected_memory(metadata: Mapping[str, Any]) -> CorrectedMemory | None:
    """Return the memory that a note corrects; None for other or invalid metadata."""
    value = metadata.get(_KEY)
    if not is_note(metadata) or not isinstance(value, Mapping):
        return None
    corrects = value.get(_CORRECTS)
    if not isinstance(corrects, Mapping):
        return None
    seqs, span = _numbers(corrects.get("seqs")), _numbers(corrects.get("span"))
    return CorrectedMemory(seqs, span) if seqs else None


class StatedMemory(NamedTuple):
    """What a person set of a memory that they added or corrected; None: as the models find.

    ``fleeting``: it is as short-term as the one that it corrects.
    """

    pinned: bool = False
    type: str | None = None
    worth: float | None = None
    fleeting: bool = False


def stated_memory(metadata: Mapping[str, Any]) -> StatedMemory | None:
    """Return what a person set of the one memory of a note; None for other metadata."""
    value = metadata.get(_KEY)
    stated = value.get(_MEMORY) if is_note(metadata) and isinstance(value, Mapping) else None
    if not isinstance(stated, Mapping):
        return None
    kind, worth = stated.get("type"), stated.get("worth")
    return StatedMemory(
        stated.get("pinned") is True,
        kind if isinstance(kind, str) else None,
        worth if isinstance(worth, int | float) else None,
        stated.get("fleeting") is True,
    )


def _numbers(value: object) -> tuple[int, ...] | None:
    if not isinstance(value, Sequence) or isinstance(value, str):
        return None
    if not all(isinstance(each, int) and 0 <= each < 2**62 for each in value):
        return None
    return tuple(value)


JsonObject = Mapping[str, Any]


class Role(StrEnum):
    """The role of a speaker."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


class Remember(StrEnum):  # R17
    """How appended messages become memories."""

    NOW = "now"  # handed to memory creation at once
    AUTO = "auto"  # handed over when the conversation outgrows its window (R19)
    NEVER = "never"  # kept and searchable, but never made into memories


@dataclass(frozen=True, slots=True)
class NewMessage:
    """A checked message from a producer, without a position in the sequence yet."""

    role: Role
    content: str | None  # None only beside ``tool_calls``
    id: str | None = None  # the producer's own
    name: str | None = None
    said_at: datetime | None = None  # aware, at the producer's offset from UTC
    # In OpenAI's shape: {"id", "type": "function", "function": {"name", "arguments"}}.
    tool_calls: tuple[JsonObject, ...] = ()
    tool_call_id: str | None = None
    metadata: JsonObject = field(default_factory=dict)


def readable_text(role: str, content: str | None, tool_calls: Iterable[JsonObject] = ()) -> str:
    """Return the text that memory and search read: see ``Message.text``."""
    if role == Role.TOOL:
        return decode_escapes(content or "")
    if not tool_calls:
        return content or ""
    functions = (call.get("function", {}) for call in tool_calls)
    calls = [f"{each.get('name', '')}({each.get('arguments', '')})" for each in functions]
    return "\n".join([*([content] if content else []), *map(decode_escapes, calls)])


# Stands for what reads do not show.
WITHHELD = "…"


def shown_text(text: str, withheld: Sequence[int]) -> str:
    """Return a message's text without what its memories told that were deleted or corrected.

    ``withheld``: start, stop, start, stop, …: ascending numbers of characters.
    """
    ends = [0, *withheld, len(text)]
    shown = (text[ends[at] : ends[at + 1]].strip() for at in range(0, len(ends), 2))
    return f" {WITHHELD} ".join(shown).strip()


@dataclass(frozen=True, slots=True)
class Message:
    """A message; ``seq`` (from 1) is its position in its agent's sequence."""

    seq: int
    id: str
    role: Role
    content: str | None
    said_at: datetime  # aware; at its offset, its date is the speaker's day
    name: str | None = None
    session_id: str | None = None
    user_id: str | None = None
    tool_calls: tuple[JsonObject, ...] = ()
    tool_call_id: str | None = None
    metadata: JsonObject = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The text for memory and search: the content, then each tool call as name(arguments).

        Arguments and answers of tools are read without JSON escapes.
        """
        return readable_text(self.role, self.content, self.tool_calls)

    @property
    def is_withheld(self) -> bool:
        """Whether reads show nothing of it: all that it told was corrected or deleted."""
        return self.content == WITHHELD and self.role is not Role.TOOL

    @property
    def is_note(self) -> bool:
        """True if the agent wrote this only for its memory (R20)."""
        return self.role is Role.ASSISTANT and is_note(self.metadata)

    @property
    def stated(self) -> StatedMemory | None:
        """What a person set of the one memory that this message is about."""
        return stated_memory(self.metadata) if self.is_note else None

    @property
    def searched(self) -> str:
        """The text for the indexes: the name of the speaker, then the text."""
        return f"{self.name}: {self.text}" if self.name and self.text.strip() else self.text


@dataclass(frozen=True, slots=True)
class AppendLimits:
    """Limits of one append, by any route, and its redaction; sizes are UTF-8 bytes."""

    request_bytes: int
    message_bytes: int = 1024 * 1024  # content and tool calls of one message
    messages: int = 500
    redact: str = ""  # what is redacted unless the agent says otherwise; see its parameter
