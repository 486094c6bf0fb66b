"""Strict JSON: nothing that RFC 8259 does not know."""

from __future__ import annotations

import json
import math
from typing import Any

from memci.errors import InvalidInputError


class MalformedError(InvalidInputError):
    """The body is not JSON."""


class MediaTypeError(InvalidInputError):
    """The body must be JSON: send it with 'Content-Type: application/json'."""


def parse_json(body: bytes) -> Any:
    """Parse UTF-8 JSON of RFC 8259: no NaN, no field given twice, no bottomless nesting."""
    try:
        return _DECODER.decode(body.decode())
    except UnicodeDecodeError as error:
        raise MalformedError(f"the body is not UTF-8 (byte {error.start})") from None
    except json.JSONDecodeError as error:
        raise MalformedError(
            f"the body is not JSON: {error.msg} (line {error.lineno}, column {error.colno})"
        ) from None
    except RecursionError:
        raise MalformedError("the body is nested too deep") from None
    except ValueError:  # an integer of thousands of digits
        raise MalformedError("the body holds a number that is out of every range") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise MalformedError("the body gives a field of one object twice")
    return fields


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise MalformedError("the body holds a number that is out of every range")
    return value


def _no_constant(name: str) -> Any:
    raise MalformedError(f"the body holds {name}, which is not JSON")


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object, parse_float=_finite, parse_constant=_no_constant
)
