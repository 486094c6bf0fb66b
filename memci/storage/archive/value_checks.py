"""What a single value in a line of an archive can be: each check takes whatever JSON holds."""

from __future__ import annotations

import base64
import binascii
import math
from collections.abc import Callable
from datetime import datetime
from enum import StrEnum
from typing import Any, TypeAlias
from uuid import UUID

import numpy as np

# JSON numbers that every reader takes for the same; and there is always a next one.
_MOST = 2**53
_MOST_DIMENSIONS = 16_000
# Halves of numbers do not add up to exactly one.
_UNIT = 1.01

Check: TypeAlias = Callable[[Any], bool]


def whole(most: int, least: int = 0) -> Check:
    """Check for a whole number from ``least`` up."""
    return lambda value: type(value) is int and least <= value <= most


def one_of(words: type[StrEnum]) -> Check:
    """Check for one of a few words."""
    known = frozenset(map(str, words))
    return lambda value: isinstance(value, str) and value in known


def each(item: Check) -> Check:
    """Check for a list of nothing else."""
    return lambda value: isinstance(value, list) and all(map(item, value))


def or_null(check: Check) -> Check:
    """Check for a value that may be null as well."""
    return lambda value: value is None or check(value)


def fields(needed: dict[str, Check] | None = None, **known: Check) -> Check:
    """Check for an object: what it must have, and what it may have; others mean nothing."""
    must = needed or {}

    def check(value: Any) -> bool:
        return (
            isinstance(value, dict)
            and must.keys() <= value.keys()
            and all(fits(value[name]) for name, fits in must.items())
            and all(fits(value[name]) for name, fits in known.items() if name in value)
        )

    return check


is_seq: Check = whole(_MOST)
are_seqs: Check = each(is_seq)


def is_number(value: Any) -> bool:
    """Check for a finite number."""
    return type(value) in {int, float} and math.isfinite(value)


def is_truth(value: Any) -> bool:
    """Check for true or false."""
    return isinstance(value, bool)


def is_instant(value: Any) -> bool:
    """Check for a time with its zone."""
    try:
        return isinstance(value, str) and datetime.fromisoformat(value).tzinfo is not None
    except ValueError:
        return False


def is_uuid(value: Any) -> bool:
    """Check for a UUID in its one usual form."""
    try:
        return isinstance(value, str) and str(UUID(value)) == value
    except ValueError:
        return False


def is_bytes(value: Any) -> bool:
    r"""Check for bytes as PostgreSQL writes them: ``\x`` and hexadecimal digits."""
    try:
        written = isinstance(value, str) and value[:2] == "\\x"
        return written and bytes.fromhex(value[2:]) is not None
    except ValueError:
        return False


def is_digest(value: Any) -> bool:
    """Check for 32 bytes."""
    return is_bytes(value) and len(value) == 2 + 64


def is_vector(value: Any) -> bool:
    """Check for a vector of no more than unit length, packed as ``rows`` packs it."""
    if not isinstance(value, str) or not value or len(value) > 4 * _MOST_DIMENSIONS:
        return False
    try:
        numbers = np.frombuffer(base64.b64decode(value, validate=True), dtype=">f2")
    except (ValueError, binascii.Error):
        return False
    # A number that is not finite makes the sum so, too.
    return bool(np.linalg.norm(numbers.astype(np.float32)) <= _UNIT)


def is_object(value: Any) -> bool:
    """Check for an object of anything."""
    return isinstance(value, dict)


def is_text(value: Any) -> bool:
    """Check for a text of any length."""
    return isinstance(value, str)


def is_name(value: Any) -> bool:
    """Check for an id as the surface takes one."""
    return isinstance(value, str) and 0 < len(value) <= 256  # noqa: PLR2004 - as the surface takes
