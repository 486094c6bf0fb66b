"""Requests and answers about agents, jobs, usage and health."""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field, JsonValue, StringConstraints

from memci.domain.job import JobState
from memci.schemas.base import Answer, Request, Text


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


class AliveAnswer(Answer):
    """The process answers."""

    alive: bool


class ReadyAnswer(Answer):
    """Every part that is needed answers."""

    ready: bool
    checks: dict[str, str]


class UsageCounts(Answer):
    """What calls of language models took together."""

    calls: int = Field(description="Requests that were made, failed ones included")
    failures: int = Field(description="Calls without a usable answer")
    prompt_tokens: int
    completion_tokens: int
    cost: float | None = Field(description="US dollars; null: no price is known")
    unpriced: int = Field(description="Answered calls whose price is not known, not in cost")
    over_budget: int = Field(description="Times the offline model took over for the budget's sake")
    fell_back: int = Field(description="Times it took over because no answer could be used")


class ModelUsage(UsageCounts):
    """What one model took for one task on one day."""

    day: date
    task: str
    model: str


class BudgetState(Answer):
    """What an agent may take today, and has taken; 0 = no bound."""

    day: date = Field(description="Today, in UTC")
    tokens_per_day: int
    cost_per_day: float
    tokens: int
    cost: float | None
    used_up: bool = Field(description="The offline models do the work until midnight UTC")


class PassUsage(Answer):
    """What models took for one pass."""

    number: int
    started_at: datetime
    finished_at: datetime | None
    models: list[dict[str, JsonValue]]


class UsageAnswer(Answer):
    """What language models took for one agent."""

    agent_id: str
    budget: BudgetState
    total: UsageCounts = Field(description="Of the days that are listed")
    days: list[ModelUsage] = Field(description="By day, task and model, the latest day first")
    passes: list[PassUsage] = Field(description="The latest passes that asked a model")
