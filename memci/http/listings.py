"""What lists and single things are read with."""

from __future__ import annotations

from typing import Protocol
from uuid import UUID

from memci.domain.lane.job import JobState
from memci.shapes.agent import (
    AgentAnswer,
    AgentList,
    FocusList,
    JobAnswer,
    JobList,
    LinkList,
    NodeAnswer,
    NodeList,
    ReceiptAnswer,
    TrailList,
)
from memci.shapes.message import MessageList


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
