"""What the objects in a line of an archive can be: what is read of them, and no more."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memci.domain.documents.document import check_name
from memci.domain.memory.parameters import MemoryParameters
from memci.domain.pages.rules import PageRules
from memci.errors import InvalidInputError
from memci.storage.archive.checks import (
    Check,
    are_seqs,
    each,
    fields,
    is_instant,
    is_object,
    is_seq,
    is_text,
    is_truth,
    or_null,
)

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
