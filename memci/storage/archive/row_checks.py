"""Checks of single rows in an archive, before the database sees them.

The type of a column derives from its SQL type and ``info`` in ``storage.schema``.
"""

import json
from collections.abc import Callable, Mapping
from enum import StrEnum
from functools import cache
from typing import Annotated, Any

import sqlalchemy as sa
from pgvector.sqlalchemy import HALFVEC
from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.types import TypeEngine

from memci.domain.memory.compression_scan import Forgetting
from memci.domain.memory.message_filter import FilterReason
from memci.domain.memory.network_edition import ReplayEvent
from memci.domain.memory.node import NodeEvent, NodeKind, NodeTier, NodeType, Promotion
from memci.domain.pages.page import SYSTEM, USER, PageKind
from memci.domain.strict_json import NotStrictError, decode
from memci.errors import InvalidInputError
from memci.language.names import Entity
from memci.storage.archive.export import exported_columns
from memci.storage.schema import archive_values
from memci.storage.schema.archive_values import Instant, Lax, Name, Passages, Seq, Uuid

_BY_TYPE: tuple[tuple[Any, Any], ...] = (
    (sa.BigInteger, Seq),
    (sa.Integer, archive_values.Count),
    (sa.Float, archive_values.Number),
    (sa.Boolean, bool),
    (sa.DateTime, Instant),
    (sa.Uuid, Uuid),
    (JSONB, dict[str, Any]),
    (sa.LargeBinary, archive_values.Bytes),
    (HALFVEC, archive_values.Vector),
    (sa.Text, str),
)


_LAX: Any = Lax


class LineError(InvalidInputError):
    """A line of an archive is not a row of its table; the caller completes the message."""


def checked_row(table: sa.Table, line: bytes) -> dict[str, Any]:
    """Return the row in a line, or raise ``LineError``, which quotes nothing of it."""
    try:
        row = decode(line)
    except NotStrictError as error:
        raise LineError(str(error)) from None
    if _HALF in line.lower() and not _is_text(row):
        raise LineError("a text holds half a character, such as \\ud800")
    columns = [column.name for column in exported_columns(table)]
    if not isinstance(row, dict) or row.keys() != set(columns):
        raise LineError(f"expected an object of exactly {', '.join(columns)}")
    try:
        _row_model(table).model_validate(row)
    except ValidationError as error:
        place = error.errors(include_input=False, include_context=False)[0]["loc"][0]
        raise LineError(f"{place} is not what the column holds") from None
    if table.name in _ROW_CHECKS and not _ROW_CHECKS[table.name](row):
        raise LineError("the columns do not belong together")
    return row


# The beginning of an escaped surrogate; PostgreSQL takes them in pairs only.
_HALF = b"\\ud"


def _is_text(value: Any) -> bool:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


@cache
def _row_model(table: sa.Table) -> type[BaseModel]:
    fields: dict[str, Any] = {
        column.name: (_column_type(column) | None if column.nullable else _column_type(column), ...)
        for column in exported_columns(table)
    }
    return create_model(table.name, __config__=ConfigDict(strict=True), **fields)


def _column_type(column: sa.Column[Any]) -> Any:
    """Return the pydantic type of a column; numbers in a key start at 1."""
    declared = column.info.get("holds")
    if isinstance(declared, type) and issubclass(declared, StrEnum):
        return _LAX[declared]
    if declared is None and column.primary_key and isinstance(column.type, sa.BigInteger):
        return archive_values.Positive
    return declared or _type_of(column.type)


def _type_of(kind: TypeEngine[Any]) -> Any:
    if isinstance(kind, ARRAY):
        return list[_type_of(kind.item_type)]  # type: ignore[misc]  # a type of pydantic's
    return next(python_type for types, python_type in _BY_TYPE if isinstance(kind, types))


def _details(needed: Mapping[str, Any] | None = None, /, **optional: Any) -> type[BaseModel]:
    """Return the type of an event's details, with required and optional fields."""
    fields: dict[str, Any] = {name: (kind, ...) for name, kind in (needed or {}).items()}
    fields |= {name: (kind, None) for name, kind in optional.items()}
    return create_model("Details", __base__=Passages, **fields)


_Settled = Lax[tuple[list[Seq], list[Seq], Lax[Promotion] | None]]
_EntityName = Annotated[Name, archive_values.must(lambda name: bool(Entity.named(name).key))]
# JSON writes the seqs as text.
_Refused = dict[Annotated[str, Field(pattern="^[0-9]+$")], Lax[FilterReason]]
_SET: dict[str, Any] = {
    "pinned": (bool | None, None),
    "type": (Lax[NodeType] | None, None),
    "worth": (archive_values.Worth | None, None),
}
_NODE_EVENTS: Mapping[NodeEvent, type[BaseModel]] = {
    NodeEvent.CREATED: _details(
        {"messages": list[Seq]},
        job=Uuid,
        mention=Uuid,
        kind=Lax[NodeKind],
        **{"from": list[Seq]},
    ),
    NodeEvent.COMPRESSED: _details({"from": Seq, "to": Seq}),
    NodeEvent.FORGOTTEN: _details({"reason": Lax[Forgetting]}, tier=Lax[NodeTier]),
    NodeEvent.RESTORED: _details({"job": Uuid}, of=Seq, **{"as": Seq}),
    NodeEvent.MERGED: _details({"into": Seq}),
    NodeEvent.PROMOTED: _details({"reason": Lax[Promotion]}),
    NodeEvent.SETTLED: _details(),
    NodeEvent.SUPERSEDED: _details({"by": Seq}),
    NodeEvent.USED: _details({"receipts": list[Uuid]}, times=Seq),
    NodeEvent.EDITED: _details(**{name: kind for name, (kind, _) in _SET.items()}),
    NodeEvent.CORRECTED: _details({"seq": Seq}),
    NodeEvent.DELETED: _details(),
    NodeEvent.ERASED: _details(),
}
_REPLAY_EVENTS: Mapping[ReplayEvent, type[BaseModel]] = {
    ReplayEvent.CREATED: _details(wanted=list[Seq], refused=_Refused),
    ReplayEvent.SCANNED: _details(),
    ReplayEvent.MENTIONED: _details({"entity": _EntityName}),
    ReplayEvent.RESTORED: _details({"node": Seq, "seqs": list[Seq]}),
    ReplayEvent.CONSOLIDATED: _details({"at": Instant, "settled": list[_Settled], "groups": Seq}),
    ReplayEvent.EDITED: _details({"set": create_model("Set", **_SET)}),
    ReplayEvent.CORRECTED: _details({"seq": Seq}),
    ReplayEvent.DELETED: _details(),
}


def _fits(model: type[BaseModel], details: Any) -> bool:
    try:
        model.model_validate(details)
    except ValidationError:
        return False
    return True


def _is_replay_entry(row: Mapping[str, Any]) -> bool:
    """Check an entry as a replay reads it; all events but passes seed their draws by job."""
    event = ReplayEvent(row["event"])
    is_seeded = event is ReplayEvent.SCANNED or row["job_id"] is not None
    return is_seeded and _fits(_REPLAY_EVENTS[event], row["details"])


_SPAN = ("first_seq", "last_seq", "number", "answered")


def _is_page(row: Mapping[str, Any]) -> bool:
    """Check the columns of a page against each other (P1, P6)."""
    segment, _, number = row["id"].rpartition("-")
    is_root, is_folder = number == "0", row["kind"] == PageKind.CONTENTS
    is_note = row["text_version"] is not None
    shows_messages = bool(row["entries"]) or any(
        row[name] is not None for name in (*_SPAN, "session_id")
    )
    if segment != row["segment"]:
        return False
    if is_root and not (is_folder and row["parent"] is None and not row["cold"]):
        return False
    if row["parent"] is None and not (row["cold"] or is_root):
        return False
    if is_folder or is_note:
        return not shows_messages and not (is_folder and is_note)
    # A page that the system rewrites each time shows no messages of its own.
    return _is_span(row) or (row["managed"] and not shows_messages)


def _is_span(row: Mapping[str, Any]) -> bool:
    first, last, number = row["first_seq"], row["last_seq"], row["number"]
    if any(row[name] is None for name in _SPAN) or not 0 < first <= last:
        return False
    # A system message has a page of its own, in its segment.
    if number == 0:
        return bool(first == last and row["segment"] == SYSTEM and not row["entries"])
    return bool(row["segment"] == USER)


# Checks of rows by table, beyond those of the columns.
_ROW_CHECKS: Mapping[str, Callable[[Mapping[str, Any]], bool]] = {
    "trail": lambda row: _fits(_NODE_EVENTS[NodeEvent(row["event"])], row["details"]),
    "replay_log": _is_replay_entry,
    "page": _is_page,
}
