"""Events, and the webhooks that they are sent to."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Self
from uuid import UUID

from pydantic import AfterValidator, Field, HttpUrl, StrictBool, StringConstraints

from memci.domain.events import EventType, StoredEvent
from memci.schemas.base import Answer, Listing, OneOrMany, Request
from memci.schemas.keys import AgentPatterns


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


def _without_secrets(url: HttpUrl) -> HttpUrl:
    if url.username is not None or url.password is not None:
        raise ValueError("must hold no user and no password: a secret signs the events")
    return url


LONGEST_URL = 2083
Url = Annotated[HttpUrl, AfterValidator(_without_secrets), Field(max_length=LONGEST_URL)]
Types = Annotated[tuple[EventType, ...], OneOrMany, Field(max_length=len(EventType))]
EventId = Annotated[str, StringConstraints(pattern=r"^[0-9]{1,18}\.[0-9]{1,18}$")]


class WebhookRequest(Request):
    """An address for events."""

    url: Url
    agents: AgentPatterns = Field("*", description="Patterns of agent ids, with commas between")
    types: Types = Field((), description="None: all types")
    enabled: StrictBool = True


class WebhookChange(Request):
    """What to change; the rest stays. Enabling a webhook tries again at once."""

    url: Url | None = None
    agents: AgentPatterns | None = None
    types: Types | None = None
    enabled: StrictBool | None = None


class EventReplay(Request):
    """Where to begin again."""

    after: EventId = Field("0.0", description="The id of an event; none: the oldest that is kept")


class Delivery(Answer):
    """An attempt to deliver an event."""

    event_id: str
    type: str
    attempt: int
    status: int | None = Field(description="Of the answer; null: there was none")
    error: str | None = Field(description="Null: delivered")
    elapsed_ms: int
    at: datetime


class WebhookAnswer(Answer):
    """A webhook."""

    id: UUID
    url: str
    agents: str
    types: list[EventType]
    enabled: bool
    disabled_reason: str | None
    position: str = Field(description="The last event that was delivered or passed over")
    attempts: int = Field(description="Failed attempts of the next event")
    due_at: datetime = Field(description="Not before then is something sent")
    deliveries: list[Delivery] = Field(description="The last 20 attempts, the latest first")
    created_at: datetime


class WebhookWithSecret(WebhookAnswer):
    """A webhook with its secret, which is shown once."""

    secret: str


class WebhookList(Answer):
    """All webhooks that the key may manage, the oldest first."""

    webhooks: list[WebhookAnswer]
