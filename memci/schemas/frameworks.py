"""Items and checkpoints of agent frameworks."""

import base64
from datetime import datetime
from typing import Annotated, Literal, Self

from pydantic import (
    AfterValidator,
    Base64Bytes,
    BeforeValidator,
    Field,
    JsonValue,
    StrictBool,
    StrictInt,
    StringConstraints,
    model_validator,
)

from memci.domain.store_items import OPERATORS, unknown_operator
from memci.schemas.base import Answer, JsonObject, Query, Request, Text

# The most of an index row, with the agent's id.
_MOST_BYTES = 2_000
_LABELS = 32

Label = Annotated[Text, StringConstraints(min_length=1, max_length=512)]


def _fits(labels: tuple[str, ...]) -> tuple[str, ...]:
    if sum(len(each.encode()) + 4 for each in labels) > _MOST_BYTES:
        raise ValueError(f"must not be longer than {_MOST_BYTES} bytes in all")
    return labels


Namespace = Annotated[
    tuple[Label, ...],
    Field(max_length=_LABELS, description="A path, from the widest to the narrowest"),
    AfterValidator(_fits),
]
Limit = Annotated[StrictInt, Field(ge=0, le=1_000)]
Offset = Annotated[StrictInt, Field(ge=0, le=1_000_000)]


class ItemPlace(Request):
    """The place of an item."""

    namespace: Namespace
    key: Label

    @model_validator(mode="after")
    def _fits(self) -> Self:
        _fits((*self.namespace, self.key))
        return self


class ItemIn(ItemPlace):
    """An item to store; it replaces an earlier one."""

    value: JsonObject | None = Field(description="Null: remove the item")
    text: Annotated[Text, StringConstraints(max_length=262_144)] | None = Field(
        None, description="Its searchable text; null: not searchable"
    )
    ttl_minutes: Annotated[float, Field(gt=0, le=5_000_000, allow_inf_nan=False)] | None = Field(
        None, description="Its lifetime after the last write or read"
    )


class ItemsIn(Request):
    """Items to store and to remove, all or none; the last one of a place holds."""

    items: Annotated[tuple[ItemIn, ...], Field(min_length=1, max_length=1_000)]


class ItemsAnswer(Answer):
    """The numbers of stored and removed items."""

    stored: int
    removed: int


class ItemPlaces(Request):
    """Items to read."""

    items: Annotated[tuple[ItemPlace, ...], Field(min_length=1, max_length=1_000)]
    refresh: StrictBool = Field(True, description="Reading extends their lifetime")


class ItemOut(Answer):
    """One item."""

    namespace: list[str]
    key: str
    value: dict[str, JsonValue]
    created_at: datetime
    updated_at: datetime
    score: float | None = Field(None, description="Score of a query")


class ItemList(Answer):
    """Items; null for a place without one."""

    items: list[ItemOut | None]


def _known_operators(condition: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """Raise ``ValueError`` for an unknown operator."""
    if (name := unknown_operator(condition)) is not None:
        raise ValueError(f"{name} is no operator: expected {', '.join(OPERATORS)}")
    return condition


class ItemSearch(Request):
    """Items below a namespace, by their values; with a query the best first."""

    prefix: Namespace = ()
    filter: Annotated[JsonObject, AfterValidator(_known_operators)] | None = Field(
        None,
        description="Values by field: a value, an object of fields, or of `$eq`, `$ne`, `$gt`, "
        "`$gte`, `$lt` and `$lte`",
    )
    query: Query | None = None
    limit: Limit = 10
    offset: Offset = 0
    refresh: StrictBool = Field(True, description="Reading extends their lifetime")


class NamespaceMatch(Request):
    """The beginning or end of a namespace; ``*`` stands for any one label."""

    type: Literal["prefix", "suffix"]
    path: Namespace


class NamespaceSearch(Request):
    """A search for namespaces with items."""

    match: Annotated[tuple[NamespaceMatch, ...], Field(max_length=16)] = ()
    max_depth: int | None = Field(None, ge=1, le=_LABELS, strict=True)
    limit: Limit = 100
    offset: Offset = 0


class NamespaceList(Answer):
    """Namespaces, in order."""

    namespaces: list[list[str]]


def _bounded(most: int) -> AfterValidator:
    """Refuse names that are too long for an index row."""

    def check(name: str) -> str:
        if len(name.encode()) > most:
            raise ValueError(f"must not be longer than {most} bytes")
        return name

    return AfterValidator(check)


ThreadName = Annotated[Text, StringConstraints(min_length=1, max_length=512), _bounded(512)]
SpaceName = Annotated[Text, StringConstraints(max_length=1024), _bounded(1024)]
CheckpointId = Annotated[Text, StringConstraints(min_length=1, max_length=128), _bounded(128)]
ChannelName = Annotated[Text, StringConstraints(min_length=1, max_length=512), _bounded(512)]
TaskId = Annotated[Text, StringConstraints(min_length=1, max_length=128), _bounded(128)]
Kind = Annotated[Text, StringConstraints(min_length=1, max_length=64)]
TaskPath = Annotated[Text, StringConstraints(max_length=4096)]
_MANY = 10_000


class Typed(Request):
    """Bytes and their format."""

    kind: Kind
    body: Base64Bytes = Field(description="As base64")


class ChannelValue(Typed):
    """The value of a channel in a version."""

    channel: ChannelName
    version: CheckpointId


class CheckpointIn(Request):
    """A checkpoint, without values that an earlier one has in the same version."""

    namespace: SpaceName = ""
    id: CheckpointId
    parent: CheckpointId | None = None
    checkpoint: Typed
    versions: Annotated[dict[ChannelName, CheckpointId], Field(max_length=_MANY)] = Field(
        default_factory=dict, description="The version of each channel"
    )
    values: Annotated[tuple[ChannelValue, ...], Field(max_length=_MANY)] = ()
    metadata: JsonObject = Field(default_factory=dict)


class PendingWrite(Typed):
    """A write of a task after a checkpoint.

    Of one task and place the first one holds; of a place below zero the last.
    """

    place: Annotated[StrictInt, Field(ge=-1_000, le=1_000_000)]
    channel: ChannelName


class WritesIn(Request):
    """The writes of a task after a checkpoint."""

    namespace: SpaceName = ""
    checkpoint_id: CheckpointId
    task_id: TaskId
    path: TaskPath = ""
    writes: Annotated[tuple[PendingWrite, ...], Field(max_length=_MANY)]


class CheckpointPlace(Request):
    """A checkpoint by its names."""

    thread: ThreadName
    namespace: SpaceName = ""
    id: CheckpointId


class CheckpointSearch(Request):
    """A search for checkpoints, the latest first."""

    thread: ThreadName | None = None
    namespace: SpaceName | None = None
    id: CheckpointId | None = None
    before: CheckpointId | None = Field(None, description="Only those with a lower id")
    filter: JsonObject | None = Field(None, description="Metadata by field")
    after: CheckpointPlace | None = Field(None, description="The last one of the page before")
    limit: Annotated[StrictInt, Field(ge=1, le=500)] = 20


def _as_base64(body: object) -> object:
    return base64.b64encode(body).decode() if isinstance(body, bytes) else body


class TypedOut(Answer):
    """Bytes and their format."""

    kind: str
    body: Annotated[str, BeforeValidator(_as_base64)] = Field(description="As base64")


class ChannelValueOut(TypedOut):
    """The value of a channel."""

    channel: str


class PendingWriteOut(TypedOut):
    """A write of a task."""

    task_id: str
    channel: str


class CheckpointOut(Answer):
    """A checkpoint, with the values of its channels and later writes, in order."""

    thread: str
    namespace: str
    id: str
    parent: str | None
    checkpoint: TypedOut
    values: list[ChannelValueOut]
    writes: list[PendingWriteOut]
    metadata: dict[str, JsonValue]


class CheckpointList(Answer):
    """Checkpoints, the latest first."""

    checkpoints: list[CheckpointOut]
    more: bool = Field(description="There are more checkpoints")


class CheckpointStored(Answer):
    """A stored checkpoint, or one with stored writes."""

    id: str


class ThreadCopy(Request):
    """The new name of a copied thread; a thread with this name is replaced."""

    to: ThreadName


class CheckpointPrune(Request):
    """Checkpoints to remove: of some runs, or all but the latest of some threads."""

    run_ids: Annotated[tuple[Text, ...], Field(max_length=1_000)] = ()
    threads: Annotated[tuple[ThreadName, ...], Field(max_length=1_000)] = ()
    keep_latest: StrictBool = Field(True, description="Of threads: keep the latest checkpoint")

    @model_validator(mode="after")
    def _names_one(self) -> Self:
        if bool(self.run_ids) == bool(self.threads):
            raise ValueError("expected either run_ids or threads")
        return self


class ThreadAnswer(Answer):
    """The number of removed or copied checkpoints."""

    checkpoints: int
