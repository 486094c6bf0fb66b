"""Events: what webhooks and streams are told of agents, in ids and numbers."""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple


class EventType(StrEnum):
    """What happened. Events of memories have the names of those of a node's history."""

    MEMORY_CREATED = "memory.created"
    MEMORY_CORRECTED = "memory.corrected"
    MEMORY_SUPERSEDED = "memory.superseded"
    MEMORY_MERGED = "memory.merged"
    MEMORY_RESTORED = "memory.restored"
    MEMORY_FORGOTTEN = "memory.forgotten"
    MEMORY_DELETED = "memory.deleted"
    MEMORY_ERASED = "memory.erased"
    PASS_FINISHED = "pass.finished"  # noqa: S105 - no password
    JOB_DEAD = "job.dead"
    MESSAGES_ERASED = "messages.erased"
    AGENT_ERASED = "agent.erased"


class Position(NamedTuple):
    """A position among the events of all agents; those of one transaction are together."""

    tx: int
    place: int

    def __str__(self) -> str:
        """Return the id of the event at this position, which is a cursor too."""
        return f"{self.tx}.{self.place}"


class StoredEvent(NamedTuple):
    """An event; ``data`` are ids and numbers, ``at`` is aware UTC."""

    position: Position
    agent_id: str
    type: EventType
    data: Mapping[str, Any]
    at: datetime
