"""Checks of single rows in an archive, before the database sees them."""

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

from memci.domain.documents import check_name
from memci.domain.memory.edition import ReplayEvent
from memci.domain.memory.message_filter import FilterReason
from memci.domain.memory.node import NodeKind, NodeTier
from memci.domain.memory.parameters import MemoryParameters
from memci.domain.memory.scan import Forgetting
from memci.domain.memory.tier import Promotion
from memci.domain.pages.parameters import PageRules
from memci.domain.strict_json import NotStrictError, decode
from memci.errors import InvalidInputError
from memci.language.names import Entity
from memci.storage.archive import value_checks
from memci.storage.archive import value_checks as page_checks
from memci.storage.archive.tables import CARRIED, Carried
from memci.storage.archive.value_checks import (
    Check,
    are_seqs,
    each,
    fields,
    is_instant,
    is_name,
    is_object,
    is_seq,
    is_text,
    is_truth,
    is_uuid,
    one_of,
    or_null,
)
from memci.storage.network.node_history import TrailEvent
from memci.storage.vectors import Vectors

_PAGE_RULES = PageRules()


def _is_span(value: Any) -> bool:
    return are_seqs(value) and len(value) == 2  # noqa: PLR2004 - a start and a length


def _is_part(value: Any) -> bool:
    return (
        is_object(value)
        and are_seqs(value.get("seqs"))
        and are_seqs(value.get("quoted") or [])
        and (not value.get("span") or _is_span(value["span"]))
    )


def tells_of_passages(value: Mapping[str, Any]) -> bool:
    """Check what ``memory.passage.passages`` reads."""
    parts = value.get("parts")
    if parts:
        are_parts = isinstance(parts, list) and all(map(_is_part, parts))
        return are_parts and are_seqs(value.get("span") or [])
    return _is_part({"seqs": [], **{name: value.get(name) for name in ("span", "quoted")}})


def are_parameters(value: Any) -> bool:
    """Check what an agent may have set."""
    try:
        pages = {name: value[name] for name in value if hasattr(_PAGE_RULES, name)}
        _PAGE_RULES.with_values(pages)
        MemoryParameters().with_values({n: value[n] for n in value if n not in pages})
    except (InvalidInputError, TypeError, AttributeError):
        return False
    return is_object(value)


def _is_piece(value: Any) -> bool:
    return (
        isinstance(value, list)
        and len(value) == 2  # noqa: PLR2004 - a digest and a length
        and is_text(value[0])
        and is_seq(value[1])
    )


_CURSOR = fields(
    {"pass": is_seq, "req": is_seq}, unavailable=is_seq, mute=is_truth, retry_at=or_null(is_instant)
)
_PAYLOAD = fields(
    seqs=or_null(are_seqs),
    wanted=or_null(are_seqs),
    edition=or_null(is_seq),
    remember=or_null(is_text),
)

is_receipt: Check = fields(prefix=or_null(each(_is_piece)))


def is_cursor(value: Any) -> bool:
    """Check for a place in a pass."""
    return _CURSOR(value) and value.keys() <= {"pass", "req", "unavailable", "mute", "retry_at"}


def is_payload(value: Any) -> bool:
    """Check those fields of a job that statements read as something else than JSON."""
    return _PAYLOAD(value) and tells_of_passages(value)


def is_document_name(value: Any) -> bool:
    """Check for a name as the surface takes one of a document (R9)."""
    try:
        return isinstance(value, str) and check_name(value) == value
    except InvalidInputError:
        return False


def _is_settled(value: Any) -> bool:
    """Check for what ``memory.tier.Settled`` reads: messages, a span, and a reason or none."""
    if not isinstance(value, list) or len(value) != 3:  # noqa: PLR2004 - these three
        return False
    seqs, span, reason = value
    return are_seqs(seqs) and are_seqs(span) and or_null(one_of(Promotion))(reason)


def _names_an_entity(value: Any) -> bool:
    return is_name(value) and bool(Entity.named(value).key)


def _are_refused(value: Any) -> bool:
    """Check for reasons by seq, which JSON writes as text."""
    return isinstance(value, dict) and all(
        seq.isascii() and seq.isdecimal() and one_of(FilterReason)(why)
        for seq, why in value.items()
    )


_TRAIL: Mapping[TrailEvent, Check] = {
    TrailEvent.CREATED: fields(
        {"messages": are_seqs},
        job=is_uuid,
        mention=is_uuid,
        kind=one_of(NodeKind),
        **{"from": are_seqs},
    ),
    TrailEvent.COMPRESSED: fields({"from": is_seq, "to": is_seq}),
    TrailEvent.FORGOTTEN: fields({"reason": one_of(Forgetting)}, tier=one_of(NodeTier)),
    TrailEvent.RESTORED: fields({"job": is_uuid}, of=is_seq, **{"as": is_seq}),
    TrailEvent.MERGED: fields({"into": is_seq}),
    TrailEvent.PROMOTED: fields({"reason": one_of(Promotion)}),
    TrailEvent.SETTLED: fields(),
    TrailEvent.SUPERSEDED: fields({"by": is_seq}),
    TrailEvent.USED: fields({"receipts": each(is_uuid)}, times=is_seq),
    TrailEvent.ERASED: fields(),
}
_LOG: Mapping[ReplayEvent, Check] = {
    ReplayEvent.CREATED: fields(wanted=are_seqs, refused=_are_refused),
    ReplayEvent.SCANNED: fields(),
    ReplayEvent.MENTIONED: fields({"entity": _names_an_entity}),
    ReplayEvent.RESTORED: fields({"node": is_seq, "seqs": are_seqs}),
    ReplayEvent.CONSOLIDATED: fields(
        {"at": is_instant, "settled": each(_is_settled)}, groups=is_seq
    ),
}


def _is_trail(row: Mapping[str, Any]) -> bool:
    details = row["details"]
    return _TRAIL[TrailEvent(row["event"])](details) and tells_of_passages(details)


def _is_log(row: Mapping[str, Any]) -> bool:
    """Check for an entry as a replay takes it; all but a pass draw lots by their job."""
    event, details = ReplayEvent(row["event"]), row["details"]
    seeded = event is ReplayEvent.SCANNED or row["job_id"] is not None
    return seeded and _LOG[event](details) and tells_of_passages(details)


# By table: what its rows must be beyond what each column holds.
TOLD = {"trail": _is_trail, "replay_log": _is_log}


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
    if entry.name in TOLD and not TOLD[entry.name](row):
        raise LineError(f"details are not what is told of the event {row['event']}")
    if entry.name in page_checks.TOLD and not page_checks.TOLD[entry.name](row):
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
        return value_checks.one_of(entry.closed[column.name])
    check = _of_type(column.type)
    if column.name in entry.ranges:
        least, most = entry.ranges[column.name]
        return lambda value: check(value) and least <= value <= most
    return check


def _of_type(kind: TypeEngine[Any]) -> Check:
    if isinstance(kind, ARRAY):
        return value_checks.each(_of_type(kind.item_type))
    return next(check for types, check in _BY_TYPE if isinstance(kind, types))


_BY_TYPE: tuple[tuple[Any, Check], ...] = (
    (BigInteger, value_checks.is_seq),
    (Integer, value_checks.whole(2**31 - 1)),
    (Float, value_checks.is_number),
    (Boolean, value_checks.is_truth),
    (DateTime, value_checks.is_instant),
    (Uuid, value_checks.is_uuid),
    (JSONB, value_checks.is_object),
    (LargeBinary, value_checks.is_bytes),
    (HALFVEC, value_checks.is_vector),
    (Text, value_checks.is_text),
)
_OWN: Mapping[str, Check] = {
    "message.id": value_checks.is_name,
    "message.tool_calls": value_checks.each(value_checks.is_object),
    # Below zero: how a task ended.
    "checkpoint_write.place": value_checks.whole(2**31 - 1, -(2**31)),
    "agent_setting.parameters": are_parameters,
    "erased_message.digest": value_checks.is_digest,
    "lane.compress_cursor": is_cursor,
    "receipt.body": is_receipt,
    "document.name": is_document_name,
    "job.payload": is_payload,
    **page_checks.OWN,
}
# By table and column: whether it may be null, and what it must be else.
_CHECKS: Mapping[str, Mapping[str, tuple[bool, Check]]] = {
    entry.name: {each.name: (bool(each.nullable), _check_of(entry, each)) for each in entry.columns}
    for entry in CARRIED
}
