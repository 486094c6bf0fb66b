"""Strict JSON: only what RFC 8259 allows."""

import json
import math
from typing import Any


class NotStrictError(ValueError):
    """The text is not strict JSON; the message continues "the body", "line 3" and the like."""


def decode(text: bytes) -> Any:
    """Parse UTF-8 JSON: no NaN, no duplicate fields, no unlimited nesting."""
    try:
        return _DECODER.decode(text.decode())
    except NotStrictError:
        raise
    except UnicodeDecodeError as error:
        raise NotStrictError(f"is not UTF-8 (byte {error.start})") from None
    except json.JSONDecodeError as error:
        raise NotStrictError(
            f"is not JSON: {error.msg} (line {error.lineno}, column {error.colno})"
        ) from None
    except RecursionError:
        raise NotStrictError("is nested too deep") from None
    except ValueError:  # an integer of thousands of digits
        raise NotStrictError("holds a number that is out of every range") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise NotStrictError("gives a field of one object twice")
    return fields


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise NotStrictError("holds a number that is out of every range")
    return value


def _no_constant(name: str) -> Any:
    raise NotStrictError(f"holds {name}, which is not JSON")


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object, parse_float=_finite, parse_constant=_no_constant
)
