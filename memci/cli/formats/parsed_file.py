"""The messages of a parsed file, and the lines that were left out."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from memci.errors import InvalidInputError
from memci.schemas.messages import MessageIn
from memci.schemas.problems import field_path
from memci.validation_messages import expectation, own_faults


class BadFileError(InvalidInputError):
    """The file cannot be read as messages."""


@dataclass(slots=True)
class Parsed:
    """The messages of a file in their order, as the API takes them, and their places."""

    format: str
    messages: list[dict[str, Any]] = field(default_factory=list)
    places: list[str] = field(default_factory=list)  # such as "line 12", for errors
    ignored: Counter[str] = field(default_factory=Counter)  # unused fields, by name

    def add(self, message: dict[str, Any], place: str) -> None:
        """Add a message and its place."""
        self.messages.append(message)
        self.places.append(place)


_FIELDS = frozenset(MessageIn.model_fields)
# Names of the fields in exports of chat programs.
_OTHER_NAMES = {"created_at": "timestamp", "create_time": "timestamp"}
_OTHER_ROLES = {"human": "user", "ai": "assistant", "model": "assistant"}


def add_message(parsed: Parsed, value: Any, where: str) -> None:
    """Check and add one message, or raise ``BadFileError`` with the place and the fault."""
    if not isinstance(value, dict):
        raise BadFileError(f"{where}: expected a message, which is a JSON object")
    message: dict[str, Any] = {}
    for name, each in value.items():
        known = _OTHER_NAMES.get(name, name)
        if each is None:
            continue
        if known in _FIELDS:
            message.setdefault(known, each)
        else:
            parsed.ignored[name] += 1
    if isinstance(message.get("role"), str):
        role = message["role"].lower()
        message["role"] = _OTHER_ROLES.get(role, role)
    if isinstance(message.get("content"), list):
        message["content"] = [_text_part(each, parsed) for each in message["content"]]
    parsed.add(checked(message, where), where)


def checked(message: dict[str, Any], where: str) -> dict[str, Any]:
    """Return the message in JSON values, or raise ``BadFileError`` with the first fault."""
    try:
        shape = MessageIn.model_validate(message)
    except ValidationError as error:
        fault = own_faults(error.errors(include_input=False, include_url=False))[0]
        parts = (where, field_path(fault["loc"]), expectation(fault))
        raise BadFileError(": ".join(part for part in parts if part)) from None
    return shape.model_dump(mode="json", exclude_none=True)


def _text_part(part: Any, parsed: Parsed) -> Any:
    """Return a content part as text; another part, such as a picture, becomes its type's name."""
    if isinstance(part, str):
        return {"type": "text", "text": part}
    if not isinstance(part, dict):
        return part
    if isinstance(part.get("text"), str):
        return {"type": "text", "text": part["text"]}
    kind = part.get("type")
    if not isinstance(kind, str):
        return part
    parsed.ignored[f"part {kind}"] += 1
    return {"type": "text", "text": f"[{kind}]"}
