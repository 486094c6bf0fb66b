"""Agents, their jobs, and their networks as answers."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field, JsonValue, StringConstraints

from memci.domain.lane.job import JobState
from memci.shapes.base import Answer, Request, Text


class CompressRequest(Request):  # M16
    """A wish for one more pass."""

    reason: Annotated[Text, StringConstraints(max_length=256)] | None = None


class CompressAnswer(Answer):
    """Which request of this agent it is, and whether one was already waiting."""

    round: int
    coalesced: bool


class Lease(Answer):
    """A worker is at it."""

    until: datetime
    fence: int


class PassProgress(Answer):
    """Where the pass under way stands."""

    number: int
    scanned: int
    left: int


class AgentAnswer(Answer):
    """What one agent holds, and what is still to do for it."""

    agent_id: str
    messages: int
    nodes: int
    links: int
    dangling: int
    focus: list[str]
    pages: int = Field(
        0,
        description="Stored pages, removed ones too, without the roots of segments; what was said "
        "since a page was last changed is on none yet",
    )
    documents: int = Field(0, description="Files to be found in, collections apart")
    items: int = Field(0, description="What programs keep by namespace and key")
    checkpoints: int = Field(0, description="Of threads of frameworks")
    summaries: int = Field(0, description="Sessions that have one")
    pins: int = Field(0, description="Texts that are pinned now")
    plans: int = Field(0, description="Of sessions, earlier ones too")
    queued: int
    dead: int
    seq: int
    pending: int
    lease: Lease | None
    pass_progress: PassProgress | None
    passes: int
    paused: bool
    halted_by: UUID | None
    idle: bool = Field(description="Nothing queued, running, backing off or left to compress")


class AgentSummary(Answer):
    """One line of the list of agents."""

    agent_id: str
    messages: int
    queued: int
    dead: int
    paused: bool
    compress_pending: bool
    written_at: datetime | None


class AgentList(Answer):
    """Agents in the order of their ids."""

    agents: list[AgentSummary]
    next_cursor: str | None


class JobAnswer(Answer):
    """One job of the mailbox."""

    id: UUID
    agent_id: str
    kind: str
    source: str
    state: JobState
    first_seq: int | None
    last_seq: int | None
    attempts: int
    started: int
    not_before: datetime | None
    error: str | None
    result: dict[str, JsonValue] | None
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None


class JobList(Answer):
    """Jobs in the order of the mailbox."""

    jobs: list[JobAnswer]
    next_cursor: str | None


class ReplayRequest(Request):
    """How a dead job is run again."""

    where: Literal["place", "tail"] = Field(
        "place", description="In its own place, before all that waits; or anew, behind it"
    )


class LaneAnswer(Answer):
    """State of a lane after a command."""

    agent_id: str
    paused: bool
    halted_by: UUID | None


class NodeAnswer(Answer):
    """One node of the network."""

    id: int
    kind: Literal["memory", "entity"]
    type: Literal["episodic", "semantic", "procedural"]
    content: str
    phrase: str
    keywords: list[str]
    original_length: int
    length: int
    importance: float
    worth: float
    scan_count: int
    last_pass: int
    focus: bool
    links: int
    message_ids: list[str]
    session_id: str | None
    user_id: str | None
    said_at: datetime | None
    tier: Literal["short", "long"]
    expires_at: datetime | None
    promoted_at: datetime | None = Field(
        description="When something spoke for it at the end of its short term"
    )
    superseded_by: int | None = Field(description="The memory that says otherwise now")
    superseded_at: datetime | None
    created_at: datetime


class NodeList(Answer):
    """Nodes by id."""

    nodes: list[NodeAnswer]
    next_cursor: str | None


class LinkAnswer(Answer):
    """One link; it dangles when its target is forgotten."""

    source: int
    target: int
    relation: str
    strength: float
    hint: str
    dangling: bool


class LinkList(Answer):
    """Links by source, then target."""

    links: list[LinkAnswer]
    next_cursor: str | None


class FocusPoint(Answer):
    """An entity that the agent is talking about."""

    node_id: int
    name: str


class FocusList(Answer):
    """Focus points, the latest mention first."""

    focus: list[FocusPoint]


class TrailEvent(Answer):
    """Something that happened to a node."""

    event: str
    pass_number: int
    details: dict[str, JsonValue]
    at: datetime


class TrailList(Answer):
    """What happened to a node, the oldest first."""

    events: list[TrailEvent]
    next_cursor: str | None


class ReceiptAnswer(Answer):
    """What an operation did, in numbers and ids."""

    id: UUID
    kind: str
    body: dict[str, JsonValue]
    created_at: datetime
