"""What the HTTP layer is given to work with; the runtime fills it in."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias
from uuid import UUID

from memci.config import Settings
from memci.domain.lane.job import JobSource, JobState
from memci.domain.message import NewMessage, Remember
from memci.shapes.agent import (
    AgentAnswer,
    AgentList,
    CompressAnswer,
    FocusList,
    JobAnswer,
    JobList,
    LaneAnswer,
    LinkList,
    NodeAnswer,
    NodeList,
    ReceiptAnswer,
    TrailList,
)
from memci.shapes.message import AppendAnswer, MessageList
from memci.storage.session import Database
from memci.telemetry.traces import NO_TRACES, Traces

ReadUse: TypeAlias = Literal["recall", "search", "assemble"]


class Intake(Protocol):
    """Takes in what producers send; it is durable when a call returns."""

    def append(
        self,
        agent_id: str,
        messages: Sequence[NewMessage],
        *,
        session_id: str | None,
        user_id: str | None,
        remember: Remember,
        source: JobSource,
        job_id: UUID | None,
        request_key: str | None,
        traceparent: str | None,
    ) -> AppendAnswer:
        """Store messages and, unless told otherwise, a job that makes memories of them."""
        ...

    def request_compress(self, agent_id: str, *, source: JobSource) -> CompressAnswer:
        """Ask for one more pass (M16)."""
        ...


class Reads(Protocol):
    """Asks context workers."""

    def call(self, use: ReadUse, agent_id: str, request: Mapping[str, Any]) -> dict[str, Any]:
        """Return the worker's answer as JSON values, or raise the error that it answered.

        Raises ``ReadTimeoutError`` or ``BrokerUnavailableError`` when none comes.
        """
        ...


class Listings(Protocol):
    """Lists what is stored; cursors are opaque, and null at the end."""

    def agents(self, *, pattern: str, cursor: str | None, limit: int) -> AgentList:
        """List agents whose ids match a pattern of * and ?, by id."""
        ...

    def agent(self, agent_id: str) -> AgentAnswer:
        """Return what one agent holds."""
        ...

    def messages(
        self, agent_id: str, *, session_id: str | None, cursor: str | None, limit: int
    ) -> MessageList:
        """List messages by seq."""
        ...

    def nodes(
        self,
        agent_id: str,
        *,
        kind: str | None,
        type: str | None,  # noqa: A002 - the word of the surface
        cursor: str | None,
        limit: int,
    ) -> NodeList:
        """List nodes by id."""
        ...

    def node(self, agent_id: str, node_id: int) -> NodeAnswer:
        """Return one node."""
        ...

    def trail(self, agent_id: str, node_id: int, *, cursor: str | None, limit: int) -> TrailList:
        """List what happened to a node, living or forgotten."""
        ...

    def links(
        self, agent_id: str, *, node_id: int | None, cursor: str | None, limit: int
    ) -> LinkList:
        """List links, of one node or of all."""
        ...

    def focus(self, agent_id: str) -> FocusList:
        """List the focus points."""
        ...

    def receipt(self, agent_id: str, receipt_id: UUID) -> ReceiptAnswer:
        """Return one receipt."""
        ...

    def jobs(
        self, agent_id: str, *, state: JobState | None, cursor: str | None, limit: int
    ) -> JobList:
        """List jobs in the order of the mailbox."""
        ...

    def job(self, agent_id: str, job_id: UUID) -> JobAnswer:
        """Return one job."""
        ...


@dataclass(frozen=True, slots=True)
class Commands:
    """What operators do to lanes and jobs; each raises ``NotFoundError`` or ``ConflictError``."""

    pause: Callable[[str], LaneAnswer]
    resume: Callable[[str], LaneAnswer]
    cancel: Callable[[str, UUID], JobAnswer]
    replay: Callable[[str, UUID, Literal["place", "tail"]], JobAnswer]
    discard: Callable[[str, UUID], JobAnswer]


@dataclass(frozen=True, slots=True)
class Services:
    """Everything that endpoints call."""

    settings: Settings
    database: Database
    intake: Intake
    reads: Reads
    listings: Listings
    commands: Commands
    # What /readyz asks, by name; a check that fails raises one of our errors.
    checks: Mapping[str, Callable[[], None]] = field(default_factory=dict)
    traces: Traces = NO_TRACES
