"""What stands in a line of an archive, checked before the database sees it."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

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

from memci.domain.strict_json import NotStrictError, decode
from memci.errors import InvalidInputError
from memci.storage.archive import checks, events, objects, page_values
from memci.storage.archive.checks import Check
from memci.storage.archive.registry import CARRIED, Carried
from memci.storage.vectors import Vectors


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
    if entry.name in events.TOLD and not events.TOLD[entry.name](row):
        raise LineError(f"details are not what is told of the event {row['event']}")
    if entry.name in page_values.TOLD and not page_values.TOLD[entry.name](row):
        raise LineError("the columns do not go together")
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
        return checks.one_of(entry.closed[column.name])
    check = _of_type(column.type)
    if column.name in entry.ranges:
        least, most = entry.ranges[column.name]
        return lambda value: check(value) and least <= value <= most
    return check


def _of_type(kind: TypeEngine[Any]) -> Check:
    if isinstance(kind, ARRAY):
        return checks.each(_of_type(kind.item_type))
    return next(check for types, check in _BY_TYPE if isinstance(kind, types))


_BY_TYPE: tuple[tuple[Any, Check], ...] = (
    (BigInteger, checks.is_seq),
    (Integer, checks.whole(2**31 - 1)),
    (Float, checks.is_number),
    (Boolean, checks.is_truth),
    (DateTime, checks.is_instant),
    (Uuid, checks.is_uuid),
    (JSONB, checks.is_object),
    (LargeBinary, checks.is_bytes),
    (HALFVEC, checks.is_vector),
    (Text, checks.is_text),
)
_OWN: Mapping[str, Check] = {
    "message.id": checks.is_name,
    "message.tool_calls": checks.each(checks.is_object),
    # Below zero: how a task ended.
    "checkpoint_write.place": checks.whole(2**31 - 1, -(2**31)),
    "agent_setting.parameters": objects.are_parameters,
    "erased_message.digest": checks.is_digest,
    "lane.compress_cursor": objects.is_cursor,
    "receipt.body": objects.is_receipt,
    "document.name": objects.is_document_name,
    "job.payload": objects.is_payload,
    **page_values.OWN,
}
# By table and column: whether it may be null, and what it must be else.
_CHECKS: Mapping[str, Mapping[str, tuple[bool, Check]]] = {
    entry.name: {each.name: (bool(each.nullable), _check_of(entry, each)) for each in entry.columns}
    for entry in CARRIED
}
