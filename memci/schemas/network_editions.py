"""Requests and answers about rebuilt networks, restored memories and the focus."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from pydantic import Field, StringConstraints

from memci.domain.job import JobState
from memci.domain.memory.network_edition import EditionState
from memci.schemas.base import Answer, Request, Seq, Text

_PROBES = 20
_SHOWN = 100

Name = Annotated[Text, StringConstraints(min_length=1, max_length=64)]
Keyword = Annotated[Text, StringConstraints(max_length=256)]
Keywords = Annotated[tuple[Keyword, ...], Field(max_length=32)]


class RebuildRequest(Request):
    """The range of a rebuild."""

    up_to_seq: Annotated[Seq, Field(ge=1)] | None = Field(
        None,
        description="Use only messages up to this seq; default: all messages",
    )


class StepJob(Answer):
    """The job that continues a rebuild."""

    id: UUID
    state: JobState
    error: str | None


class EditionAnswer(Answer):
    """A rebuilt network and its progress.

    `replayed` of `events` in the history of the network are done. When it is `ready`, it can
    replace the current one; later events are replayed before that.
    """

    agent_id: str
    edition: int
    state: EditionState
    up_to_seq: int | None
    replayed: int | None
    events: int | None
    job: StepJob | None
    created_at: datetime
    finished_at: datetime | None


class RestoreAnswer(Answer):
    """The job that restores a memory, and the new node once it exists."""

    job_id: UUID
    node_id: int
    restored_as: int | None


class FocusRequest(Request):
    """A thing, a person or a place that the agent is talking about."""

    entity: Name


class ComparisonRequest(Request):
    """Options of a comparison of the rebuilt network with the current one."""

    probes: Annotated[tuple[Keywords, ...], Field(max_length=_PROBES)] = Field(
        (), description="Keywords of recalls, which run on both networks"
    )
    limit: int = Field(20, ge=0, le=_SHOWN, description="Memories in each list, at most")


class NetworkNumbers(Answer):
    """One of the networks. `characters` of `original_characters` are left; `importance` adds up."""

    memories: int
    entities: int
    links: int
    dangling: int
    characters: int
    original_characters: int
    importance: float
    focus: list[str]


class MemoryPreview(Answer):
    """A memory of one of the networks, with the beginning of its text."""

    node_id: int
    message_seqs: list[int]
    length: int
    original_length: int
    importance: float
    text: str


class ChangedMemory(Answer):
    """A memory of both networks, with different texts."""

    current: MemoryPreview
    rebuilt: MemoryPreview


class ProbeComparison(Answer):
    """The memories of a recall: a number in both networks, texts in one of them."""

    keywords: list[str]
    both: int
    only_current: list[str]
    only_rebuilt: list[str]


class ComparisonAnswer(Answer):
    """The rebuilt network beside the current one.

    Memories are the same when they were made of the same text of the same messages; entities,
    when they have the same name; links, when their ends are the same. The lists hold the most
    important ones; the numbers count all.
    """

    edition: EditionAnswer
    current: NetworkNumbers
    rebuilt: NetworkNumbers
    same_memories: int
    same_texts: int
    only_current: int
    only_rebuilt: int
    same_links: int
    links_only_current: int
    links_only_rebuilt: int
    largest_strength_difference: float
    largest_importance_difference: float
    changed: list[ChangedMemory]
    shown_only_current: list[MemoryPreview]
    shown_only_rebuilt: list[MemoryPreview]
    probes: list[ProbeComparison]
