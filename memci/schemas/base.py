"""Base classes and types of all schemas: texts, instants, stored JSON."""

import math
import re
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    JsonValue,
    SerializerFunctionWrapHandler,
    StrictInt,
    StringConstraints,
    WithJsonSchema,
    model_serializer,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from memci.language.times.calendar import with_offset


class Request(BaseModel):
    """Something sent to memci: an unknown field is an error, not silence."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Answer(BaseModel):
    """Something that memci answers."""

    model_config = ConfigDict(frozen=True)


class Listing(Answer):
    """One page of a list; ``next_cursor`` asks for the next one."""

    next_cursor: str | None = None


class WithoutNulls(Answer):
    """An answer that leaves its nulls out: chat APIs refuse them, and models need not read them."""

    @model_serializer(mode="wrap")
    def _without_nulls(self, write: SerializerFunctionWrapHandler) -> Any:
        return {name: value for name, value in write(self).items() if value is not None}

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Describe the fields, of which the serializer only leaves some out."""
        fields: Any = {name: part for name, part in core.items() if name != "serialization"}
        return handler(fields)


def storable(text: str) -> str:
    """Refuse U+0000 and half a surrogate pair, which no UTF-8 database can hold."""
    if "\x00" in text:
        raise ValueError("must not contain the character U+0000")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("must not contain half a surrogate pair") from None
    return text


Text = Annotated[str, AfterValidator(storable)]


def _listed(value: object) -> object:
    """Return a list of a value that stands alone."""
    alone = isinstance(value, (str, Mapping)) or type(value) is int
    return [value] if alone else value


# For a field that is a tuple: a single item may stand there without its list.
OneOrMany = BeforeValidator(_listed)
# Ids that others chose: of messages, sessions, users.
ForeignId = Annotated[Text, StringConstraints(min_length=1, max_length=256)]
Query = Annotated[Text, StringConstraints(max_length=65_536)]


def matching(pattern: str, expected: str) -> AfterValidator:
    """Refuse a text that does not match the pattern as a whole."""

    def check(text: str) -> str:
        if not re.fullmatch(pattern, text):
            raise ValueError(f"expected {expected}")
        return text

    return AfterValidator(check)


def with_words(text: str) -> str:
    """Refuse a blank text."""
    if not text.strip():
        raise ValueError("must say something")
    return text


def or_nothing(text: str | None) -> str | None:
    """Return None for a blank text."""
    return text if text and text.strip() else None


# A query that must not be blank.
RequiredQuery = Annotated[
    Query,
    StringConstraints(min_length=1),
    AfterValidator(with_words),
    Field(json_schema_extra={"pattern": r"\S"}),
]
BudgetTokens = Annotated[StrictInt, Field(ge=1, le=2_000_000)]
# Of a context whose budget is not said.
DEFAULT_BUDGET_TOKENS = 2_000
WaitMs = Annotated[StrictInt, Field(ge=0, le=30_000)]
Seq = Annotated[StrictInt, Field(ge=0, le=2**62)]

_EXPECTED = "expected a day or time within the years 1 to 9999"


def _aware(value: datetime) -> datetime:
    """Return a time with the offset that was sent; a naive time is UTC."""
    try:
        return with_offset(value)
    except OverflowError:
        raise ValueError(_EXPECTED) from None


# Epoch numbers above it are milliseconds; pydantic's own limit is in the year 2603.
_MILLISECONDS_FROM = 1e11


def _read_epoch(value: object) -> object:
    """Read an epoch number; leave ISO 8601 text to pydantic."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return value
    try:
        seconds = value / 1000 if abs(value) > _MILLISECONDS_FROM else value
        return datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, ValueError, OSError):
        raise ValueError(_EXPECTED) from None


# Aware, with the offset that was sent: "yesterday" is a day of the sender.
Instant = Annotated[
    datetime,
    BeforeValidator(_read_epoch),
    AfterValidator(_aware),
    WithJsonSchema(
        {
            "anyOf": [{"type": "string", "format": "date-time"}, {"type": "number"}],
            "description": "ISO 8601, or an epoch number: seconds, or milliseconds above 10^11",
        }
    ),
]


def _end_of_day(value: object) -> object:
    """Return the start of the next day for a day without a time; leave all else."""
    if isinstance(value, str):
        try:
            value = datetime.strptime(value.strip(), "%Y-%m-%d").date()  # noqa: DTZ007 - a day
        except ValueError:
            return value
    if isinstance(value, datetime) or not isinstance(value, date):
        return value
    try:
        return (value + timedelta(days=1)).isoformat()
    except OverflowError:
        raise ValueError(_EXPECTED) from None


def check_span(request: Any) -> Any:
    """Refuse a request with an empty span, ``since`` to ``until``."""
    if request.since is not None and request.until is not None and request.since >= request.until:
        raise ValueError("expected since to be before until")
    return request


# The end of a span, exclusive; a day without a time includes that day.
Until = Annotated[
    Instant,
    BeforeValidator(_end_of_day),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string", "format": "date-time"},
                {"type": "string", "format": "date"},
                {"type": "number"},
            ],
            "description": "ISO 8601, a day to its end; or an epoch number: seconds, or "
            "milliseconds above 10^11",
        }
    ),
]


MOST_LEVELS = 32


def check_json(value: JsonValue, what: str, depth: int = 0) -> None:
    """Raise ValueError for a value that no jsonb column can hold; ``what`` names it."""
    if depth > MOST_LEVELS:
        raise ValueError(f"{what} must not be nested deeper than {MOST_LEVELS} levels")
    if isinstance(value, str):
        storable(value)
    elif isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{what} must hold finite numbers only")
    elif isinstance(value, dict):
        for key, each in value.items():
            storable(key)
            check_json(each, what, depth + 1)
    elif isinstance(value, list):
        for each in value:
            check_json(each, what, depth + 1)


def _checked(value: dict[str, JsonValue]) -> dict[str, JsonValue]:
    check_json(value, "it")
    return value


JsonObject = Annotated[dict[str, JsonValue], AfterValidator(_checked)]
