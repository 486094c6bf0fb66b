"""What a chat request and its answer say, as messages that memci keeps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
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


def said_in(messages: Iterable[object], *, max_bytes: int) -> list[NewMessage]:
    """Return what was said, in order, without system messages.

    A message that cannot be kept, or is larger than ``max_bytes``, is left out and logged.
    """
    return list(_kept(messages, max_bytes))


def message_of(message: Mapping[str, Any], *, max_bytes: int) -> NewMessage | None:
    """Return one message, of an answer; None where it says nothing that can be kept."""
    return next(iter(said_in([message], max_bytes=max_bytes)), None)


def text_of(content: object) -> str:
    """Return the text of a message's content; other parts are noted by what they are."""
    if isinstance(content, str):
        return content.translate(_UNSTORABLE)
    if not isinstance(content, list):
        return ""
    return "\n".join(filter(None, map(_part, content)))


def _kept(messages: Iterable[object], max_bytes: int) -> Iterator[NewMessage]:
    for message in messages:
        if not isinstance(message, dict) or message.get("role") in tuple(INSTRUCTING):
            continue
        try:
            kept = MessageIn.model_validate(_fields(message))
        except (ValidationError, TypeError, AttributeError):
            _log.warning("a message of a chat is not recorded: its form is unknown")
            continue
        if kept.size_bytes > max_bytes:
            _log.warning("a message of a chat is not recorded: too long", bytes=kept.size_bytes)
        elif kept.content or kept.tool_calls:
            yield kept.to_domain()


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
