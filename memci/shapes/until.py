"""Spans of time: when one ends, and that it has not ended before it begins."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Annotated

from pydantic import BeforeValidator, WithJsonSchema

from memci.shapes.base import Instant

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
