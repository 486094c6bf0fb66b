"""Reads messages out of chat requests and answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import structlog
from pydantic import TypeAdapter, ValidationError

from memci.config.settings import Settings
from memci.domain.resent_messages import session_of
from memci.errors import InvalidInputError
from memci.message import NewMessage, Role
from memci.schemas.base import ForeignId
from memci.schemas.messages import MessageIn

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


SESSION = "x-memci-session"
USER = "x-memci-user"
BUDGET = "x-memci-budget-tokens"
_MOST_TOKENS = 2_000_000
_ID: TypeAdapter[str] = TypeAdapter(ForeignId)


@dataclass(frozen=True, slots=True)
class Asked:
    """A chat request that memci understands; ``said`` is without system messages.

    ``is_named``: the client has said which session it is of; else that is a guess. ``left_out``:
    what is not in ``said``, and why.
    """

    agent_id: str
    body: Mapping[str, Any]
    said: Sequence[NewMessage]
    session_id: str
    user_id: str | None
    budget_tokens: int
    is_named: bool = True
    left_out: str | None = None

    @property
    def query(self) -> str | None:
        """What the user has said last."""
        asked = (each.content for each in reversed(self.said) if each.role is Role.USER)
        return next(asked, None)

    @property
    def is_alone(self) -> bool:
        """Whether the client sends one message, and leaves the conversation to memory."""
        return len(self.said) == 1

    @property
    def streamed(self) -> bool:
        """Whether the answer is to come in events."""
        return bool(self.body.get("stream"))

    def with_notes(self, notes: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """Return the body with messages put in behind the client's own system text."""
        messages = list(self.body["messages"])
        own = 0
        while own < len(messages) and _is_instruction(messages[own]):
            own += 1
        role = messages[own - 1]["role"] if own else "system"
        told = [{**each, "role": role} if each["role"] == "system" else each for each in notes]
        return {**self.body, "messages": [*messages[:own], *told, *messages[own:]]}


def asked_in(
    agent_id: str, body: object, headers: Mapping[str, str], settings: Settings
) -> Asked | None:
    """Return what is asked; None for a body that only the upstream may understand.

    Raises ``InvalidInputError`` for a header that cannot be followed.
    """
    budget = _budget(headers, settings)
    session, user = _named(headers, SESSION), _named(headers, USER)
    if not isinstance(body, dict) or not isinstance(body.get("messages"), list):
        return None
    if not body["messages"]:
        return None  # of what memory would put in, the upstream would make a request
    found = said_in(body["messages"], max_bytes=settings.append_limits.message_bytes)
    if session is None and isinstance(body.get("user"), str):
        session = body["user"][:256] or None
    return Asked(
        agent_id,
        body,
        found.kept,
        session or session_of(found.begins, user),
        user,
        budget,
        is_named=session is not None,
        left_out=found.left_out,
    )


def _is_instruction(message: object) -> bool:
    return isinstance(message, dict) and message.get("role") in tuple(INSTRUCTING)


def _named(headers: Mapping[str, str], name: str) -> str | None:
    """Return the value of a header that holds an id; clients write UTF-8 there."""
    value = headers.get(name)
    if value is None:
        return None
    try:
        return _ID.validate_python(value.encode("latin-1").decode())
    except (UnicodeError, ValidationError):
        raise InvalidInputError("expected 1 to 256 characters, as UTF-8", field=name) from None


def _budget(headers: Mapping[str, str], settings: Settings) -> int:
    value = headers.get(BUDGET)
    if value is None:
        return settings.proxy_budget_tokens
    if not value.isdecimal() or int(value) > _MOST_TOKENS:
        raise InvalidInputError(
            f"expected a number of tokens from 0 (nothing is recalled) to {_MOST_TOKENS}",
            field=BUDGET,
        )
    return int(value)
