"""JSON that is kept as it is given."""

from __future__ import annotations

import math
from typing import Annotated

from pydantic import AfterValidator, JsonValue

from memci.shapes.base import storable

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
