"""What all schemas share: base classes, time spans, stored JSON."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, timedelta
from typing import Annotated

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    StrictInt,
    StringConstraints,
    WithJsonSchema,
)

from memci.language.times.calendar import with_offset


class Request(BaseModel):
    """Something sent to memci: an unknown field is an error, not silence."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Answer(BaseModel):
    """Something that memci answers."""

    model_config = ConfigDict(frozen=True)


def storable(text: str) -> str:
    """Refuse what no UTF-8 database can hold: U+0000 and half a surrogate pair."""
    if "\x00" in text:
        raise ValueError("must not contain the character U+0000")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("must not contain half a surrogate pair") from None
    return text


Text = Annotated[str, AfterValidator(storable)]
# Names that others gave to their things: message ids, sessions, users.
ForeignId = Annotated[Text, StringConstraints(min_length=1, max_length=256)]
Query = Annotated[Text, StringConstraints(max_length=65_536)]


def with_words(text: str) -> str:
    """Refuse a text without a character that is seen."""
    if not text.strip():
        raise ValueError("must say something")
    return text


def or_nothing(text: str | None) -> str | None:
    """Return None for a text without a character that is seen."""
    return text if text and text.strip() else None


# What is looked for.
Wanted = Annotated[
    Query,
    StringConstraints(min_length=1),
    AfterValidator(with_words),
    Field(json_schema_extra={"pattern": r"\S"}),
]
BudgetTokens = Annotated[StrictInt, Field(ge=1, le=2_000_000)]
WaitMs = Annotated[StrictInt, Field(ge=0, le=30_000)]
Seq = Annotated[StrictInt, Field(ge=0, le=2**62)]

# Epoch numbers above it are milliseconds.
_MILLISECONDS_FROM = 1e11
_EXPECTED_INSTANT = "expected ISO 8601 or an epoch number within the years 1 to 9999"


def _read_epoch(value: object) -> object:
    """Read an epoch number; leave ISO 8601 text to pydantic."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return value
    try:
        seconds = value / 1000 if abs(value) > _MILLISECONDS_FROM else value
        return datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, ValueError, OSError):
        raise ValueError(_EXPECTED_INSTANT) from None


def _aware(value: datetime) -> datetime:
    """Return it as it was sent, with its offset; a naive time is taken for UTC."""
    try:
        return with_offset(value)
    except OverflowError:
        raise ValueError(_EXPECTED_INSTANT) from None


# Aware, at the offset that was sent: "yesterday" is a day of whoever sent it.
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


_EXPECTED = "expected a day or time within the years 1 to 9999"


def _behind_day(value: object) -> object:
    """Return the beginning of the next day for a day without a time; leave all else."""
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


def expect_in_order(since: datetime | None, until: datetime | None) -> None:
    """Raise ValueError for an empty span."""
    if since is not None and until is not None and since >= until:
        raise ValueError("expected since to be before until")


# The first instant that is not meant any more: a day alone is meant to its end.
Until = Annotated[
    Instant,
    BeforeValidator(_behind_day),
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


_STORABLE_DEPTH = 32  # PostgreSQL and every reader take that much without a thought


def check_json(value: JsonValue, what: str, depth: int = 0) -> None:
    """Refuse what no jsonb column can hold, wherever it stands in ``what``; raises ValueError."""
    if depth > _STORABLE_DEPTH:
        raise ValueError(f"{what} must not be nested deeper than {_STORABLE_DEPTH} levels")
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
