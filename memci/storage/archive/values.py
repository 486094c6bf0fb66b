"""What stands in a line of an archive, checked before the database sees it."""

from __future__ import annotations

import base64
import binascii
import math
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, TypeAlias
from uuid import UUID

import numpy as np
from pgvector.sqlalchemy import HALFVEC
from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    DateTime,
    Float,
    Integer,
    LargeBinary,
    Text,
    Uuid,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.types import TypeEngine

from memci.domain.memory.parameters import MemoryParameters
from memci.domain.strict_json import NotStrictError, decode
from memci.errors import InvalidInputError
from memci.storage.archive.registry import CARRIED, Carried
from memci.storage.vectors import Vectors

# JSON numbers that every reader takes for the same; and there is always a next one.
_MOST = 2**53
_MOST_INTEGER = 2**31 - 1
_MOST_DIMENSIONS = 16_000
# Halves of numbers do not add up to exactly one.
_UNIT = 1.01

Check: TypeAlias = Callable[[Any], bool]


class LineError(InvalidInputError):
    """A line of an archive is not a row of its table; the message goes on from where it is."""


def checked_row(entry: Carried, line: bytes) -> dict[str, Any]:
    """Return the row in a line, or raise ``LineError``, which quotes nothing of it."""
    try:
        row = decode(line)
    except NotStrictError as error:
        raise LineError(str(error)) from None
    checks = _CHECKS[entry.name]
    if not isinstance(row, dict) or row.keys() != checks.keys():
        raise LineError(f"expected an object of exactly {', '.join(checks)}")
    for name, (nullable, check) in checks.items():
        value = row[name]
        if not (nullable if value is None else check(value)):
            raise LineError(f"{name} is not what the column holds")
    return row


def half_vectors(texts: list[str]) -> Vectors:
    """Return vectors of one dimension as they were packed: halves, big end first, as base64."""
    packed = b"".join(base64.b64decode(each) for each in texts)
    return np.frombuffer(packed, dtype=">f2").reshape(len(texts), -1).astype(np.float32)


def _check_of(entry: Carried, column: Column[object]) -> Check:
    place = f"{entry.name}.{column.name}"
    if place in _OWN:
        return _OWN[place]
    if column.name in entry.closed:
        words = frozenset(map(str, entry.closed[column.name]))
        return lambda value: isinstance(value, str) and value in words
    check = _of_type(column.type)
    if column.name in entry.ranges:
        least, most = entry.ranges[column.name]
        return lambda value: check(value) and least <= value <= most
    return check


def _of_type(kind: TypeEngine[Any]) -> Check:
    if isinstance(kind, ARRAY):
        item = _of_type(kind.item_type)
        return lambda value: isinstance(value, list) and all(map(item, value))
    return next(check for types, check in _BY_TYPE if isinstance(kind, types))


def _whole(most: int) -> Check:
    return lambda value: type(value) is int and 0 <= value <= most


def _is_number(value: Any) -> bool:
    return type(value) in {int, float} and math.isfinite(value)


def _is_instant(value: Any) -> bool:
    try:
        return isinstance(value, str) and datetime.fromisoformat(value).tzinfo is not None
    except ValueError:
        return False


def _is_uuid(value: Any) -> bool:
    try:
        return isinstance(value, str) and str(UUID(value)) == value
    except ValueError:
        return False


def _is_bytes(value: Any) -> bool:
    try:
        written = isinstance(value, str) and value[:2] == "\\x"
        return written and bytes.fromhex(value[2:]) is not None
    except ValueError:
        return False


def _is_digest(value: Any) -> bool:
    return _is_bytes(value) and len(value) == 2 + 64


def _is_vector(value: Any) -> bool:
    if not isinstance(value, str) or not value or len(value) > 4 * _MOST_DIMENSIONS:
        return False
    try:
        numbers = np.frombuffer(base64.b64decode(value, validate=True), dtype=">f2")
    except (ValueError, binascii.Error):
        return False
    # A number that is not finite makes the sum so, too.
    return bool(np.linalg.norm(numbers.astype(np.float32)) <= _UNIT)


def _is_object(value: Any) -> bool:
    return isinstance(value, dict)


def _are_objects(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_object, value))


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and 0 < len(value) <= 256  # noqa: PLR2004 - as the surface takes


def _are_parameters(value: Any) -> bool:
    try:
        MemoryParameters().with_values(value)
    except (InvalidInputError, TypeError, AttributeError):
        return False
    return _is_object(value)


_is_seq = _whole(_MOST)


def _are_seqs(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_seq, value))


def _is_span(value: Any) -> bool:
    return _are_seqs(value) and len(value) == 2  # noqa: PLR2004 - a start and a length


def _is_part(value: Any) -> bool:
    return (
        _is_object(value)
        and _are_seqs(value.get("seqs"))
        and _are_seqs(value.get("quoted") or [])
        and (not value.get("span") or _is_span(value["span"]))
    )


def _tells_of_passages(value: Mapping[str, Any]) -> bool:
    """Check what ``memory.passage.passages`` reads."""
    parts = value.get("parts")
    if parts:
        are_parts = isinstance(parts, list) and all(map(_is_part, parts))
        return are_parts and _are_seqs(value.get("span") or [])
    return _is_part({"seqs": [], **{name: value.get(name) for name in ("span", "quoted")}})


def _fields(**known: Check) -> Check:
    """Check those fields of an object that statements read as something else than JSON."""

    def check(value: Any) -> bool:
        return (
            _is_object(value)
            and _tells_of_passages(value)
            and all(value.get(name) is None or fits(value[name]) for name, fits in known.items())
        )

    return check


def _is_cursor(value: Any) -> bool:
    known = {"pass", "req", "unavailable", "retry_at"}
    return (
        _is_object(value)
        and value.keys() <= known
        and _is_seq(value.get("pass"))
        and _is_seq(value.get("req"))
        and _is_seq(value.get("unavailable", 0))
        and (value.get("retry_at") is None or _is_instant(value["retry_at"]))
    )


def _is_prefix(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(piece, list)
        and len(piece) == 2  # noqa: PLR2004 - a digest and a length
        and isinstance(piece[0], str)
        and _is_seq(piece[1])
        for piece in value
    )


_BY_TYPE: tuple[tuple[Any, Check], ...] = (
    (BigInteger, _is_seq),
    (Integer, _whole(_MOST_INTEGER)),
    (Float, _is_number),
    (Boolean, lambda value: isinstance(value, bool)),
    (DateTime, _is_instant),
    (Uuid, _is_uuid),
    (JSONB, _is_object),
    (LargeBinary, _is_bytes),
    (HALFVEC, _is_vector),
    (Text, _is_text),
)
_OWN: Mapping[str, Check] = {
    "message.id": _is_name,
    "message.tool_calls": _are_objects,
    "agent_setting.parameters": _are_parameters,
    "erased_message.digest": _is_digest,
    "lane.compress_cursor": _is_cursor,
    "trail.details": _fields(messages=_are_seqs, job=_is_uuid, kind=_is_text, **{"as": _is_seq}),
    "replay_log.details": _fields(
        wanted=_are_seqs, entity=_is_text, at=_is_instant, groups=_is_seq
    ),
    "receipt.body": _fields(prefix=_is_prefix),
    "job.payload": _fields(seqs=_are_seqs, wanted=_are_seqs, edition=_is_seq, remember=_is_text),
}
# By table and column: whether it may be null, and what it must be else.
_CHECKS: Mapping[str, Mapping[str, tuple[bool, Check]]] = {
    entry.name: {each.name: (bool(each.nullable), _check_of(entry, each)) for each in entry.columns}
    for entry in CARRIED
}
