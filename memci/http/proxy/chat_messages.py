"""Parse chat requests and their messages."""

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
from memci.storage.key_usage import Charge

_log = structlog.get_logger("memci.http.proxy")
# Stands for content that memci does not keep.
_PLACEHOLDERS = {
    "image_url": "[image]",
    "input_image": "[image]",
    "input_audio": "[audio]",
    "file": "[file]",
}
_UNSTORABLE = dict.fromkeys([0, *range(0xD800, 0xE000)], "\ufffd")


@dataclass(frozen=True, slots=True)
class ParsedMessages:
    """The messages of a conversation, in order, without instructions."""

    messages: tuple[NewMessage, ...] = ()
    # The text of the first message, also if that is left out.
    first_text: str = ""
    # Which messages are left out and why: a line of ASCII for people.
    left_out: str | None = None


def parse_messages(messages: Iterable[object], *, max_bytes: int) -> ParsedMessages:
    """Return the messages, without those of unknown form or over the limit."""
    parsed = [_parse_message(each) for each in messages if not _is_instruction(each)]
    known = [each for each in parsed if each is not None]
    small = [each for each in known if each.size_bytes <= max_bytes]
    counts = (
        (len(known) - len(small), f"of more than {max_bytes} bytes"),
        (len(parsed) - len(known), "of unknown form"),
    )
    left_out = " and ".join(
        f"{count} message{'' if count == 1 else 's'} {what}" for count, what in counts if count
    )
    if left_out:
        _log.warning("messages of a chat are not recorded", reason=left_out)
    first_text = next((each.content or "" for each in known if _has_content(each)), "")
    return ParsedMessages(
        tuple(each.to_domain() for each in small if _has_content(each)),
        first_text,
        left_out or None,
    )


def _is_instruction(message: object) -> bool:
    """Return True for instructions: every request repeats them, and no person wrote them."""
    return isinstance(message, dict) and message.get("role") in ("system", "developer")


def _has_content(message: MessageIn) -> bool:
    return bool(message.content or message.tool_calls)


def _parse_message(message: object) -> MessageIn | None:
    """Return the fields of a message that memci keeps; None for an unknown form."""
    if not isinstance(message, dict):
        return None
    try:
        text = _text_of(message.get("content")) or _text_of(message.get("refusal"))
        fields: dict[str, Any] = {"role": message.get("role"), "content": text}
        if message.get("name"):
            fields["name"] = message["name"]
        if message.get("role") == Role.TOOL:
            fields["tool_call_id"] = message.get("tool_call_id")
            fields["content"] = text or " "  # a tool may answer nothing
        calls = [_parse_call(each) for each in message.get("tool_calls") or ()]
        if calls:
            fields |= {"tool_calls": calls, "content": text or None}
        return MessageIn.model_validate(fields)
    except (ValidationError, TypeError, AttributeError):
        return None


def _parse_call(call: object) -> object:
    """Return the fields of a tool call that all clients agree on."""
    if not isinstance(call, dict):
        return call
    function = call.get("function") or call.get("custom") or {}
    return {
        "id": call.get("id"),
        "function": {
            "name": function.get("name"),
            "arguments": _text_of(function.get("arguments") or function.get("input") or ""),
        },
    }


def _text_of(content: object) -> str:
    """Return the text of a message's content, with placeholders for other parts."""
    if isinstance(content, str):
        return content.translate(_UNSTORABLE)
    if not isinstance(content, list):
        return ""
    return "\n".join(filter(None, map(_text_of_part, content)))


def _text_of_part(part: object) -> str:
    if not isinstance(part, dict):
        return ""
    kind = part.get("type")
    if kind in {"text", "input_text", "output_text", "refusal"}:
        return _text_of(part.get("text") or part.get("refusal") or "")
    return _PLACEHOLDERS.get(str(kind), "[content that is not text]")


SESSION_HEADER = "x-memci-session"
USER_HEADER = "x-memci-user"
BUDGET_HEADER = "x-memci-budget-tokens"
_MOST_TOKENS = 2_000_000
_ID: TypeAdapter[str] = TypeAdapter(ForeignId)


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """A chat request that memci understands."""

    agent_id: str
    body: Mapping[str, Any]
    # Without instructions.
    messages: Sequence[NewMessage]
    session_id: str
    user_id: str | None
    budget_tokens: int
    # True if the client named the session; otherwise it is a guess.
    names_session: bool = True
    # Which messages are left out and why.
    left_out: str | None = None
    paying: Charge | None = None

    @property
    def query(self) -> str | None:
        """The last text of the user."""
        return next(
            (each.content for each in reversed(self.messages) if each.role is Role.USER), None
        )

    @property
    def streamed(self) -> bool:
        """True if the answer comes as a stream of events."""
        return bool(self.body.get("stream"))

    def with_notes(self, notes: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """Return the body with messages inserted after the client's own instructions."""
        messages = list(self.body["messages"])
        own = 0
        while own < len(messages) and _is_instruction(messages[own]):
            own += 1
        role = messages[own - 1]["role"] if own else "system"
        added = [{**each, "role": role} if each["role"] == "system" else each for each in notes]
        return {**self.body, "messages": [*messages[:own], *added, *messages[own:]]}


def parse_request(
    agent_id: str, body: object, headers: Mapping[str, str], settings: Settings
) -> ChatRequest | None:
    """Return the request; None for a body that only the upstream may understand.

    Raises ``InvalidInputError`` for an invalid header.
    """
    budget_tokens = _budget_tokens(headers, settings)
    session, user = _id_in(headers, SESSION_HEADER), _id_in(headers, USER_HEADER)
    # An empty list is for the upstream to reject: memory's messages would make a request of it.
    if not isinstance(body, dict) or not isinstance(body.get("messages"), list):
        return None
    if not body["messages"]:
        return None
    parsed = parse_messages(body["messages"], max_bytes=settings.append_limits.message_bytes)
    if session is None and isinstance(body.get("user"), str):
        session = body["user"][:256] or None
    return ChatRequest(
        agent_id,
        body,
        parsed.messages,
        session or session_of(parsed.first_text, user),
        user,
        budget_tokens,
        names_session=session is not None,
        left_out=parsed.left_out,
    )


def _id_in(headers: Mapping[str, str], name: str) -> str | None:
    """Return the id in a header; clients write UTF-8 there."""
    value = headers.get(name)
    if value is None:
        return None
    try:
        return _ID.validate_python(value.encode("latin-1").decode())
    except (UnicodeError, ValidationError):
        raise InvalidInputError("expected 1 to 256 characters, as UTF-8", field=name) from None


def _budget_tokens(headers: Mapping[str, str], settings: Settings) -> int:
    value = headers.get(BUDGET_HEADER)
    if value is None:
        return settings.proxy_budget_tokens
    if not value.isdecimal() or int(value) > _MOST_TOKENS:
        raise InvalidInputError(
            f"expected a number of tokens from 0 (nothing is recalled) to {_MOST_TOKENS}",
            field=BUDGET_HEADER,
        )
    return int(value)
