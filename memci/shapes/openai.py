"""Messages as clients of OpenAI's API write them, where memci has another way to say the same.

Only what can be said without loss is taken: ``developer`` is what newer models call the system
role, several text parts are one text, and some fields stand there with nothing in them.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, WithJsonSchema

from memci.domain.message import Role
from memci.shapes.base import Text

# Fields of the API's own answers, null or empty unless something is used that memci cannot keep.
_MAYBE_EMPTY = ("refusal", "annotations", "audio", "function_call")
# A hint to a provider's cache is no content.
_PART_FIELDS = frozenset({"type", "text", "cache_control"})
_EXPECTED = "expected text, or a list of parts of type text"


def without_empty_fields(message: Any) -> Any:
    """Leave out fields of an API's answer that say nothing."""
    if not isinstance(message, dict) or message.keys().isdisjoint(_MAYBE_EMPTY):
        return message
    empty = {name for name in _MAYBE_EMPTY if message.get(name) in (None, [])}
    return {name: value for name, value in message.items() if name not in empty}


def _role(value: object) -> object:
    return Role.SYSTEM if value == "developer" else value


def _joined(content: object) -> object:
    """Return the text of all parts, one below the other."""
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
