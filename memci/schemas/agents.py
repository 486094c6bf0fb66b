"""Requests and answers about agents, jobs, usage and health."""

from datetime import date, datetime
from math import inf
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_type_hints
from uuid import UUID

from pydantic import (
    AfterValidator,
    Field,
    JsonValue,
    StrictBool,
    StrictFloat,
    StrictInt,
    StringConstraints,
    create_model,
)

from memci.domain.job import JobState
from memci.domain.memory.parameters import MemoryParameters
from memci.domain.pages.parameters import PageRules
from memci.domain.parameter_definitions import Range, settings_of
from memci.schemas.base import Answer, Listing, Request, Text


class CompressRequest(Request):  # M16
    """A request for one more pass."""

    reason: Annotated[Text, StringConstraints(max_length=256)] | None = None


class CompressAnswer(Answer):
    """``round``: the number of the next pass; ``coalesced``: another request waits for it."""

    round: int
    coalesced: bool


class Lease(Answer):
    """The lease of the worker that holds the lane."""

    until: datetime
    fence: int


class PassProgress(Answer):
    """Progress of the current pass."""

    number: int
    scanned: int
    left: int


class AgentAnswer(Answer):
    """The sizes of an agent's memory, and its open work."""

    agent_id: str
    messages: int
    nodes: int
    links: int
    dangling: int
    focus: list[str]
    pages: int = Field(0, description="Stored pages, with removed ones, without roots of segments")
    documents: int = Field(0, description="Its own documents, without collections")
    items: int = Field(0, description="Items of frameworks, by namespace and key")
    checkpoints: int = Field(0, description="Checkpoints of frameworks")
    summaries: int = 0
    pins: int = Field(0, description="Pinned texts")
    plans: int = Field(0, description="Plans of sessions, with earlier ones")
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
    """An agent in a list."""

    agent_id: str
    messages: int
    queued: int
    dead: int
    paused: bool
    compress_pending: bool
    written_at: datetime | None


class AgentList(Listing):
    """Agents in the order of their ids."""

    agents: list[AgentSummary]


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


class JobList(Listing):
    """Jobs in the order of the mailbox."""

    jobs: list[JobAnswer]


class ReplayRequest(Request):
    """The place in which a dead job runs again."""

    where: Literal["place", "tail"] = Field(
        "place", description="place: before all waiting jobs; tail: after them"
    )


class LaneAnswer(Answer):
    """The state of a lane."""

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
    promoted_at: datetime | None = Field(description="When it became a long-term memory")
    superseded_by: int | None = Field(description="The memory that replaces it")
    superseded_at: datetime | None
    pinned: bool = Field(False, description="It neither fades nor is forgotten")
    created_at: datetime


class NodeList(Listing):
    """Nodes by id."""

    nodes: list[NodeAnswer]


class LinkAnswer(Answer):
    """One link; it dangles when its target is forgotten."""

    source: int
    target: int
    relation: str
    strength: float
    hint: str
    dangling: bool


class LinkList(Listing):
    """Links by source, then target."""

    links: list[LinkAnswer]


class FocusPoint(Answer):
    """An entity that the agent is talking about."""

    node_id: int
    name: str


class FocusList(Answer):
    """Focus points, the latest mention first."""

    focus: list[FocusPoint]


class TrailEvent(Answer):
    """An event in the life of a node."""

    event: str
    pass_number: int
    details: dict[str, JsonValue]
    at: datetime


class TrailList(Listing):
    """The events of a node, the oldest first."""

    events: list[TrailEvent]


class ReceiptAnswer(Answer):
    """The receipt of an operation: its effects in numbers and ids."""

    id: UUID
    kind: str
    body: dict[str, JsonValue]
    created_at: datetime


class AliveAnswer(Answer):
    """The process answers."""

    alive: bool


class ReadyAnswer(Answer):
    """The state of every part that the server needs."""

    ready: bool
    checks: dict[str, str]


class UsageCounts(Answer):
    """Sums over calls of language models."""

    calls: int = Field(description="All calls, with failed ones")
    failures: int = Field(description="Calls without a usable answer")
    prompt_tokens: int
    completion_tokens: int
    cost: float | None = Field(description="US dollars; null: unknown")
    unpriced: int = Field(description="Answered calls of unknown price, not in cost")
    over_budget: int = Field(description="Times that the offline model ran: no budget left")
    fell_back: int = Field(description="Times that the offline model ran: no usable answer")


class ModelUsage(UsageCounts):
    """The calls of one model for one task on one day."""

    day: date
    task: str
    model: str


class BudgetState(Answer):
    """The budget of an agent today; 0 = no bound."""

    day: date = Field(description="Today, in UTC")
    tokens_per_day: int
    cost_per_day: float
    tokens: int
    cost: float | None
    used_up: bool = Field(description="Offline models work until midnight UTC")


class PassUsage(Answer):
    """The calls of models in one pass."""

    number: int
    started_at: datetime
    finished_at: datetime | None
    models: list[dict[str, JsonValue]]


class UsageAnswer(Answer):
    """The calls of language models for one agent."""

    agent_id: str
    budget: BudgetState
    total: UsageCounts = Field(description="Sums over the listed days")
    days: list[ModelUsage] = Field(description="By day, task and model, the latest day first")
    passes: list[PassUsage] = Field(description="The latest passes that called a model")


_STRICT: dict[type, Any] = {bool: StrictBool, int: StrictInt, float: StrictFloat}


def _within(of: Any, limits: Range) -> Any:
    """Return the type of the numbers in a range; errors tell both ends."""

    def check(value: float) -> float:
        if value not in limits:
            raise ValueError(str(limits))
        return value

    prefix = "exclusiveM" if limits.is_open else "m"
    ends = {f"{prefix}inimum": limits.low, f"{prefix}aximum": limits.high}
    shown: Any = {name: each for name, each in ends.items() if each < inf}
    return Annotated[of, AfterValidator(check), Field(json_schema_extra=shown)]


def _fields() -> dict[str, Any]:
    """Return one optional field for each parameter of memory and pages."""
    found: dict[str, Any] = {}
    for kind in (MemoryParameters, PageRules):
        types = get_type_hints(kind)
        for name, each in settings_of(kind).items():
            of = _STRICT.get(types[name], types[name])
            if each.limits is not None:
                of = _within(of, each.limits)
            found[name] = (of | None, Field(None, description=each.description))
    return found


if TYPE_CHECKING:

    class SettingsRequest(Request):
        """All parameters that differ from the defaults; an omitted one returns to its default."""

else:
    SettingsRequest = create_model(
        "SettingsRequest",
        __base__=Request,
        __doc__="All parameters that differ from the defaults; an omitted one returns to its"
        " default.",
        **_fields(),
    )


class SettingsAnswer(Answer):
    """The parameters of an agent, and the names of those that were set for it."""

    agent_id: str
    parameters: dict[str, bool | int | float | str]
    changed: list[str] = Field(description="Parameters that were set for this agent")
    warnings: list[str] = Field(description="Warnings of pages larger than the window, with advice")
