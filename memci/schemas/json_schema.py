"""JSON schemas as models are given them: nothing by reference, and no word more than it takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

from pydantic import BaseModel

Schema: TypeAlias = dict[str, Any]

# Names say what titles do; the rest is checked when a call comes. A model does not write by it,
# but pays for each of its tokens at every request.
_LENGTHS = frozenset({"maxLength", "minLength", "maxItems", "minItems", "maxProperties"})
_UNSAID = frozenset({"title", "pattern", "$defs", *_LENGTHS})
_ANY = 1_000_000
# What goes without saying, of what is mostly worth saying.
_PLAIN: Mapping[str, Callable[[Any], bool]] = {
    "additionalProperties": lambda value: value is False,
    "default": lambda value: value in (None, "", []),
    "maximum": lambda value: value >= _ANY,
    "minimum": lambda value: value <= 1,
}
_NULL = {"type": "null"}


@cache
def schema_asked(shape: type[BaseModel]) -> Schema:
    """Return the schema of what is asked, whole in itself, without the shape's own description.

    It is made once for all: change a copy.
    """
    whole = shape.model_json_schema()
    return _whole(_Writer(whole.get("$defs", {}), _UNSAID), whole)


@cache
def schema_answered(shape: type[BaseModel]) -> Schema:
    """Return the schema of an answer that is written without its nulls; nothing is described.

    It is made once for all: change a copy.
    """
    whole = shape.model_json_schema()
    writer = _Writer(whole.get("$defs", {}), _UNSAID | {"description"}, leaves_nulls_out=True)
    return _whole(writer, whole)


def _whole(writer: _Writer, schema: Schema) -> Schema:
    written: Schema = writer.write(schema)
    written.pop("description", None)
    return {**written, "properties": written.get("properties", {})}


@dataclass(frozen=True, slots=True)
class _Writer:
    """Writes a schema anew; ``known`` are those that it refers to."""

    known: Mapping[str, Any]
    unsaid: frozenset[str]
    leaves_nulls_out: bool = False

    def write(self, schema: Any) -> Any:
        if isinstance(schema, list):
            return [self.write(each) for each in schema]
        if not isinstance(schema, dict):
            return schema
        if "$ref" in schema:
            return self.write(self._meant(schema))
        if "properties" in schema:
            schema = self._with_fields(schema)
        return {
            key: value if key == "properties" else self.write(value)
            for key, value in schema.items()
            if key not in self.unsaid and not (key in _PLAIN and _PLAIN[key](value))
        }

    def _meant(self, schema: Schema) -> Schema:
        """Return what a reference leads to; what a field says of itself goes before that."""
        named = self.known[schema["$ref"].rpartition("/")[2]]
        general = {key: value for key, value in named.items() if key != "description"}
        return {**general, **{key: value for key, value in schema.items() if key != "$ref"}}

    def _with_fields(self, schema: Schema) -> Schema:
        fields: Mapping[str, Schema] = schema["properties"]
        required = [
            name
            for name in schema.get("required", ())
            if not (self.leaves_nulls_out and _NULL in fields[name].get("anyOf", ()))
        ]
        return {
            **{key: value for key, value in schema.items() if key != "required"},
            "properties": {name: self.write(_sure(each)) for name, each in fields.items()},
            **({"required": required} if required else {}),
        }


def _sure(field: Schema) -> Schema:
    """Return the schema of a field that may be null as that of what it else is."""
    meant = [each for each in field.get("anyOf", ()) if each != _NULL]
    if len(meant) != 1:
        return field
    return {**meant[0], **{key: value for key, value in field.items() if key != "anyOf"}}
