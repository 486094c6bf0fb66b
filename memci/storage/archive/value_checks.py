"""What a single value in a line of an archive can be: each check takes whatever JSON holds.

What a page, its tree and a step can be in a line of an archive (P1, P4, P17).

What many rows must be together is in ``page_laws``.
"""

from __future__ import annotations

import base64
import binascii
import math
import re
from collections.abc import Callable, Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any, TypeAlias
from uuid import UUID

import numpy as np

from memci.domain.pages.page import (
    LONGEST_DESCRIPTION,
    LONGEST_ENTRY,
    LONGEST_NAME,
    MOST_SEGMENTS,
    SYSTEM,
    USER,
    PageKind,
    Permission,
    SegmentKind,
)
from memci.domain.pages.permission import Actor

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


_INDEX = re.compile(r"([a-z][a-z0-9_]{0,31})-(0|[1-9]\d{0,14})")
_SEGMENT = re.compile(r"[a-z][a-z0-9_]{0,31}")
_OPERATION = re.compile(r"[a-z_]{1,64}")
_MOST_COUNT = 2**31 - 1


def _matches(pattern: re.Pattern[str]) -> Check:
    return lambda value: isinstance(value, str) and pattern.fullmatch(value) is not None


def _line(longest: int) -> Check:
    """Check for one line: more of them could look like another page in a window (P11)."""
    return lambda value: (
        isinstance(value, str) and len(value) <= longest and len(value.splitlines()) <= 1
    )


is_index: Check = _matches(_INDEX)
is_segment_id: Check = _matches(_SEGMENT)
_is_name, _is_description = _line(LONGEST_NAME), _line(LONGEST_DESCRIPTION)
are_entries: Check = each(_line(LONGEST_ENTRY))
are_indexes: Check = each(is_index)
are_operations: Check = each(_matches(_OPERATION))


def is_chapter(value: Any) -> bool:
    """Check for what ``page.session_key`` returns, or nothing."""
    return isinstance(value, str) and (
        value in {"", "-"} or (value[0] == "+" and is_name(value[1:]))
    )


def _is_version(value: Any) -> bool:
    """Check for what ``page_store.port.new_version`` may draw."""
    return type(value) is int and 0 < value < 10**18


def _is_stored(value: Any) -> bool:
    """Check for a text that every page store takes."""
    try:
        return isinstance(value, str) and bool(value.encode()) and "\0" not in value
    except UnicodeEncodeError:
        return False


def _are_recalls(value: Any) -> bool:
    """Check for the counters of ``page.Recalls``."""
    return (
        isinstance(value, list)
        and len(value) == 5  # noqa: PLR2004 - these five
        and whole(_MOST_COUNT)(value[0])
        and each(is_seq)(value[1:])
    )


_SEGMENT_FIELDS: Mapping[str, Check] = {
    "id": is_segment_id,
    "kind": one_of(SegmentKind),
    "permission": one_of(Permission),
    "name": _is_name,
    "max_tokens": whole(_MOST_COUNT),
    "next_number": lambda value: whole(10**15)(value) and value > 0,
}


def are_segments(value: Any) -> bool:
    """Check for the segments of a tree; it has the two that every agent has."""
    if not isinstance(value, list) or len(value) > MOST_SEGMENTS:
        return False
    if not all(
        fields(dict(_SEGMENT_FIELDS))(each_) and each_.keys() == _SEGMENT_FIELDS.keys()
        for each_ in value
    ):
        return False
    ids = [segment["id"] for segment in value]
    return len(ids) == len(set(ids)) and {SYSTEM, USER} <= set(ids)


# What operations change of a page, and thus what a step may bring back.
_CHANGED: Mapping[str, Check] = {
    "parent": or_null(is_index),
    "place": is_seq,
    "name": _is_name,
    "description": _is_description,
    "expanded": is_truth,
    "cold": is_truth,
    "named": is_truth,
    "pinned_by": or_null(one_of(Actor)),
    "recalls": _are_recalls,
    "chapter": is_chapter,
}
_NEVER_OF_ROOTS = frozenset({"parent", "place", "cold"})


def are_changes(value: Any) -> bool:
    """Check for the edits of a step, each of another page."""
    if not isinstance(value, list) or not all(map(_is_edit, value)):
        return False
    return len({edit["index"] for edit in value}) == len(value)


def _is_edit(value: Any) -> bool:
    if not isinstance(value, dict) or value.keys() != {"index", "was", "became"}:
        return False
    index, was, became = value["index"], value["was"], value["became"]
    if not (is_index(index) and _are_fields(was) and _are_fields(became)):
        return False
    changes_root = _is_root(index) and bool(_NEVER_OF_ROOTS & was.keys())
    return bool(was.keys() == became.keys() and not changes_root)


def _are_fields(value: Any) -> bool:
    return isinstance(value, dict) and all(
        name in _CHANGED and _CHANGED[name](told) for name, told in value.items()
    )


def _is_root(index: str) -> bool:
    return index.endswith("-0")


_SPAN = ("first_seq", "last_seq", "number", "answered")


def _is_page(row: Mapping[str, Any]) -> bool:
    """Check what the columns of a page are together (P1, P6)."""
    if row["id"].rpartition("-")[0] != row["segment"]:
        return False
    folder, cold, parent = row["kind"] == PageKind.CONTENTS, row["cold"], row["parent"]
    if _is_root(row["id"]):
        return (
            folder and parent is None and not cold and row["text_version"] is None and _no_span(row)
        )
    if parent is None and not cold:
        return False
    if folder:
        return row["text_version"] is None and _no_span(row)
    if row["text_version"] is not None:
        return _no_span(row)
    # A page that the system writes anew each time has nothing of its own.
    return _is_span(row) or (row["managed"] and _no_span(row))


def _no_span(row: Mapping[str, Any]) -> bool:
    return not row["entries"] and all(row[name] is None for name in (*_SPAN, "session_id"))


def _is_span(row: Mapping[str, Any]) -> bool:
    first, last, number = row["first_seq"], row["last_seq"], row["number"]
    if any(row[name] is None for name in _SPAN) or not 0 < first <= last:
        return False
    # A system message has a page of its own, in its segment.
    if number == 0:
        return bool(first == last and row["segment"] == SYSTEM and not row["entries"])
    return bool(row["segment"] == USER)


def _is_tree(row: Mapping[str, Any]) -> bool:
    return bool(row["version"] > 0)


def _is_step(row: Mapping[str, Any]) -> bool:
    return bool(row["number"] > 0)


OWN: Mapping[str, Check] = {
    "page.id": is_index,
    "page.segment": is_segment_id,
    "page.parent": is_index,
    "page.text_version": _is_version,
    "page.name": _is_name,
    "page.chapter": is_chapter,
    "page.pinned_by": one_of(Actor),
    "page.content_tokens": whole(_MOST_COUNT),
    "page.description": _is_description,
    "page.entries": are_entries,
    "page_tree.segments": are_segments,
    "page_tree.archive": is_index,
    "page_tree.notice": are_indexes,
    "page_step.operations": are_operations,
    "page_step.changes": are_changes,
    "page_text.page_id": is_index,
    "page_text.version": _is_version,
    "page_text.text": _is_stored,
}
# By table: what its rows must be beyond what each column holds.
TOLD: Mapping[str, Callable[[Mapping[str, Any]], bool]] = {
    "page": _is_page,
    "page_tree": _is_tree,
    "page_step": _is_step,
}
