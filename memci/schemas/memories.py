"""Requests and answers about single memories that a person adds, corrects, pins or deletes."""

from typing import Annotated, Any, Literal, Self, TypeAlias
from uuid import UUID

from pydantic import (
    AfterValidator,
    AllowInfNan,
    Field,
    StrictBool,
    StrictInt,
    StringConstraints,
    model_validator,
)

from memci.schemas import base
from memci.schemas.base import Answer, ForeignId, Request, Seq
from memci.schemas.messages import AppendAnswer

MOST_EDITS = 100
NodeType: TypeAlias = Literal["episodic", "semantic", "procedural"]
MemoryText = Annotated[
    base.Text, StringConstraints(max_length=65_536), AfterValidator(base.with_words)
]
Worth = Annotated[float, Field(ge=0, le=10, description="How much it matters"), AllowInfNan(False)]
NodeId = Annotated[StrictInt, Field(ge=1, le=2**62)]


class NewMemory(Request):
    """One fact to remember as it is."""

    text: MemoryText = Field(description="One fact, in words that can be understood alone")
    type: NodeType | None = Field(None, description="Null: the models find it")
    worth: Worth | None = Field(None, description="0 to 10; null: the models find it")
    pinned: StrictBool = Field(True, description="It neither fades nor is forgotten")
    said_at: base.Instant | None = Field(None, description="Null: now")

    def stated(self) -> dict[str, Any]:
        """Return what is set beside the text, as JSON values."""
        return self.model_dump(mode="json", include={"type", "worth", "pinned"}, exclude_none=True)


class AddRequest(Request):
    """Facts to remember, without a conversation."""

    memories: Annotated[tuple[NewMemory, ...], Field(min_length=1, max_length=MOST_EDITS)]
    session_id: ForeignId | None = None
    user_id: ForeignId | None = Field(None, description="Whose memories they are; null: all users'")


class AddAnswer(AppendAnswer):
    """The stored facts: search finds them at once; the job makes memories of them."""

    message_ids: list[str] = Field(description="The messages with the facts")


class MemoryEdit(Request):
    """Changes to one memory; what is null stays as it is."""

    text: MemoryText | None = Field(None, description="What holds instead of its present text")
    type: NodeType | None = None
    worth: Worth | None = Field(None, description="0 to 10")
    pinned: StrictBool | None = Field(
        None,
        description="It neither fades nor is forgotten; null: true with a text, else unchanged",
    )

    @model_validator(mode="after")
    def _changes_something(self) -> Self:
        if self.model_dump(exclude={"node_id"}, exclude_none=True):
            return self
        raise ValueError("expected at least one of text, type, worth and pinned")

    @property
    def fields(self) -> dict[str, Any]:
        """What is set beside the text, as JSON values."""
        return self.model_dump(mode="json", include={"type", "worth", "pinned"}, exclude_none=True)


class NumberedEdit(MemoryEdit):
    """Changes to the memory ``node_id``."""

    node_id: NodeId


class EditRequest(Request):
    """Changes to several memories, all or none."""

    memories: Annotated[tuple[NumberedEdit, ...], Field(min_length=1, max_length=MOST_EDITS)]


class EditAnswer(Answer):
    """What was done; a corrected memory is removed, and its new text becomes another one."""

    edited: list[int] = Field(description="Memories that keep their ids")
    corrected: list[int] = Field(description="Memories whose new texts become other memories")
    job_ids: list[UUID] = Field(description="Of each corrected one, the job that makes the other")
    seq: Seq | None = Field(description="The message with the last new text, for `min_seq`")


class DeleteAnswer(Answer):
    """The memories that are deleted; deleting again changes nothing."""

    deleted: list[int]
    already: list[int] = Field([], description="Memories that were deleted before")
