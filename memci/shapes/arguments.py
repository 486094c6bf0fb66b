"""What a tool takes, as the client and the command line take it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, get_type_hints

from memci.shapes.page_names import INDEX_PATTERN
from memci.shapes.tools import Tool

REQUIRED: Any = ...


@dataclass(frozen=True, slots=True)
class Argument:
    """One field of what is asked.

    ``type`` is without what pydantic checks; ``default`` is ``REQUIRED`` if there is none.
    ``positional``: it needs no name. ``long``: a text without a limit of its own.
    """

    name: str
    type: Any
    default: Any
    about: str
    positional: bool
    long: bool


def arguments_of(tool: Tool) -> tuple[Argument, ...]:
    """Return what a tool takes, first what needs no name, in the order of its fields.

    Needing no name: the pages that have to be named, or else the only field that is required.
    """
    fields, schemas = tool.request.model_fields, tool.request.model_json_schema()["properties"]
    types = get_type_hints(tool.request)
    required = [name for name, field in fields.items() if field.is_required()]
    named = [name for name in required if _is_index(schemas[name])] or required[
        : len(required) == 1
    ]
    arguments = [
        Argument(
            name=name,
            type=types[name],
            default=REQUIRED if field.is_required() else field.get_default(),
            about=_about(schemas[name]),
            positional=name in named,
            long=types[name] is str and not _has_limit(schemas[name]),
        )
        for name, field in fields.items()
    ]
    return tuple(sorted(arguments, key=lambda each: not each.positional))


def _about(schema: Mapping[str, Any]) -> str:
    """Return what is said of a field, or of what it may be."""
    said = (each.get("description", "") for each in (schema, *schema.get("anyOf", ())))
    return next(filter(None, said), "")


def _is_index(schema: Mapping[str, Any]) -> bool:
    return schema.get("pattern") == INDEX_PATTERN


def _has_limit(schema: Mapping[str, Any]) -> bool:
    return any(
        {"pattern", "maxLength", "enum"} & each.keys()
        for each in (schema, *schema.get("anyOf", ()))
    )
