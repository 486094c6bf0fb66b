"""Checkpoints: the states of a framework's threads, as bytes that memci never reads."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import (
    AfterValidator,
    Base64Bytes,
    Field,
    JsonValue,
    StrictBool,
    StrictInt,
    StringConstraints,
    model_validator,
)

from memci.shapes.base import Answer, Request, Text
from memci.shapes.stored_json import JsonObject


def _bounded(most: int) -> AfterValidator:
    """Refuse names that no index row takes."""

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
    """Bytes, and how they are to be read."""

    kind: Kind
    body: Base64Bytes = Field(description="As base64")


class ChannelValue(Typed):
    """What a channel holds since some version."""

    channel: ChannelName
    version: CheckpointId


class CheckpointIn(Request):
    """A checkpoint; values that an earlier one brought in the same version are not sent again."""

    namespace: SpaceName = ""
    id: CheckpointId
    parent: CheckpointId | None = None
    checkpoint: Typed
    versions: Annotated[dict[ChannelName, CheckpointId], Field(max_length=_MANY)] = Field(
        default_factory=dict, description="Of each channel the version that it has here"
    )
    values: Annotated[tuple[ChannelValue, ...], Field(max_length=_MANY)] = ()
    metadata: JsonObject = Field(default_factory=dict)


class PendingWrite(Typed):
    """What a task has written after a checkpoint.

    Of one task and place the first one holds; below zero the last.
    """

    place: Annotated[StrictInt, Field(ge=-1_000, le=1_000_000)]
    channel: ChannelName


class WritesIn(Request):
    """What a task has written after a checkpoint, before the next one."""

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
    """Which checkpoints: all that are so, the latest first."""

    thread: ThreadName | None = None
    namespace: SpaceName | None = None
    id: CheckpointId | None = None
    before: CheckpointId | None = Field(None, description="Only those with a lower id")
    filter: JsonObject | None = Field(None, description="Metadata by field")
    after: CheckpointPlace | None = Field(None, description="The last one of the page before")
    limit: Annotated[StrictInt, Field(ge=1, le=500)] = 20


class TypedOut(Answer):
    """Bytes, and how they are to be read."""

    kind: str
    body: str = Field(description="As base64")


class ChannelValueOut(TypedOut):
    """What a channel holds."""

    channel: str


class PendingWriteOut(TypedOut):
    """What a task has written."""

    task_id: str
    channel: str


class CheckpointOut(Answer):
    """A checkpoint, with the values of its channels and the writes after it, in order."""

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
    more: bool = Field(description="Whether others come after the last one")


class CheckpointKept(Answer):
    """A checkpoint, or writes after one, are stored."""

    id: str


class ThreadCopy(Request):
    """Under which name a thread is to be once more; what is there is replaced."""

    to: ThreadName


class CheckpointPrune(Request):
    """Checkpoints to take away: those of some runs, or all but the latest of some threads."""

    run_ids: Annotated[tuple[Text, ...], Field(max_length=1_000)] = ()
    threads: Annotated[tuple[ThreadName, ...], Field(max_length=1_000)] = ()
    keep_latest: StrictBool = Field(True, description="Of threads: keep the latest checkpoint")

    @model_validator(mode="after")
    def _names_one(self) -> Self:
        if bool(self.run_ids) == bool(self.threads):
            raise ValueError("expected either run_ids or threads")
        return self


class ThreadAnswer(Answer):
    """How many checkpoints went, or came."""

    checkpoints: int
