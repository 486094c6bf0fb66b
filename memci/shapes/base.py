"""What all shapes share."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictInt,
    StringConstraints,
    WithJsonSchema,
)

from memci.domain.offset import with_offset


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
