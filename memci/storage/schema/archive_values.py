"""Pydantic types of column values; they check the rows of an archive.

``archive/consistency.py`` checks rows together.
"""

import base64
from collections.abc import Callable
from datetime import datetime
from typing import Annotated, Any, Self, TypeAlias, TypeVar

import numpy as np
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from memci.domain.documents import check_name
from memci.domain.memory.parameters import MemoryParameters
from memci.domain.pages import page
from memci.domain.pages.parameters import PageRules
from memci.domain.pages.permission import Actor
from memci.domain.session.plan import MOST_STEPS
from memci.errors import InvalidInputError

_T = TypeVar("_T")
# JSON integers that every reader reads exactly; the next one is always valid, too.
_MOST = 2**53
_MOST_INTEGER = 2**31 - 1
_MOST_DIMENSIONS = 16_000
# Sums of half-precision numbers are not exactly one.
_UNIT = 1.01
_PAGE_RULES = PageRules()


def must(check: Callable[[Any], bool]) -> AfterValidator:
    """Return an annotation that refuses values for which ``check`` is false or raises an error."""

    def checked(value: Any) -> Any:
        try:
            fits = check(value)
        except (InvalidInputError, TypeError, AttributeError) as error:
            raise ValueError from error
        if not fits:
            raise ValueError
        return value

    return AfterValidator(checked)


def _is_vector(value: str) -> bool:
    if not value or len(value) > 4 * _MOST_DIMENSIONS:
        return False
    numbers = np.frombuffer(base64.b64decode(value, validate=True), dtype=">f2")
    # A number that is not finite makes the sum so, too.
    return bool(np.linalg.norm(numbers.astype(np.float32)) <= _UNIT)


def _are_parameters(value: dict[str, Any]) -> bool:
    pages = {name: value[name] for name in value if hasattr(_PAGE_RULES, name)}
    _PAGE_RULES.with_values(pages)
    MemoryParameters().with_values({n: value[n] for n in value if n not in pages})
    return True


# More lines could look like another page in a window (P11).
_ONE_LINE = must(lambda value: len(value.splitlines()) <= 1)
# Converted from its JSON form; other values are not converted at all.
Lax: TypeAlias = Annotated[_T, Field(strict=False)]
Seq: TypeAlias = Annotated[int, Field(ge=0, le=_MOST)]
Positive: TypeAlias = Annotated[int, Field(ge=1, le=_MOST)]
Count: TypeAlias = Annotated[int, Field(ge=0, le=_MOST_INTEGER)]
# The number of a session and a place in it (R11b).
Position: TypeAlias = Annotated[int, Field(ge=0, le=2**62)]
Frequency: TypeAlias = Annotated[int, Field(ge=1, le=_MOST_INTEGER)]
Number: TypeAlias = Annotated[float, Field(allow_inf_nan=False)]
Withheld: TypeAlias = Annotated[
    list[Count], must(lambda value: len(value) % 2 == 0 and value == sorted(value))
]
Worth: TypeAlias = Annotated[float, Field(ge=0, le=10)]
Strength: TypeAlias = Annotated[float, Field(ge=0, le=1)]
StepNumber: TypeAlias = Annotated[int, Field(ge=1, le=MOST_STEPS)]
WritePlace: TypeAlias = Annotated[int, Field(ge=-_MOST_INTEGER - 1, le=_MOST_INTEGER)]
Objects: TypeAlias = list[dict[str, Any]]
Instant: TypeAlias = Annotated[
    str, must(lambda value: datetime.fromisoformat(value).tzinfo is not None)
]
Uuid: TypeAlias = Annotated[str, Field(pattern=r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")]
# As PostgreSQL writes them.
Bytes: TypeAlias = Annotated[str, Field(pattern=r"^\\x([0-9a-f]{2})*$")]
Digest: TypeAlias = Annotated[str, Field(pattern=r"^\\x[0-9a-f]{64}$")]
# Big-endian half-precision numbers, as base64; of at most unit length.
Vector: TypeAlias = Annotated[str, must(_is_vector)]
Name: TypeAlias = Annotated[str, Field(min_length=1, max_length=256)]
DocumentName: TypeAlias = Annotated[str, must(lambda name: check_name(name) == name)]
PageIndex: TypeAlias = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,31}-(0|[1-9][0-9]{0,14})$")]
SegmentId: TypeAlias = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,31}$")]
Operation: TypeAlias = Annotated[str, Field(pattern=r"^[a-z_]{1,64}$")]
# What ``page.session_key`` returns, or nothing.
SessionKey: TypeAlias = Annotated[str, Field(pattern=r"(?s)^(-|\+.{1,256})?$")]
# The range of ``page_store.port.new_version``.
TextVersion: TypeAlias = Annotated[int, Field(gt=0, lt=10**18)]
StoredText: TypeAlias = Annotated[str, must(lambda value: value.encode() and "\0" not in value)]
PageName: TypeAlias = Annotated[str, Field(max_length=page.LONGEST_NAME), _ONE_LINE]
PageDescription: TypeAlias = Annotated[str, Field(max_length=page.LONGEST_DESCRIPTION), _ONE_LINE]
PageEntry: TypeAlias = Annotated[str, Field(max_length=page.LONGEST_ENTRY), _ONE_LINE]
# The fields of ``page.Recalls``.
Recalls: TypeAlias = Lax[tuple[Count, Seq, Seq, Seq, Seq]]
Parameters: TypeAlias = Annotated[dict[str, Any], must(_are_parameters)]


class JsonObject(BaseModel):
    """An object in a JSON column; unknown fields are ignored."""

    model_config = ConfigDict(strict=True, frozen=True)


class ClosedObject(JsonObject):
    """An object without unknown fields."""

    model_config = ConfigDict(extra="forbid")


class Part(JsonObject):
    """One passage of messages, as ``memory.passage.passages`` reads it."""

    seqs: list[Seq]
    span: Annotated[list[Seq], must(lambda span: len(span) in {0, 2})] | None = None
    quoted: list[Seq] | None = None


class Passages(JsonObject):
    """Passages of messages: in parts, or a span of messages that are named elsewhere."""

    parts: list[Part] | None = None
    span: list[Seq] | None = None
    quoted: list[Seq] | None = None

    @model_validator(mode="after")
    def _check_span(self) -> Self:
        if not self.parts and len(self.span or ()) not in {0, 2}:
            raise ValueError
        return self


class JobPayload(Passages):
    """The fields of a job that statements read with other types than JSON."""

    seqs: list[Seq] | None = None
    wanted: list[Seq] | None = None
    edition: Seq | None = None
    remember: str | None = None


class PassCursorValue(ClosedObject):
    """A place in a pass."""

    number: Seq = Field(alias="pass")
    req: Seq
    unavailable: Seq = 0
    mute: bool = False
    retry_at: Instant | None = None


class ReceiptBody(JsonObject):
    """The prefix that two contexts share: digests and lengths."""

    prefix: list[Lax[tuple[str, Seq]]] | None = None


class ModelUse(ClosedObject):
    """The usage of one language model for one task, as ``storage/usage.py`` writes it."""

    task: str
    model: str
    calls: Seq
    failures: Seq
    prompt_tokens: Seq
    completion_tokens: Seq
    cost: Number | None
    unpriced: Seq
    over_budget: Seq
    fell_back: Seq


class SegmentValue(ClosedObject):
    """A segment of a page tree (P1)."""

    id: SegmentId
    kind: Lax[page.SegmentKind]
    permission: Lax[page.Permission]
    name: PageName
    max_tokens: Count
    next_number: Annotated[int, Field(ge=1, le=10**15)]


class ChangedFields(ClosedObject):
    """The fields of a page that operations change, and that a step may restore (P17)."""

    parent: PageIndex | None = None
    place: Seq = 0
    name: PageName = ""
    description: PageDescription = ""
    expanded: bool = False
    cold: bool = False
    named: bool = False
    pinned_by: Lax[Actor] | None = None
    recalls: Recalls = (0, 0, 0, 0, 0)
    chapter: SessionKey = ""


class PageChange(ClosedObject):
    """The change of one page in a step: the fields before and after."""

    index: PageIndex
    was: ChangedFields
    became: ChangedFields

    @model_validator(mode="after")
    def _check_fields(self) -> Self:
        fields = self.was.model_fields_set
        moves_root = self.index.endswith("-0") and fields & {"parent", "place", "cold"}
        if fields != self.became.model_fields_set or moves_root:
            raise ValueError
        return self


def _has_default_segments(segments: list[SegmentValue]) -> bool:
    ids = {segment.id for segment in segments}
    return len(ids) == len(segments) and {page.SYSTEM, page.USER} <= ids


Segments: TypeAlias = Annotated[
    list[SegmentValue], Field(max_length=page.MOST_SEGMENTS), must(_has_default_segments)
]
ModelUses: TypeAlias = list[ModelUse]
PageChanges: TypeAlias = Annotated[
    list[PageChange], must(lambda changes: len({each.index for each in changes}) == len(changes))
]
