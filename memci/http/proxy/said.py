"""What a chat request and its answer say, as messages that memci keeps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import structlog
from pydantic import ValidationError

from memci.domain.message import NewMessage, Role
from memci.shapes.message import MessageIn

_log = structlog.get_logger("memci.http.proxy")
# Instructions: they come with every request, and nobody has said them.
INSTRUCTING = frozenset({"system", "developer"})
# What stands for content that memci does not keep.
_NOTES = {
    "image_url": "[image]",
    "input_image": "[image]",
    "input_audio": "[audio]",
    "file": "[file]",
}
_UNSTORABLE = dict.fromkeys([0, *range(0xD800, 0xE000)], "\ufffd")


@dataclass(frozen=True, slots=True)
class Said:
    """What was said, in order, without system messages; what of it is kept, and why not all is.

    ``begins``: the first message's text, kept or not; ``left_out``: a line of ASCII for people.
    """

    kept: tuple[NewMessage, ...] = ()
    begins: str = ""
    left_out: str | None = None


def said_in(messages: Iterable[object], *, max_bytes: int) -> Said:
    """Return what was said; what has no form that is known, or is too large, is left out."""
    read = [_read(each) for each in messages if not _instructs(each)]
    known = [each for each in read if each is not None]
    kept = [each for each in known if each.size_bytes <= max_bytes]
    told = (
        _counted(len(known) - len(kept), f"of more than {max_bytes} bytes"),
        _counted(len(read) - len(known), "of unknown form"),
    )
    left_out = " and ".join(filter(None, told)) or None
    if left_out:
        _log.warning("messages of a chat are not recorded", reason=left_out)
    begins = next((each.content or "" for each in known if _says(each)), "")
    return Said(tuple(each.to_domain() for each in kept if _says(each)), begins, left_out)


def message_of(message: Mapping[str, Any], *, max_bytes: int) -> NewMessage | None:
    """Return one message, of an answer; None where it says nothing that can be kept."""
    return next(iter(said_in([message], max_bytes=max_bytes).kept), None)


def text_of(content: object) -> str:
    """Return the text of a message's content; other parts are noted by what they are."""
    if isinstance(content, str):
        return content.translate(_UNSTORABLE)
    if not isinstance(content, list):
        return ""
    return "\n".join(filter(None, map(_part, content)))


def _instructs(message: object) -> bool:
    return isinstance(message, dict) and message.get("role") in tuple(INSTRUCTING)


def _read(message: object) -> MessageIn | None:
    """Return a message as memci reads it; None where its form is unknown."""
    if not isinstance(message, dict):
        return None
    try:
        return MessageIn.model_validate(_fields(message))
    except (ValidationError, TypeError, AttributeError):
        return None


def _says(message: MessageIn) -> bool:
    return bool(message.content or message.tool_calls)


def _counted(count: int, what: str) -> str:
    return f"{count} message{'' if count == 1 else 's'} {what}" if count else ""


def _fields(message: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a message that memci keeps."""
    text = text_of(message.get("content")) or text_of(message.get("refusal"))
    fields: dict[str, Any] = {"role": message.get("role"), "content": text}
    if message.get("name"):
        fields["name"] = message["name"]
    if message.get("role") == Role.TOOL:
        fields["tool_call_id"] = message.get("tool_call_id")
        fields["content"] = text or " "  # a tool that answers nothing has been called all the same
    calls = [_call(each) for each in message.get("tool_calls") or ()]
    if calls:
        fields |= {"tool_calls": calls, "content": text or None}
    return fields


def _call(call: object) -> object:
    """Return a tool call with the fields that all clients agree on."""
    if not isinstance(call, dict):
        return call
    function = call.get("function") or call.get("custom") or {}
    return {
        "id": call.get("id"),
        "function": {
            "name": function.get("name"),
            "arguments": text_of(function.get("arguments") or function.get("input") or ""),
        },
    }


def _part(part: object) -> str:
    if not isinstance(part, dict):
        return ""
    kind = part.get("type")
    if kind in {"text", "input_text", "output_text", "refusal"}:
        return text_of(part.get("text") or part.get("refusal") or "")
    return _NOTES.get(str(kind), "[content that is not text]")
