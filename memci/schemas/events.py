"""Events, and the webhooks that they are sent to."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Self

from memci.domain.events import EventType, StoredEvent
from memci.schemas.base import Answer, Listing


class Event(Answer):
    """Something that happened to an agent; ``data`` are ids and numbers."""

    id: str
    type: EventType
    timestamp: datetime
    agent: str
    data: Mapping[str, Any]

    @classmethod
    def of(cls, stored: StoredEvent) -> Self:
        """Return a stored event."""
        return cls(
            id=str(stored.position),
            type=stored.type,
            timestamp=stored.at,
            agent=stored.agent_id,
            data=stored.data,
        )


class EventList(Listing):
    """Events of one agent, the oldest first."""

    events: list[Event]
