"""JSON schemas for models: without references, and as short as possible."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

from pydantic import BaseModel

Schema: TypeAlias = dict[str, Any]

# Titles repeat names; the others are checked in each call. A model does not need them, and every
# request pays for their tokens.
_LENGTHS = frozenset({"maxLength", "minLength", "maxItems", "minItems", "maxProperties"})
_OMITTED = frozenset({"title", "pattern", "$defs", *_LENGTHS})
_ANY = 1_000_000
# Values that are omitted.
_DEFAULTS: Mapping[str, Callable[[Any], bool]] = {
    "additionalProperties": lambda value: value is False,
    "default": lambda value: value in (None, "", []),
    "maximum": lambda value: value >= _ANY,
    "minimum": lambda value: value <= 1,
}
_NULL = {"type": "null"}


def schema_asked(shape: type[BaseModel]) -> Schema:
    """Return the schema of a request without its own description; it is shared: change a copy."""
    return _schema(shape, _OMITTED)


def schema_answered(shape: type[BaseModel]) -> Schema:
    """Return the schema of an answer without nulls or descriptions; it is shared: change a copy."""
    return _schema(shape, _OMITTED | {"description"}, leaves_nulls_out=True)


@cache
def _schema(
    shape: type[BaseModel], omitted: frozenset[str], *, leaves_nulls_out: bool = False
) -> Schema:
    whole = shape.model_json_schema()
    written: Schema = _Writer(whole.get("$defs", {}), omitted, leaves_nulls_out).write(whole)
    written.pop("description", None)
    return {**written, "properties": written.get("properties", {})}


@dataclass(frozen=True, slots=True)
class _Writer:
    """Rewrites a schema; ``known`` are the schemas that it refers to."""

    known: Mapping[str, Any]
    omitted: frozenset[str]
    leaves_nulls_out: bool = False

    def write(self, schema: Any) -> Any:
        if isinstance(schema, list):
            return [self.write(each) for each in schema]
        if not isinstance(schema, dict):
            return schema
        if "$ref" in schema:
            # A description of the field replaces that of the schema.
            known = self.known[schema["$ref"].rpartition("/")[2]]
            general = {key: value for key, value in known.items() if key != "description"}
            own = {key: value for key, value in schema.items() if key != "$ref"}
            return self.write({**general, **own})
        if "properties" in schema:
            schema = self._with_fields(schema)
        return {
            key: value if key == "properties" else self.write(value)
            for key, value in schema.items()
            if key not in self.omitted and not (key in _DEFAULTS and _DEFAULTS[key](value))
        }

    def _with_fields(self, schema: Schema) -> Schema:
        fields: Mapping[str, Schema] = schema["properties"]
        required = [
            name
            for name in schema.get("required", ())
            if not (self.leaves_nulls_out and _NULL in fields[name].get("anyOf", ()))
        ]
        return {
            **{key: value for key, value in schema.items() if key != "required"},
            "properties": {name: self.write(_without_null(each)) for name, each in fields.items()},
            **({"required": required} if required else {}),
        }


def _without_null(field: Schema) -> Schema:
    """Return the schema of an optional field without its null."""
    types = [each for each in field.get("anyOf", ()) if each != _NULL]
    if len(types) != 1:
        return field
    return {**types[0], **{key: value for key, value in field.items() if key != "anyOf"}}
